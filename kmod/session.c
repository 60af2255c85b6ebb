// SPDX-License-Identifier: GPL-2.0
#include "session.h"

#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "batch.h"
#include "msg.h"
#include "note.h"
#include "peer.h"
#include "route.h"
#include "rxlane.h"
#include "trace.h"
#include "txlane.h"

static const struct rhashtable_params params = {
	.head_offset = offsetof(struct hcomm_session, hash),
	.key_offset = offsetof(struct hcomm_session, node),
	.key_len = sizeof_field(struct hcomm_session, node),
	.automatic_shrinking = true,
};

static atomic_t serials;

static void session_timer(struct hcomm_timer *t);

int hcomm_session_net_init(struct hcomm_net *hn)
{
	return rhashtable_init(&hn->sessions, &params);
}

void hcomm_session_net_exit(struct hcomm_net *hn)
{
	rhashtable_destroy(&hn->sessions);
}

static void session_free(struct rcu_head *rcu)
{
	struct hcomm_session *s = container_of(rcu, struct hcomm_session, rcu);

	hcomm_route_put(s->route);
	xa_destroy(&s->txlanes);
	xa_destroy(&s->rxlanes);
	pr_debug("session %u destroyed\n", s->serial);
	kfree(s);
}

/*
 * A link that had it in hand when the last reference went may have put it back
 * into its list, or set the timer. Nobody can any more; but whoever found it
 * there must be done before it is freed.
 */
static void session_gone(struct rcu_head *rcu)
{
	struct hcomm_session *s = container_of(rcu, struct hcomm_session, rcu);

	hcomm_link_unready(&s->sender);
	hcomm_timer_cancel(&s->hn->wheel, &s->timer);
	call_rcu(&s->rcu, session_free);
}

void hcomm_session_hold(struct hcomm_session *s)
{
	refcount_inc(&s->ref);
}

void hcomm_session_put(struct hcomm_session *s)
{
	if (refcount_dec_and_test(&s->ref)) {
		hcomm_link_unready(&s->sender);
		hcomm_timer_cancel(&s->hn->wheel, &s->timer);
		call_rcu(&s->rcu, session_gone);
	}
}

/* With a reference, or NULL. */
struct hcomm_session *hcomm_session_find(struct hcomm_net *hn, u32 node)
{
	struct hcomm_session *s;

	rcu_read_lock();
	s = rhashtable_lookup(&hn->sessions, &node, params);
	if (s && !refcount_inc_not_zero(&s->ref))
		s = NULL;
	rcu_read_unlock();
	return s;
}

static struct hcomm_session *make(struct hcomm_net *hn, u32 node)
{
	struct hcomm_route *route;
	struct hcomm_session *s;
	int i;

	if (atomic_read(&hn->nr_sessions) >= READ_ONCE(hn->conf.max_sessions))
		return ERR_PTR(-ENOBUFS);
	route = hcomm_route_find(hn, node);
	if (!route || READ_ONCE(hn->dying))
		return ERR_PTR(-EHOSTUNREACH);
	s = kzalloc(sizeof(*s), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!s)
		return ERR_PTR(-ENOMEM);
	if (!refcount_inc_not_zero(&route->ref)) {
		kfree(s);
		return ERR_PTR(-EHOSTUNREACH);
	}
	/* One for the table, one for the caller. */
	refcount_set(&s->ref, 2);
	s->hn = hn;
	s->node = node;
	s->route = route;
	spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->sender.node);
	hcomm_timer_init(&s->timer, session_timer);
	s->inc = get_random_u64() | 1;
	s->peer_credit = HCOMM_INITIAL_CREDIT;
	xa_init(&s->txlanes);
	xa_init(&s->rxlanes);
	s->rx_next = 1;
	INIT_LIST_HEAD(&s->ctl);
	for (i = 0; i < __HCOMM_CLASS_MAX; i++)
		INIT_LIST_HEAD(&s->ready[i]);
	s->serial = atomic_inc_return(&serials);
	pr_debug("session %u created: node %u\n", s->serial, node);
	return s;
}

static void unmake(struct hcomm_session *s)
{
	hcomm_route_put(s->route);
	pr_debug("session %u destroyed\n", s->serial);
	kfree(s);
}

