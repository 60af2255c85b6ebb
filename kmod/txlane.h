/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_TXLANE_H
#define HCOMM_TXLANE_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>

#include "session.h"

struct hcomm_msg;
struct hcomm_txlane;

/**
 * struct hcomm_txlane_ops - what the owner of a lane hears
 * @acked: messages were acknowledged or credit came: there may be room. The
 *	session's lock is held.
 * @failed: the lane is given up: @err is why, @lost messages will not arrive.
 *	The owner drops its reference. The session's lock is held.
 */
struct hcomm_txlane_ops {
	void (*acked)(struct hcomm_txlane *lane);
	void (*failed)(struct hcomm_txlane *lane, int err, u32 lost);
};

/**
 * struct hcomm_txlane - an ordered stream of messages to one remote port
 * @ref: references: the session's while it is open, the owner's
 * @session: its session, with a reference
 * @ops: of the owner, NULL when it has gone
 * @owner: for @ops
 * @ready_node: in hcomm_session.ready[@class] while @is_ready
 * @is_ready: it has something to send
 * @open: in the session's table
 * @confirmed: the peer knows it: no more need to say the ports
 * @fin: FIN is queued, nothing more may be
 * @reset: RESET is to be sent, or was and is not confirmed
 * @reset_sent: it is on its way
 * @err: why it was given up, positive errno, 0: it was not
 * @id: number
 * @src_port: own port
 * @dst_port: remote port
 * @peer_lane: lane of the peer that this one answers, 0: none
 * @type: SOCK_*
 * @class: enum hcomm_class
 * @timeout_ms: how long data waits without progress
 * @msgs: messages that were not acknowledged, by offset
 * @una: everything below is acknowledged
 * @nxt: next offset to be sent for the first time
 * @end: offset behind the last message
 * @cursor: message that holds @nxt, NULL: to be looked up
 * @resend: what is to be sent again
 * @sacked: what the peer has beyond @una
 * @credit: offset that may not be reached yet
 * @credit_msgs: messages that may be sent since the lane began
 * @queued_msgs: number of the last message
 * @queued_bytes: bytes between @una and @end
 * @progress: when something was last acknowledged, or sent into silence
 * @rto_at: when to send again what should have been acknowledged
 * @backoff: doublings of the retransmission timeout
 */
struct hcomm_txlane {
	refcount_t ref;
	struct rcu_head rcu;
	struct hcomm_session *session;
	const struct hcomm_txlane_ops *ops;
	void *owner;
	struct list_head ready_node;
	bool is_ready;
	bool open;
	bool confirmed;
	bool fin;
	bool reset;
	bool reset_sent;
	int err;
	u32 id;
	u32 src_port;
	u32 dst_port;
	u32 peer_lane;
	u8 type;
	u8 class;
	u32 timeout_ms;
	struct rb_root msgs;
	u64 una;
	u64 nxt;
	u64 end;
	struct hcomm_msg *cursor;
	struct hcomm_ranges resend;
	struct hcomm_ranges sacked;
	u64 credit;
	u64 credit_msgs;
	u64 queued_msgs;
	u64 progress;
	u64 rto_at;
	u32 backoff;
};

/**
 * struct hcomm_txlane_config - what a new lane is
 */
struct hcomm_txlane_config {
	u32 src_port;
	u32 dst_port;
	u32 peer_lane;
	u8 type;
	u8 class;
	u32 timeout_ms;
	const struct hcomm_txlane_ops *ops;
	void *owner;
};

struct hcomm_txlane *hcomm_txlane_open(struct hcomm_session *s,
				       const struct hcomm_txlane_config *cfg,
				       gfp_t gfp);
struct hcomm_txlane *
hcomm_txlane_open_locked(struct hcomm_session *s,
			 const struct hcomm_txlane_config *cfg, gfp_t gfp);
int hcomm_txlane_send(struct hcomm_txlane *lane, struct hcomm_msg *msg);
int hcomm_txlane_queue(struct hcomm_txlane *lane, struct hcomm_msg *msg);
void hcomm_txlane_detach(struct hcomm_txlane *lane, bool abort);
void hcomm_txlane_put(struct hcomm_txlane *lane);

/* For session.c; its lock is held. */
void hcomm_txlane_fail(struct hcomm_txlane *lane, int err, u64 delivered);
void hcomm_txlane_ready(struct hcomm_txlane *lane);
bool hcomm_txlane_fill(struct hcomm_txlane *lane, struct hcomm_batch *b,
		       struct hcomm_sent *sent, u64 now, u32 *quantum);
u32 hcomm_txlane_train_len(struct hcomm_txlane *lane, u32 mtu, u32 max);
void hcomm_txlane_train(struct hcomm_txlane *lane, struct hcomm_batch *b,
			struct hcomm_sent *sent, u8 *head, u64 now);
void hcomm_txlane_lost(struct hcomm_txlane *lane, u64 off, u32 len);
void hcomm_txlane_acked(struct hcomm_txlane *lane,
			const struct hcomm_wire_lane_ack *a, u64 now);
void hcomm_txlane_credit(struct hcomm_txlane *lane,
			 const struct hcomm_wire_credit *c);
u64 hcomm_txlane_timer(struct hcomm_txlane *lane, u64 now, u64 rto);
bool hcomm_txlane_idle(const struct hcomm_txlane *lane);

#endif /* HCOMM_TXLANE_H */
