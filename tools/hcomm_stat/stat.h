/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STAT_H
#define STAT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct counter - a counter of the node or of a link
 * @object: whose it is, as in the history
 * @name: its name
 * @value: now
 * @before: the last time
 * @known: there was a last time
 * @seen: it is there now
 */
struct counter {
	char *object;
	char *name;
	uint64_t value;
	uint64_t before;
	bool known;
	bool seen;
};

/* counters.c: all counters, by object and name */
struct counter *counter_get(const char *object, const char *name);
void counters_next(void);	/* what is now becomes what was before */
void counters_forget(void);	/* what was before does not count */
uint64_t counter_delta(const struct counter *c);

/* history.c: a file of the user, locked while it is open */
int history_open(void);		/* -1 and a message */
void history_read(void);
int history_write(void);
void history_close(void);

typedef void (*counter_fn)(struct counter *c, void *arg);
void counters_all(counter_fn fn, void *arg);

#endif /* STAT_H */