/* Ends all lanes, both ways. */
static void fail_lanes(struct hcomm_session *s, int err)
{
	struct hcomm_txlane *tx;
	struct hcomm_rxlane *rx;
	unsigned long id;

	lockdep_assert_held(&s->lock);
	xa_for_each(&s->txlanes, id, tx)
		hcomm_txlane_fail(tx, err, tx->una);
	xa_for_each(&s->rxlanes, id, rx)
		if (!xa_is_value(rx))
			hcomm_rxlane_fail(rx, err);
	s->nr_notes = 0;
}

static void destroy(struct hcomm_session *s, int err)
{
	bool was;

	spin_lock_bh(&s->lock);
	was = s->dead;
	s->dead = true;
	fail_lanes(s, err);
	spin_unlock_bh(&s->lock);
	if (was)
		return;
	rhashtable_remove_fast(&s->hn->sessions, &s->hash, params);
	atomic_dec(&s->hn->nr_sessions);
	hcomm_session_put(s);
}

/**
 * hcomm_session_get - the session with a node, made if need be
 * @hn: namespace
 * @node: remote node
 *
 * Return: session with a reference; -EHOSTUNREACH without a route, -ENOBUFS
 * if there are too many, -ENOMEM.
 */
struct hcomm_session *hcomm_session_get(struct hcomm_net *hn, u32 node)
{
	struct hcomm_session *s, *old;

	s = hcomm_session_find(hn, node);
	if (s)
		return s;
	rcu_read_lock();
	s = make(hn, node);
	if (IS_ERR(s))
		goto out;
	old = rhashtable_lookup_get_insert_fast(&hn->sessions, &s->hash,
						params);
	if (IS_ERR(old)) {
		unmake(s);
		s = ERR_CAST(old);
	} else if (old) {
		unmake(s);
		s = refcount_inc_not_zero(&old->ref) ? old : ERR_PTR(-EAGAIN);
	} else {
		atomic_inc(&hn->nr_sessions);
	}
out:
	rcu_read_unlock();
	/* A route that went meanwhile has not seen the session. */
	if (!IS_ERR(s) && hcomm_route_dead(s->route)) {
		destroy(s, EHOSTUNREACH);
		hcomm_session_put(s);
		s = ERR_PTR(-EHOSTUNREACH);
	}
	return s;
}

/* The last route to the node is gone. */
void hcomm_session_route_gone(struct hcomm_net *hn, u32 node)
{
	struct hcomm_session *s = hcomm_session_find(hn, node);

	if (!s)
		return;
	destroy(s, EHOSTUNREACH);
	hcomm_session_put(s);
}

static struct hcomm_link *session_link(struct hcomm_session *s)
{
	struct hcomm_link *link = rcu_dereference(s->route->active);

	return link && hcomm_link_usable(link) ? link : NULL;
}

/* Class of the most urgent thing to send; __HCOMM_CLASS_MAX: nothing. */
static u8 urgency(struct hcomm_session *s)
{
	u8 c;

	lockdep_assert_held(&s->lock);
	if (s->dead)
		return __HCOMM_CLASS_MAX;
	if (s->hello_wanted || s->reply_nonce || s->nr_notes ||
	    !list_empty(&s->ctl))
		return HCOMM_CLASS_CONTROL;
	for (c = 0; c < __HCOMM_CLASS_MAX; c++)
		if (!list_empty(&s->ready[c]))
			return c;
	return __HCOMM_CLASS_MAX;
}

/* Asks for the peer's incarnation, not more often than the interval. */
static void want_hello(struct hcomm_session *s)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&s->lock);
	if (s->hello_wanted ||
	    (s->hello_at &&
	     now - s->hello_at < HCOMM_SESSION_HELLO_MS * NSEC_PER_MSEC))
		return;
	s->hello_wanted = true;
	if (s->state == HCOMM_SESSION_IDLE)
		s->state = HCOMM_SESSION_HELLO;
}

/* Queues the session at its link without sending; rcu_read_lock() is held. */
static struct hcomm_link *enqueue(struct hcomm_session *s)
{
	struct hcomm_link *link;
	u8 class;

