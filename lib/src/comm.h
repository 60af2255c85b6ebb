/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* A communicator from inside. */
#ifndef HC_COMM_H
#define HC_COMM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hcomm/hcomm.h>

#include "algo.h"
#include "msg.h"
#include "transport.h"

struct pollfd;

/* How long the end of a broken communicator waits for the others' end. */
#define HC_DRAIN_LAST_MS	500

#define HC_TIMEOUT_DEFAULT	30000		/* ms */
#define HC_PIECE_DEFAULT	(256u * 1024)	/* bytes */
#define HC_PIECE_ALIGN		64u
#define HC_RANKS_MAX		16384u

/* Pieces of one peer that may be received and not yet used; bytes of all. */
#define HC_WINDOW		4
#define HC_WINDOWS_BYTES	(8u << 20)

/* No number of a collective. */
#define HC_NEVER		UINT64_MAX

/* Limit of a transfer that must wait, even when it has 0 bytes. */
#define HC_HOLD			(-1)

/*
 * A transfer to or from one peer, cut in pieces; the queue of a peer is worked
 * off in order. A transfer of 0 bytes is one message, too.
 */
struct hc_xfer {
	struct hc_xfer *next;
	struct hc_peer *peer;
	uint8_t *buf;
	size_t len;
	size_t ring;		/* recv: bytes after which buf begins anew, or 0 */
	ptrdiff_t limit;	/* may be moved so far; raised by the collective */
	size_t done;		/* were moved */
	uint16_t step;
	bool finished;
};

struct hc_peer {
	struct hc_xfer *tx, **tx_tail;
	struct hc_xfer *rx, **rx_tail;
	int fd;
	uint32_t rank;
	uint64_t peeked_for;	/* collective in which its next message was looked at */
	bool active;		/* has a transfer */
	bool tx_blocked;	/* the socket took no more */
	bool rx_blocked;	/* the socket had nothing */
	bool gone;		/* end of file, or an error, not waited for yet */
	bool ended;		/* end of file after an error of the communicator */
};

struct hc_comm {
	uint32_t rank;
	uint32_t n;
	uint32_t flags;
	uint32_t piece;
	uint32_t timeout_ms;
	uint64_t job;
	struct hc_algos algos;
	struct hc_addr *addrs;

	struct hc_call call;	/* the present or last collective */
	struct hc_peer *peers;
	struct hc_peer **active;
	uint32_t nactive;
	struct hc_xfer *pool;
	uint32_t pool_len, pool_used;
	struct pollfd *pfds;
	struct hc_peer **pfd_peer;
	uint8_t *tmp;
	size_t tmp_len;

	const struct hc_xfer *want;	/* what hc_wait() waits for */
	int64_t deadline;	/* of the present stall, ms; 0: not begun */
	uint32_t idle;		/* wake-ups in a row that moved nothing */
	uint32_t busy_passes;	/* since poll() was last asked */

	/* The first error, positive, and its text; set once, text first. */
	atomic_int err;
	char text[HC_TEXT_LEN];
};

/*
 * Handles. hc_comm_enter() gives the communicator to this thread until
 * hc_comm_leave(): -EBADF, -EBUSY, or the error that broke it.
 */
int hc_comm_enter(struct hcomm_comm *handle, struct hc_comm **comm);
void hc_comm_leave(struct hcomm_comm *handle);

/* Scratch memory of at least @len bytes, kept until the end; NULL: no memory. */
void *hc_comm_tmp(struct hc_comm *c, size_t len);

/* Connect all ranks with all, within c->timeout_ms. */
int hc_boot(struct hc_comm *c);

/* Make and end; *@handle is valid only on success. */
int hc_comm_make(const struct hcomm_comm_attr *attr, struct hcomm_comm **handle);

/* Text for hcomm_comm_error_text(NULL); returns -@err. */
int hc_create_error(int err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Milliseconds of the monotonic clock. */
int64_t hc_now_ms(void);

#endif /* HC_COMM_H */
