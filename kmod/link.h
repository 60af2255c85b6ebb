/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_LINK_H
#define HCOMM_LINK_H

#include <linux/if.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/skbuff.h>

#include "flight.h"
#include "loss.h"
#include "net.h"
#include "pmtu.h"
#include "recovery.h"
#include "transport.h"
#include "window.h"

#include <hcomm/netlink.h>
#include <hcomm/socket.h>

struct hcomm_peer;
struct hcomm_packet;
struct hcomm_frame;
struct hcomm_wire_beat;

enum hcomm_link_const {
	HCOMM_LINK_SILENCE = 3,		/* missed heartbeats until down */
	HCOMM_LINK_BEATS = 128,		/* heartbeats remembered */
	HCOMM_LINK_FAST_MS = 10,	/* probing of a degraded link */
	HCOMM_LINK_BACKOFF_MS = 2000,	/* slowest probing of a dead one */
	HCOMM_ACK_DELAY_NS = 5000000,
	HCOMM_ACK_EVERY = 8,
	HCOMM_PN_AHEAD = 1 << 24,	/* a number may jump by less */
};

/* What happens to a link; link_fsm.c has the table. */
enum hcomm_link_event {
	HCOMM_LINK_EV_START,		/* administrator and device are fine */
	HCOMM_LINK_EV_ADMIN_DOWN,
	HCOMM_LINK_EV_CARRIER_LOST,
	HCOMM_LINK_EV_ADDR_LOST,
	HCOMM_LINK_EV_DEV_GONE,
	HCOMM_LINK_EV_SILENCE,
	HCOMM_LINK_EV_PEER_RESTART,
	HCOMM_LINK_EV_TX_ERROR,
	HCOMM_LINK_EV_RETRY,
	HCOMM_LINK_EV_VERIFIED,
	HCOMM_LINK_EV_LOSSY,
	HCOMM_LINK_EV_CLEAN,
	HCOMM_LINK_EV_CONN_LOST,
	HCOMM_LINK_EV_PEER_DOWN,	/* said over another link */
	__HCOMM_LINK_EV_MAX,
};

/**
 * struct hcomm_link_key - how an arriving packet finds its link
 * @addr: remote address; IPv4 as ::ffff:a.b.c.d
 * @id: link id
 * @port: remote port
 * @pad: zero
 */
struct hcomm_link_key {
	struct in6_addr addr;
	u32 id;
	__be16 port;
	u16 pad;
};

struct hcomm_beat_slot {
	u64 stamp;
	bool answered;
	bool counted;
};

/**
 * struct hcomm_link_counters - per link, under the link's lock
 */
struct hcomm_link_counters {
	u64 tx_packets, tx_bytes, rx_packets, rx_bytes;
	u64 lost_packets, spurious_packets, retrans_bytes, dup_packets;
	u64 beats_sent, beats_answered, beats_missed;
	u64 rx_errors, tx_errors, gso_fallbacks, ptos;
};

/**
 * struct hcomm_sender - somebody with something to send over a link
 * @node: in hcomm_link.ready[@class] while @link is not NULL
 * @link: the link that it waits for, with a reference; under ready_lock
 * @class: enum hcomm_class
 */
struct hcomm_sender {
	struct list_head node;
	struct hcomm_link *link;
	u8 class;
};

/**
 * struct hcomm_link - one way to a peer
 * @ref: references; the last one frees after a grace period
 * @key: in hcomm_net.links
 * @serial: number for the log
 * @timer: wakes hcomm_link_timer() for the earliest of all deadlines
 * @lock: protects the rest, but for what says otherwise
 * @tx_lock: who builds and sends packets; only by trylock, see xmit.c
 * @tx_again: there is something to send since the last look
 *
 * @tx_hold: nothing is sent before this: a queue of this host was full
 *
 * The comments below say what each group belongs to.
 */
struct hcomm_link {
	struct rhash_head node;
	struct rcu_head rcu;
	refcount_t ref;
	struct hcomm_link_key key;
	struct hcomm_net *hn;
	struct hcomm_peer *peer;
	struct list_head peer_node;
	u32 serial;
	bool dead;

	/* configuration: under cfg_lock, read anywhere */
	u32 id;
	char name[HCOMM_NAME_LEN];
	const struct hcomm_transport *transport;
	void *tp;
	union hcomm_addr local;
	union hcomm_addr remote;
	int ifindex;
	u32 metric;
	u32 loss_ppm;
	bool admin_up;
	bool dev_ok;
	u8 gso_mode;
	bool gso_on;
	const char *gso_reason;

	spinlock_t lock;	/* see above */
	struct hcomm_timer timer;

	/* state machine and heartbeats: link.c, beat.c */
	u8 state;
	const char *reason;
	u64 since;
	u32 my_tag;
	u32 peer_tag;
	u32 tag;
	u64 peer_inc;
	u64 proof;
	u32 beats_open;	/* sent since @proof */
	u64 last_rx;
	u64 beat_at;
	u64 beat_reply_at;
	u32 backoff_ms;
	u32 beat_next;
	struct hcomm_beat_slot beats[HCOMM_LINK_BEATS];
	struct hcomm_loss loss;
	struct hcomm_holddown holddown;
	u64 hold_at;
	u32 failovers;
	u32 failbacks;
	atomic_t carries;

	/* packets in flight: flight.c */
	struct hcomm_flight flight;
	struct hcomm_rtt rtt;
	struct hcomm_cc cc;
	struct hcomm_pacer pacer;
	u64 pace_at;

	/* packets that arrived: ack.c */
	struct hcomm_ranges rx_pns;
	u64 rx_largest_at;
	u32 rx_unacked;
	bool ack_now;
	bool ack_wanted;
	u64 ack_at;