	spin_lock_bh(&s->lock);
	class = urgency(s);
	if (class != __HCOMM_CLASS_MAX && s->state != HCOMM_SESSION_OPEN &&
	    !s->reply_nonce) {
		want_hello(s);
		if (!s->hello_wanted)
			class = __HCOMM_CLASS_MAX;
	}
	if (class != __HCOMM_CLASS_MAX ||
	    s->state == HCOMM_SESSION_HELLO)
		hcomm_timer_by(&s->hn->wheel, &s->timer, ktime_get_ns() +
			       HCOMM_SESSION_HELLO_MS * NSEC_PER_MSEC);
	spin_unlock_bh(&s->lock);
	link = session_link(s);
	if (!link || class == __HCOMM_CLASS_MAX)
		return NULL;
	hcomm_link_ready(link, &s->sender, class);
	return link;
}

/**
 * hcomm_session_kick - send what the session has to send
 * @s: session; no lock of it is held
 */
void hcomm_session_kick(struct hcomm_session *s)
{
	struct hcomm_link *link;

	rcu_read_lock();
	link = enqueue(s);
	if (link)
		hcomm_link_kick(link);
	rcu_read_unlock();
}

/* A deadline of a lane may have come nearer. */
void hcomm_session_look(struct hcomm_session *s)
{
	hcomm_timer_by(&s->hn->wheel, &s->timer, ktime_get_ns());
}

/* The way changed; perhaps because the peer restarted: ask, somebody may wait. */
void hcomm_session_route_changed(struct hcomm_net *hn, u32 node)
{
	struct hcomm_session *s = hcomm_session_find(hn, node);

	if (!s)
		return;
	spin_lock_bh(&s->lock);
	if (s->state == HCOMM_SESSION_OPEN)
		want_hello(s);
	spin_unlock_bh(&s->lock);
	hcomm_session_kick(s);
	hcomm_session_put(s);
}

static bool fill_hello(struct hcomm_session *s, struct hcomm_batch *b,
		       struct hcomm_sent *sent, u8 type, u64 nonce)
{
	struct hcomm_wire_hello h = {
		.nonce = nonce, .max_msg = HCOMM_MAX_MSG_LEN,
		.credit = HCOMM_INITIAL_CREDIT,
	};
	u8 *p;

	p = hcomm_batch_head(b, HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_HELLO_LEN);
	if (!p)
		return false;
	hcomm_wire_put_hello(p, type, &h);
	/* Who asked asks again; nothing is kept to send it twice. */
	return hcomm_sent_add(sent, type, 0, 0, 0);
}

/* True: all that is short and urgent is in the packet. */
static bool fill_control(struct hcomm_session *s, struct hcomm_batch *b,
			 struct hcomm_sent *sent)
{
	struct hcomm_rxlane *lane, *next;

	if (!hcomm_note_fill(s, b, sent))
		return false;
	list_for_each_entry_safe(lane, next, &s->ctl, ctl_node)
		if (!hcomm_rxlane_fill(lane, b, sent))
			return false;
	return true;
}

static bool fill_data(struct hcomm_session *s, struct hcomm_batch *b,
		      struct hcomm_sent *sent, u64 now)
{
	struct hcomm_txlane *lane;
	u8 c;

	for (c = 0; c < __HCOMM_CLASS_MAX; c++) {
		while ((lane = list_first_entry_or_null(&s->ready[c],
							struct hcomm_txlane,
							ready_node))) {
			u32 quantum = HCOMM_SESSION_QUANTUM;

			if (!hcomm_txlane_fill(lane, b, sent, now, &quantum))
				return false;
			list_del_init(&lane->ready_node);
			lane->is_ready = false;
			hcomm_txlane_ready(lane);
		}
	}
	return true;
}

