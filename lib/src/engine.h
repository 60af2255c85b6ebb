/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Moves messages. A collective posts transfers, then calls hc_advance() again
 * and again, uses what has arrived, and raises limits, until all is done. Both
 * directions of all peers are always served, so that full buffers never stop
 * two ranks that send to each other.
 */
#ifndef HC_ENGINE_H
#define HC_ENGINE_H

#include "comm.h"

/* Start a collective: the next number, no transfers. */
void hc_begin(struct hc_comm *c, enum hc_kind kind, uint64_t count,
	      unsigned int type, unsigned int op, uint32_t root,
	      unsigned int algo);

struct hc_xfer *hc_post_send(struct hc_comm *c, uint32_t to, const void *buf,
			     size_t len, ptrdiff_t limit, unsigned int step);
struct hc_xfer *hc_post_recv(struct hc_comm *c, uint32_t from, void *buf,
			     size_t len, size_t ring, ptrdiff_t limit,
			     unsigned int step);

/* Move at least one message; waits for it. 0 or a negative errno value. */
int hc_advance(struct hc_comm *c);

/* Until the first @end bytes of @x have moved; of an empty one, until it has. */
int hc_wait(struct hc_comm *c, const struct hc_xfer *x, size_t end);

/* Until no transfer is left. */
int hc_finish(struct hc_comm *c);

/*
 * Exchange of nothing in which all ranks hear, directly or not, from all: when
 * it returns 0 all have called the same.
 */
int hc_check_all(struct hc_comm *c);

/*
 * Break the communicator with error @err (positive) and tell all ranks. The
 * first error stays. Returns it, negative.
 */
int hc_fail(struct hc_comm *c, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Tell one more peer the error that hc_fail() has told the others. */
void hc_tell(struct hc_comm *c, struct hc_peer *p);

/* The next message of a peer, left in place; see the function. */
int hc_peek(struct hc_comm *c, struct hc_peer *p);

/* After an error, before the sockets are closed. */
void hc_drain(struct hc_comm *c, int ms);

#endif /* HC_ENGINE_H */