	struct list_head pings;
	struct hcomm_pmtu pmtu;
	u32 mtu;
	struct hcomm_link_counters cnt;

	/* sending: xmit.c */
	spinlock_t tx_lock;	/* see above */
	unsigned long tx_again;
	u64 tx_hold;
	spinlock_t ready_lock;	/* @ready and each sender in it */
	struct list_head ready[__HCOMM_CLASS_MAX];
};

/**
 * struct hcomm_link_upper - what the floors above hand down to the links
 * @changed: the state or the hold-down of a link changed; no lock held
 * @receive: a SESSION frame arrived; bottom halves off, no lock held
 * @fill: put what the sender has into the packet that is being built; false:
 *	it has nothing (more) for this link now
 * @train: put the next packets of a message, @max at most, into the batch, note
 *	in @sent what they are, take their numbers and return true; @sent->seg_len
 *	is their length, @head has the link header and room for the others
 * @copied: @sent is a copy of another: take what it refers to once more
 * @lost: a packet is lost or was never sent
 * @done: @sent is not needed any more
 * @event: tell user space; old and new state are enum hcomm_link_state
 */
struct hcomm_link_upper {
	void (*changed)(struct hcomm_link *link);
	void (*receive)(struct hcomm_link *link, struct hcomm_packet *pkt,
			struct hcomm_frame *f, struct sk_buff *skb);
	bool (*fill)(struct hcomm_link *link, struct hcomm_sender *sender,
		     struct hcomm_batch *b, struct hcomm_sent *sent,
		     bool data_ok);
	bool (*train)(struct hcomm_link *link, struct hcomm_sender *sender,
		      struct hcomm_batch *b, struct hcomm_sent *sent, u8 *head,
		      u32 max, u64 now);
	void (*copied)(struct hcomm_sent *sent);
	void (*lost)(struct hcomm_sent *sent);
	void (*done)(struct hcomm_sent *sent);
	void (*event)(struct hcomm_link *link, u8 old, u8 new);
};

extern const struct hcomm_link_upper *hcomm_link_upper;

/**
 * struct hcomm_link_config - what link-new asks for
 */
struct hcomm_link_config {
	u32 peer;
	u32 id;
	char name[HCOMM_NAME_LEN];
	u8 transport;
	union hcomm_addr local;
	union hcomm_addr remote;
	int ifindex;
	u32 metric;
	u32 loss_ppm;
	u8 gso_mode;
	bool admin_up;
};

/* link.c: the object */
int hcomm_link_init(void);
void hcomm_link_exit(void);
int hcomm_link_net_init(struct hcomm_net *hn);
void hcomm_link_net_exit(struct hcomm_net *hn);
struct hcomm_link *hcomm_link_create(struct hcomm_net *hn,
				     struct hcomm_link_config *cfg,
				     struct netlink_ext_ack *extack);
void hcomm_link_end(struct hcomm_link *link);
void hcomm_link_destroy(struct hcomm_link *link);
void hcomm_link_put(struct hcomm_link *link);
bool hcomm_link_get(struct hcomm_link *link);
void hcomm_link_timer(struct hcomm_timer *t);
void hcomm_link_make_key(struct hcomm_link_key *key,
			 const union hcomm_addr *a, u32 id);
struct hcomm_link *hcomm_link_lookup(struct hcomm_net *hn,
				     const struct hcomm_link_key *key);

/* link_fsm.c: states */
bool hcomm_link_event(struct hcomm_link *link, enum hcomm_link_event ev);
void hcomm_link_admin(struct hcomm_link *link, bool up);
void hcomm_link_check_device(struct hcomm_link *link);
const char *hcomm_link_state_name(u8 state);
u32 hcomm_link_loss_ppm(const struct hcomm_link *link);

static inline bool hcomm_link_usable(const struct hcomm_link *link)
{
	u8 state = READ_ONCE(link->state);

	return state == HCOMM_LINK_STATE_UP ||
	       state == HCOMM_LINK_STATE_DEGRADED;
}

/* A grace period; a whole namespace with its links waits for many of them. */
static inline void hcomm_link_wait(const struct hcomm_link *link)
{
	if (READ_ONCE(link->hn->dying))
		synchronize_rcu_expedited();
	else
		synchronize_rcu();
}

/* beat.c: heartbeats */
void hcomm_beat_start(struct hcomm_link *link, u64 now);
u64 hcomm_beat_timer(struct hcomm_link *link, u64 now);
void hcomm_beat_receive(struct hcomm_link *link,
			const struct hcomm_wire_beat *b, bool reply, u64 now);
void hcomm_beat_proof(struct hcomm_link *link, u64 now);
u64 hcomm_beat_silence(const struct hcomm_link *link);

/* ack.c: arriving packets */
void hcomm_link_receive(struct hcomm_net *hn, struct hcomm_link_key *from,
			struct sk_buff *skb, u32 off, u32 seg, const void *tp);
void hcomm_link_receive_on(struct hcomm_link *link, struct sk_buff *skb,
			   u32 off, u32 len, u32 seg);
void hcomm_link_receive_done(struct hcomm_link *link);

/* xmit.c: departing packets */
void hcomm_link_kick(struct hcomm_link *link);
void hcomm_link_ready(struct hcomm_link *link, struct hcomm_sender *sender,
		      u8 class);
void hcomm_link_unready(struct hcomm_sender *sender);
void hcomm_link_ready_flush(struct hcomm_link *link);
int hcomm_link_send_control(struct hcomm_link *link, u8 type, const void *frame,
			    u32 pad);

#endif /* HCOMM_LINK_H */