/* Puts the session header, then what there is; see hcomm_link_upper.fill. */
bool hcomm_session_fill(struct hcomm_link *link, struct hcomm_sender *sender,
			struct hcomm_batch *b, struct hcomm_sent *sent,
			bool data_ok)
{
	struct hcomm_session *s = container_of(sender, struct hcomm_session,
					       sender);
	struct hcomm_wire_session h = {
		.src = READ_ONCE(s->hn->conf.node), .dst = s->node,
		.hop_limit = HCOMM_HOP_LIMIT, .src_inc = s->inc,
	};
	u32 len = HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_SESSION_LEN, room;
	u64 now = ktime_get_ns();
	bool more = false;
	u8 *p;

	spin_lock(&s->lock);
	if (s->dead || !refcount_inc_not_zero(&s->ref))
		goto out;
	/* It may have been moved to another link since it was queued. */
	if (rcu_access_pointer(s->route->active) != link) {
		hcomm_timer_by(&s->hn->wheel, &s->timer, now);
		goto out_put;
	}
	p = hcomm_batch_head(b, len);
	if (!p) {
		more = true;
		goto out_put;
	}
	room = b->room;
	h.dst_inc = s->remote_inc;
	if (s->reply_nonce) {
		h.dst_inc = s->reply_inc;
		fill_hello(s, b, sent, HCOMM_FRAME_HELLO_REPLY, s->reply_nonce);
		s->reply_nonce = 0;
	}
	if (s->hello_wanted) {
		if (!s->nonce)
			s->nonce = get_random_u64() | 1;
		fill_hello(s, b, sent, HCOMM_FRAME_HELLO, s->nonce);
		s->hello_wanted = false;
		s->hello_at = now;
	}
	/* A reply may go to another incarnation than the one that is known. */
	if (s->state == HCOMM_SESSION_OPEN && h.dst_inc == s->remote_inc) {
		more = !fill_control(s, b, sent);
		if (!more && data_ok)
			more = !fill_data(s, b, sent, now);
	}
	more |= urgency(s) != __HCOMM_CLASS_MAX &&
		s->state == HCOMM_SESSION_OPEN;
	if (b->room == room) {
		hcomm_batch_trim(b, len);
		goto out_put;
	}
	hcomm_wire_put_session(p, &h);
	hcomm_wire_session_done(p, len + room - b->room);
	/* The reference goes with the packet. */
	sent->session = s;
	goto out;

out_put:
	spin_unlock(&s->lock);
	hcomm_session_put(s);
	return more;
out:
	if (more)
		s->sender.class = urgency(s);
	spin_unlock(&s->lock);
	return more;
}

static struct hcomm_txlane *first_ready(struct hcomm_session *s)
{
	struct hcomm_txlane *lane = NULL;
	u8 c;

	for (c = 0; c < __HCOMM_CLASS_MAX && !lane; c++)
		lane = list_first_entry_or_null(&s->ready[c],
						struct hcomm_txlane,
						ready_node);
	return lane;
}

/* Puts packets of one message into the batch; see hcomm_link_upper.train. */
bool hcomm_session_train(struct hcomm_link *link, struct hcomm_sender *sender,
			 struct hcomm_batch *b, struct hcomm_sent *sent,
			 u8 *head, u32 max, u64 now)
{
	struct hcomm_session *s = container_of(sender, struct hcomm_session,
					       sender);
	struct hcomm_wire_session h = {
		.src = READ_ONCE(s->hn->conf.node), .dst = s->node,
		.hop_limit = HCOMM_HOP_LIMIT, .src_inc = s->inc,
	};
	struct hcomm_txlane *lane;
	bool done = false;

	if (rcu_access_pointer(s->route->active) != link)
		return false;
	spin_lock(&s->lock);
	lane = s->dead || s->state != HCOMM_SESSION_OPEN ? NULL :
							   first_ready(s);
	if (!lane)
		goto out;
	sent->nr = hcomm_txlane_train_len(lane, sent->seg_len, max);
	if (!sent->nr || !refcount_inc_not_zero(&s->ref))
		goto out;
	/* The reference goes with the packets. */
	sent->session = s;
	spin_lock(&link->lock);
	sent->pn = hcomm_flight_pns(link, sent->nr);
	spin_unlock(&link->lock);
	hcomm_wire_put_pn(head, sent->pn);
	h.dst_inc = s->remote_inc;
	hcomm_wire_put_session(head + HCOMM_WIRE_LINK_LEN, &h);
	hcomm_txlane_train(lane, b, sent, head, now);
	/* The next one's turn. */
	list_del_init(&lane->ready_node);
	lane->is_ready = false;
	hcomm_txlane_ready(lane);
	done = true;
out:
	spin_unlock(&s->lock);
	return done;
}

