/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_RXLANE_H
#define HCOMM_RXLANE_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>

#include "session.h"

struct hcomm_rxlane;
struct hcomm_rxmsg;
struct hcomm_payload;

/**
 * struct hcomm_rxlane_ops - what the endpoint of a lane hears
 * @deliver: a message arrived whole and in order; the endpoint owns it, and a
 *	reference of the lane with it. The session's lock is held.
 * @full: optional: whether the endpoint can take no more now. The session's
 *	lock is held.
 * @reset: the sender gave the lane up, or restarted. The session's lock is
 *	held. The endpoint drops its reference of the lane.
 */
struct hcomm_rxlane_ops {
	void (*deliver)(struct hcomm_rxlane *lane, struct hcomm_rxmsg *m);
	bool (*full)(struct hcomm_rxlane *lane);
	void (*reset)(struct hcomm_rxlane *lane, int err);
};

/**
 * struct hcomm_rxlane - an ordered stream of messages from one remote port
 * @ref: references: the session's while it is open, the endpoint's, and one
 *	for each message that was not read
 * @rcu: to free it
 * @session: its session, with a reference
 * @ops: of the endpoint, NULL when it has gone
 * @owner: for @ops
 * @owner_node: for the endpoint, to list its lanes
 * @ctl_node: in hcomm_session.ctl while @ack or @credit
 * @ack: an acknowledgement is to be sent
 * @credit: a new limit is to be sent
 * @open: in the session's table
 * @fin: the end came, in order
 * @refused: errno that each further piece is answered with, 0: none
 * @id: number, the sender's
 * @src_port: remote port
 * @dst_port: own port
 * @peer_lane: own lane that it answers, 0: none
 * @type: SOCK_*
 * @class: enum hcomm_class
 * @cum: everything below is here
 * @early: pieces beyond @cum, by offset
 * @part: pieces of the message that @cum is in
 * @part_len: their bytes
 * @part_truesize: their memory
 * @early_mem: memory of the pieces in @early
 * @mem: memory of those in @part and of messages that were not read
 * @window: bytes that may come ahead of what was read
 * @window_max: what it may grow to
 * @epoch: when it was last looked whether it is too small, ns
 * @epoch_read: @read at that time
 * @limit: offset that the sender may not reach yet
 * @limit_msgs: messages that it may send since the lane began
 * @read: offset up to which messages were read
 * @read_msgs: how many
 * @told: the limit that was sent last
 * @told_msgs: likewise
 * @msgs: messages that were delivered to the endpoint
 */
struct hcomm_rxlane {
	refcount_t ref;
	struct rcu_head rcu;
	struct hcomm_session *session;
	const struct hcomm_rxlane_ops *ops;
	void *owner;
	struct list_head owner_node;
	struct list_head ctl_node;
	bool ack;
	bool credit;
	bool open;
	bool fin;
	int refused;
	u32 id;
	u32 src_port;
	u32 dst_port;
	u32 peer_lane;
	u8 type;
	u8 class;
	u64 cum;
	struct rb_root early;
	struct list_head part;
	u32 part_len;
	u32 part_truesize;
	u64 early_mem;
	u64 mem;
	u32 window;
	u32 window_max;
	u64 epoch;
	u64 epoch_read;
	u64 limit;
	u64 limit_msgs;
	u64 read;
	u64 read_msgs;
	u64 told;
	u64 told_msgs;
	u64 msgs;
};

void hcomm_rxlane_put(struct hcomm_rxlane *lane);
void hcomm_rxlane_accept(struct hcomm_rxlane *lane,
			 const struct hcomm_rxlane_ops *ops, void *owner,
			 u32 window, u32 window_max);
void hcomm_rxlane_read(struct hcomm_rxlane *lane, u32 msg_len, u32 truesize);
void hcomm_rxlane_detach(struct hcomm_rxlane *lane, int err);

/* For session.c; its lock is held. */
struct hcomm_rxlane *hcomm_rxlane_find(struct hcomm_session *s, u32 id);
void hcomm_rxlane_forget(struct hcomm_session *s);
void hcomm_rxlane_receive(struct hcomm_session *s,
			  const struct hcomm_wire_data *d,
			  const struct hcomm_payload *p);
void hcomm_rxlane_reset(struct hcomm_session *s, u32 id);
void hcomm_rxlane_fail(struct hcomm_rxlane *lane, int err);
bool hcomm_rxlane_fill(struct hcomm_rxlane *lane, struct hcomm_batch *b,
		       struct hcomm_sent *sent);
void hcomm_rxlane_again(struct hcomm_rxlane *lane, u8 kind);

#endif /* HCOMM_RXLANE_H */
