/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_SESSION_H
#define HCOMM_SESSION_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/xarray.h>

#include "link.h"
#include "note.h"
#include "net.h"
#include "window.h"
#include "wire.h"

struct hcomm_route;
struct hcomm_txlane;

enum hcomm_session_state {
	HCOMM_SESSION_IDLE,	/* nothing was said yet */
	HCOMM_SESSION_HELLO,	/* asked the peer for its incarnation */
	HCOMM_SESSION_OPEN,
};

enum hcomm_session_const {
	HCOMM_SESSION_HELLO_MS = 100,
	HCOMM_SESSION_QUANTUM = 64 << 10,
	HCOMM_SESSION_RTO_MIN_MS = 250,
	HCOMM_SESSION_RESEND = 64 << 10,
};

/**
 * struct hcomm_session - end-to-end state with one remote node
 * @hash: in hcomm_net.sessions
 * @rcu: to free it
 * @ref: references
 * @hn: namespace
 * @node: the remote node
 * @serial: number for the log
 * @route: the way there, with a reference
 * @lock: protects all below
 * @sender: waits for a link
 * @timer: hello, retransmission and timeout of lanes
 * @state: enum hcomm_session_state
 * @dead: taken out of the table
 * @inc: own incarnation: random, since lane numbers begin anew with a session
 * @remote_inc: that of the peer's session, 0: not known
 * @nonce: of the last HELLO, 0: it was answered
 * @hello_at: when the last HELLO was sent
 * @hello_wanted: a HELLO is to be sent
 * @urgent: credit that the peer waits for
 * @reply_nonce: a HELLO to be answered, 0: none
 * @reply_inc: incarnation of who asked
 * @peer_credit: what a new lane may send at first
 * @txlanes: own lanes by number
 * @rxlanes: the peer's lanes by number; what is neither there nor above
 *	@rx_next has been there
 * @nr_tx: lanes in @txlanes
 * @nr_rx: lanes in @rxlanes
 * @next_lane: number of the next own lane; never used again
 * @rx_next: above all numbers of the peer's lanes that were heard of
 * @rx_floor: below this it is not known which were opened once
 * @nr_holes: numbers in between that were not; values in @rxlanes
 * @ctl: lanes of the peer with an acknowledgement or credit to be sent
 * @ready: own lanes with data, by class
 * @note: what is to be said about lanes that are gone
 * @nr_notes: how many of them
 */
struct hcomm_session {
	struct rhash_head hash;
	struct rcu_head rcu;
	refcount_t ref;
	struct hcomm_net *hn;
	u32 node;
	u32 serial;
	struct hcomm_route *route;
	spinlock_t lock;	/* all below */
	struct hcomm_sender sender;
	struct hcomm_timer timer;
	u8 state;
	bool dead;
	u64 inc;
	u64 remote_inc;
	u64 nonce;
	u64 hello_at;
	bool hello_wanted;
	bool urgent;
	u64 reply_nonce;
	u64 reply_inc;
	u32 peer_credit;
	struct xarray txlanes;
	struct xarray rxlanes;
	u32 nr_tx;
	u32 nr_rx;
	u32 next_lane;
	u32 rx_next;
	u32 rx_floor;
	u32 nr_holes;
	struct list_head ctl;
	struct list_head ready[__HCOMM_CLASS_MAX];
	struct hcomm_note note[HCOMM_NOTES];
	u32 nr_notes;
};

int hcomm_session_net_init(struct hcomm_net *hn);
void hcomm_session_net_exit(struct hcomm_net *hn);
struct hcomm_session *hcomm_session_get(struct hcomm_net *hn, u32 node);
struct hcomm_session *hcomm_session_find(struct hcomm_net *hn, u32 node);
void hcomm_session_hold(struct hcomm_session *s);
void hcomm_session_put(struct hcomm_session *s);
u64 hcomm_session_rtt(struct hcomm_session *s);
u32 hcomm_session_part(struct hcomm_session *s);
void hcomm_session_kick(struct hcomm_session *s);
void hcomm_session_look(struct hcomm_session *s);
void hcomm_session_flush(struct hcomm_net *hn);

/* What the links and the routes call; main.c hands it down. */
void hcomm_session_receive(struct hcomm_link *link, struct hcomm_packet *pkt,
			   struct hcomm_frame *f, struct sk_buff *skb);
bool hcomm_session_fill(struct hcomm_link *link, struct hcomm_sender *sender,
			struct hcomm_batch *b, struct hcomm_sent *sent,
			bool data_ok);
bool hcomm_session_train(struct hcomm_link *link, struct hcomm_sender *sender,
			 struct hcomm_batch *b, struct hcomm_sent *sent,
			 u8 *head, u32 max, u64 now);
void hcomm_session_copied(struct hcomm_sent *sent);
void hcomm_session_lost(struct hcomm_sent *sent);
void hcomm_session_done(struct hcomm_sent *sent);
void hcomm_session_route_changed(struct hcomm_net *hn, u32 node);
void hcomm_session_route_gone(struct hcomm_net *hn, u32 node);

#endif /* HCOMM_SESSION_H */