/* Round-trip time of the link that is in use, ns; under RCU. */
u64 hcomm_session_rtt(struct hcomm_session *s)
{
	struct hcomm_link *link = rcu_dereference(s->route->active);

	return link ? READ_ONCE(link->rtt.smoothed) : 0;
}

/* Bytes of a message that go in one packet over the link that is in use. */
u32 hcomm_session_part(struct hcomm_session *s)
{
	struct hcomm_link *link;
	u32 mtu;

	rcu_read_lock();
	link = session_link(s);
	mtu = link ? READ_ONCE(link->mtu) : 0;
	rcu_read_unlock();
	return mtu > 2 * HCOMM_WIRE_PLAIN_LEN ? mtu - HCOMM_WIRE_PLAIN_LEN : 0;
}

void hcomm_session_copied(struct hcomm_sent *sent)
{
	if (sent->session)
		hcomm_session_hold(sent->session);
}

void hcomm_session_done(struct hcomm_sent *sent)
{
	if (sent->session)
		hcomm_session_put(sent->session);
	sent->session = NULL;
}

static void item_lost(struct hcomm_session *s, const struct hcomm_sent_item *i)
{
	struct hcomm_txlane *tx;
	struct hcomm_rxlane *rx;

	switch (i->kind) {
	case HCOMM_FRAME_DATA:
		tx = xa_load(&s->txlanes, i->lane);
		if (tx)
			hcomm_txlane_lost(tx, i->off, i->len);
		break;
	case HCOMM_FRAME_LANE_ACK:
	case HCOMM_FRAME_CREDIT:
	case HCOMM_FRAME_RESET:
		if (i->off) {
			hcomm_note_add(s, i->kind, i->lane, i->off - 1, i->len);
			break;
		}
		tx = xa_load(&s->txlanes, i->lane);
		rx = hcomm_rxlane_find(s, i->lane);
		if (i->kind != HCOMM_FRAME_RESET && rx)
			hcomm_rxlane_again(rx, i->kind);
		if (i->kind == HCOMM_FRAME_RESET && tx) {
			tx->reset_sent = false;
			hcomm_txlane_ready(tx);
		}
		break;
	case HCOMM_FRAME_HELLO:
		if (s->nonce)
			s->hello_wanted = true;
		break;
	}
}

/* Packets in a row of a train are lost together as often as not. */
static void train_lost(struct hcomm_session *s, const struct hcomm_sent *sent)
{
	struct hcomm_sent_item i = sent->item[0];
	u64 off = i.off, end = off + i.len;
	u8 from, to;

	for (from = 0; from < sent->nr; from = to) {
		to = from + 1;
		if (!(sent->left >> from & 1))
			continue;
		while (to < sent->nr && sent->left >> to & 1)
			to++;
		i.off = off + from * sent->part;
		i.len = min_t(u64, off + to * sent->part, end) - i.off;
		item_lost(s, &i);
	}
}

/* A packet is lost: what it carried is sent again, on whatever link. */
void hcomm_session_lost(struct hcomm_sent *sent)
{
	struct hcomm_session *s = sent->session;
	struct hcomm_link *link;
	u8 i;

	if (!s)
		return;
	spin_lock_bh(&s->lock);
	if (sent->nr > 1 && !s->dead)
		train_lost(s, sent);
	for (i = 0; sent->nr == 1 && i < sent->items && !s->dead; i++)
		item_lost(s, &sent->item[i]);
	spin_unlock_bh(&s->lock);
	rcu_read_lock();
	link = enqueue(s);
	/* Not from here: this may be in the middle of building packets. */
	if (link && !test_and_set_bit(0, &link->tx_again))
		hcomm_timer_by(&s->hn->wheel, &link->timer, ktime_get_ns());
	rcu_read_unlock();
}

static void receive_hello(struct hcomm_session *s,
			  const struct hcomm_wire_session *h,
			  const struct hcomm_wire_hello *f)
{
	/* The latest to ask is answered; an earlier one asks again. */
	s->reply_nonce = f->nonce;
	s->reply_inc = h->src_inc;
	if (s->state != HCOMM_SESSION_OPEN || s->remote_inc != h->src_inc) {
		s->hello_at = 0;
		want_hello(s);
	}
}

