/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of libhcomm share. A test is a plain program: exit status 0
 * passed, 1 failed, 77 skipped. Ranks are child processes; with
 * HCOMM_TEST_THREADS=1 they are threads; started by hcomm_run the process is
 * the one rank that it is told to be, and tests with more ranks than there are
 * are left out.
 */
#ifndef T_H
#define T_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hcomm/hcomm.h>

#define T_PASS	0
#define T_FAIL	1
#define T_SKIP	77

#define t_say(...)	t_report(__FILE__, __LINE__, __VA_ARGS__)
void t_report(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Leave the function with 1 when a condition does not hold. */
#define T_CHECK(cond, ...) do {						\
	if (!(cond)) {							\
		t_say("%s", #cond);					\
		t_say(__VA_ARGS__);					\
		return 1;						\
	}								\
} while (0)

/* Return of a library call must be @want. */
#define T_RET(want, call) do {						\
	int t_ret_ = (call);						\
									\
	if (t_ret_ != (want)) {						\
		t_say("%s: %d (%s), not %d", #call, t_ret_,		\
		      hcomm_strerror(t_ret_), (want));			\
		return 1;						\
	}								\
} while (0)

typedef int (*t_rank_fn)(uint32_t rank, uint32_t n, void *arg);

/* Prepare; 77 when the test cannot run here. */
int t_init(void);

/* How many ranks there can be; @most unless hcomm_run started fewer. */
uint32_t t_ranks_max(uint32_t most);

/* Whether this program runs over AF_HCOMM. */
extern const bool t_real;

/* True in a process that is one of the ranks of hcomm_run. */
bool t_is_rank(void);
bool t_is_threads(void);

/* Run @fn on ranks 0..@n-1; 0 when all returned 0. At most @seconds. */
int t_ranks(uint32_t n, t_rank_fn fn, void *arg, unsigned int seconds);

/* Attributes of a communicator of @n ranks; addresses are static. */
struct hcomm_comm_attr t_attr(uint32_t rank, uint32_t n);

/* Make a communicator or complain. */
int t_comm(const struct hcomm_comm_attr *attr, struct hcomm_comm **comm);

int64_t t_now_ms(void);
uint64_t t_random(uint64_t *state);
unsigned int t_open_fds(void);

/* Memory whose last byte is followed by a page that cannot be touched. */
void *t_guarded(size_t len, void **map, size_t *map_len);

#endif /* T_H */