/* Only a reply to our own question tells who the peer is now. */
static void receive_hello_reply(struct hcomm_session *s,
				const struct hcomm_wire_session *h,
				const struct hcomm_wire_hello *f)
{
	if (!s->nonce || f->nonce != s->nonce ||
	    h->dst_inc != s->inc)
		return;
	s->nonce = 0;
	s->hello_wanted = false;
	if (s->state == HCOMM_SESSION_OPEN && s->remote_inc == h->src_inc)
		return;
	if (s->remote_inc && s->remote_inc != h->src_inc) {
		hcomm_count(s->hn, sessions_reset);
		fail_lanes(s, ECONNRESET);
		hcomm_rxlane_forget(s);
		/* Numbers belong to the pair of incarnations. */
		s->next_lane = 0;
	}
	s->remote_inc = h->src_inc;
	s->peer_credit = f->credit;
	s->state = HCOMM_SESSION_OPEN;
	hcomm_count(s->hn, sessions_opened);
	trace_hcomm_session_open(s);
}

/* What comes from the wire is not handed to user space as it is. */
static bool known_code(u16 code)
{
	switch (code) {
	case ECONNREFUSED:
	case ECONNRESET:
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETDOWN:
	case EPROTO:
		return true;
	default:
		return false;
	}
}

static void receive_reset(struct hcomm_session *s,
			  const struct hcomm_wire_reset *r)
{
	struct hcomm_txlane *tx;

	if (!r->receiver) {
		hcomm_rxlane_reset(s, r->lane);
		return;
	}
	tx = xa_load(&s->txlanes, r->lane);
	if (tx)
		hcomm_txlane_fail(tx, known_code(r->code) ? r->code :
							    ECONNRESET,
				  max(tx->una, r->offset));
	/* So that the peer may forget it. */
	hcomm_note_add(s, HCOMM_FRAME_RESET, r->lane, false, r->code);
}

static void receive_frame(struct hcomm_session *s, struct hcomm_packet *pkt,
			  struct hcomm_frame *f, struct sk_buff *skb, u64 now)
{
	struct hcomm_payload p = {
		.skb = skb, .off = f->payload, .part = f->data.len,
		.stride = pkt->stride,
	};
	struct hcomm_txlane *tx;

	switch (f->type) {
	case HCOMM_FRAME_DATA:
		f->data.len *= pkt->run;
		hcomm_rxlane_receive(s, &f->data, &p);
		break;
	case HCOMM_FRAME_LANE_ACK:
		tx = xa_load(&s->txlanes, f->lane_ack.lane);
		if (tx)
			hcomm_txlane_acked(tx, &f->lane_ack, now);
		break;
	case HCOMM_FRAME_CREDIT:
		tx = xa_load(&s->txlanes, f->credit.lane);
		if (tx)
			hcomm_txlane_credit(tx, &f->credit);
		break;
	case HCOMM_FRAME_RESET:
		receive_reset(s, &f->reset);
		break;
	}
}

static void receive_frames(struct hcomm_session *s, struct hcomm_packet *pkt,
			   const struct hcomm_wire_session *h,
			   struct sk_buff *skb)
{
	u64 now = ktime_get_ns();
	struct hcomm_frame f;
	int err;

	while ((err = hcomm_wire_next(pkt, &f)) > 0) {
		bool known = s->state == HCOMM_SESSION_OPEN &&
			     h->src_inc == s->remote_inc &&
			     h->dst_inc == s->inc;

		if (f.type == HCOMM_FRAME_HELLO) {
			receive_hello(s, h, &f.hello);
		} else if (f.type == HCOMM_FRAME_HELLO_REPLY) {
			receive_hello_reply(s, h, &f.hello);
		} else if (known) {
			receive_frame(s, pkt, &f, skb, now);
		} else {
			/* One of us has restarted, and one does not know. */
			hcomm_count(s->hn, rx_incarnation);
			want_hello(s);
			break;
		}
	}
	if (err < 0)
		hcomm_count(s->hn, rx_malformed);
}

/* Whether there is something to say that cannot wait. */
static bool is_urgent(struct hcomm_session *s)
{
	u8 c;

	if (s->urgent || s->hello_wanted || s->reply_nonce || s->nr_notes)
		return true;
	for (c = 0; c < __HCOMM_CLASS_MAX; c++)
		if (!list_empty(&s->ready[c]))
			return true;
	return false;
}

/**
 * hcomm_session_receive - a SESSION frame arrived over a link
 * @link: link
 * @pkt: packet; its offset is behind the frame
 * @fr: the decoded frame
 * @skb: packet
 *
 * Context: softirq, under rcu_read_lock().
 */
void hcomm_session_receive(struct hcomm_link *link, struct hcomm_packet *pkt,
			   struct hcomm_frame *fr, struct sk_buff *skb)
{
	struct hcomm_wire_session h = fr->session;
	struct hcomm_packet body = *pkt;
	struct hcomm_net *hn = link->hn;
	struct hcomm_session *s;
	bool urgent;

	if (h.dst != READ_ONCE(hn->conf.node)) {
		hcomm_count(hn, rx_not_mine);
		return;
	}
	if (h.src != link->peer->node) {
		hcomm_count(hn, rx_wrong_node);
		return;
	}
	s = hcomm_session_get(hn, h.src);
	if (IS_ERR(s)) {
		hcomm_count(hn, rx_no_memory);
		return;
	}
	body.off = fr->payload;
	body.end = fr->payload + fr->payload_len;
	body.in_session = true;
	spin_lock(&s->lock);
	s->urgent = false;
	if (!s->dead)
		receive_frames(s, &body, &h, skb);
	urgent = is_urgent(s);
	spin_unlock(&s->lock);
	/* Acknowledgements alone wait for that of the link. */
	if (enqueue(s) == link && urgent)
		set_bit(0, &link->tx_again);
	else if (urgent)
		hcomm_timer_by(&hn->wheel, &s->timer, ktime_get_ns());
	hcomm_session_put(s);
}

static u64 session_rto(struct hcomm_session *s)
{
	u64 floor = max_t(u64, HCOMM_SESSION_RTO_MIN_MS,
			  READ_ONCE(s->hn->conf.retry_ms)) * NSEC_PER_MSEC;
	struct hcomm_link *link = rcu_dereference(s->route->active);

	/* The link finds losses itself: this is for what it cannot see. */
	return link ? 4 * hcomm_rtt_pto(&link->rtt, HCOMM_ACK_DELAY_NS,
					floor / 4) : floor;
}

static void session_timer(struct hcomm_timer *t)
{
	struct hcomm_session *s = container_of(t, struct hcomm_session, timer);
	u64 now = ktime_get_ns(), next = 0, at, rto = session_rto(s);
	struct hcomm_txlane *lane;
	unsigned long id;

	if (!refcount_inc_not_zero(&s->ref))
		return;
	spin_lock(&s->lock);
	if (!s->dead) {
		xa_for_each(&s->txlanes, id, lane) {
			at = hcomm_txlane_timer(lane, now, rto);
			if (at && (!next || at < next))
				next = at;
		}
		if (s->nonce || (s->state != HCOMM_SESSION_OPEN && next)) {
			want_hello(s);
			at = now + HCOMM_SESSION_HELLO_MS * NSEC_PER_MSEC;
			next = next ? min(next, at) : at;
		}
	}
	spin_unlock(&s->lock);
	hcomm_session_kick(s);
	if (next)
		hcomm_timer_by(&s->hn->wheel, &s->timer,
			       max(next, now + NSEC_PER_MSEC));
	hcomm_session_put(s);
}

/* The namespace goes: no session stays. */
void hcomm_session_flush(struct hcomm_net *hn)
{
	struct rhashtable_iter iter;
	struct hcomm_session *s;

	do {
		rhashtable_walk_enter(&hn->sessions, &iter);
		rhashtable_walk_start(&iter);
		while ((s = rhashtable_walk_next(&iter)) &&
		       (IS_ERR(s) || !refcount_inc_not_zero(&s->ref)))
			;
		rhashtable_walk_stop(&iter);
		rhashtable_walk_exit(&iter);
		if (s) {
			destroy(s, ENETDOWN);
			hcomm_session_put(s);
		}
	} while (s);
}
