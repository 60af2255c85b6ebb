// SPDX-License-Identifier: GPL-2.0
/*
 * Departing packets. Whoever gets tx_lock by trylock builds and sends for
 * all; who does not get it leaves tx_again set and goes on, and the owner looks
 * again before it leaves. So nobody waits for another's packets to be built.
 */
#include "link.h"

#include <linux/mm.h>

#include "batch.h"
#include "peer.h"
#include "trace.h"
#include "wire.h"

enum {
	ROUNDS_IN_SOFTIRQ = 64,
	SEGS_WITHOUT_GSO = 16,
};

static void put_link_header(struct hcomm_link *link, u8 *p, u8 flags, u64 pn,
			    bool tagged)
{
	struct hcomm_wire_link h = {
		.flags = flags, .pn = pn, .link = link->id,
		.tag = tagged ? link->tag : 0,
	};

	hcomm_wire_put_link(p, &h);
}

/* Takes the pending acknowledgement, if there is one. */
static bool take_ack(struct hcomm_link *link, struct hcomm_wire_ack *a, u64 now)
{
	struct hcomm_ranges *s = &link->rx_pns;
	u16 i;

	lockdep_assert_held(&link->lock);
	if (!link->ack_wanted || !s->nr) {
		link->ack_now = false;
		return false;
	}
	a->nr = min_t(u16, s->nr, HCOMM_WIRE_ACK_RANGES);
	for (i = 0; i < a->nr; i++) {
		a->r[i].start = s->r[s->nr - 1 - i].start;
		a->r[i].end = s->r[s->nr - 1 - i].end;
		/* The wire has 32 bits for a range and for a gap. */
		if (a->r[i].end - a->r[i].start > U32_MAX) {
			a->r[i].start = a->r[i].end - U32_MAX;
			a->nr = i + 1;
		}
		if (i && a->r[i - 1].start - a->r[i].end > U32_MAX)
			a->nr = i;
	}
	/* It may have arrived since @now was taken. */
	a->delay = now > link->rx_largest_at ?
		min_t(u64, div_u64(now - link->rx_largest_at, NSEC_PER_USEC),
		      U32_MAX) : 0;
	link->ack_wanted = false;
	link->ack_now = false;
	link->ack_at = 0;
	link->rx_unacked = 0;
	return true;
}

static void put_ack(struct hcomm_batch *b, struct hcomm_wire_ack *a)
{
	u8 *p;

	while (hcomm_wire_ack_size(a->nr) > b->room && a->nr > 1)
		a->nr--;
	p = hcomm_batch_head(b, hcomm_wire_ack_size(a->nr));
	if (p)
		hcomm_wire_put_ack(p, a);
}

/* The most urgent sender that waits, with its link reference. */
static struct hcomm_sender *first_ready(struct hcomm_link *link)
{
	struct hcomm_sender *s = NULL;
	int i;

	spin_lock(&link->ready_lock);
	for (i = 0; i < __HCOMM_CLASS_MAX && !s; i++)
		s = list_first_entry_or_null(&link->ready[i],
					     struct hcomm_sender, node);
	if (s) {
		list_del_init(&s->node);
		s->link = NULL;
	}
	spin_unlock(&link->ready_lock);
	return s;
}

/**
 * hcomm_link_ready - a sender has something for a link
 * @link: link
 * @sender: may be waiting already, here or elsewhere
 * @class: how urgent
 *
 * The sender is an object under RCU; whoever frees it calls
 * hcomm_link_unready() first.
 */
void hcomm_link_ready(struct hcomm_link *link, struct hcomm_sender *sender,
		      u8 class)
{
	if (READ_ONCE(sender->link) == link && READ_ONCE(sender->class) <= class)
		return;
	hcomm_link_unready(sender);
	spin_lock_bh(&link->ready_lock);
	/* Two may come here at once; the first has put it in. */
	if (!sender->link) {
		sender->link = link;
		sender->class = class;
		list_add_tail(&sender->node, &link->ready[class]);
	}
	spin_unlock_bh(&link->ready_lock);
}

void hcomm_link_unready(struct hcomm_sender *sender)
{
	struct hcomm_link *link;

	rcu_read_lock();
	while ((link = READ_ONCE(sender->link))) {
		spin_lock_bh(&link->ready_lock);
		if (sender->link == link) {
			list_del_init(&sender->node);
			sender->link = NULL;
		}
		spin_unlock_bh(&link->ready_lock);
	}
	rcu_read_unlock();
}

/* Nobody waits for this link any more. */
void hcomm_link_ready_flush(struct hcomm_link *link)
{
	struct hcomm_sender *s;

	do {
		local_bh_disable();
		s = first_ready(link);
		local_bh_enable();
	} while (s);
}

/*
 * How many bytes of data, in packets of @mtu, the window and the pacer let go
 * now; sets pace_at if it is the pacer that forbids it.
 */
static u32 data_budget(struct hcomm_link *link, u32 mtu, u64 now)
{
	u32 packets = hcomm_flight_room(link), bytes;
	u64 rate, wait;

	lockdep_assert_held(&link->lock);
	bytes = min_t(u32, packets, HCOMM_BATCH_SEGS) * mtu;
	if (!bytes)
		return 0;
	if (link->transport->reliable)
		return !link->transport->room || link->transport->room(link) ?
			bytes : 0;
	if (link->flight.probes)
		return link->flight.probes * mtu;
	bytes = min_t(u64, bytes, hcomm_cc_room(&link->cc));
	if (bytes < mtu || !link->rtt.samples)
		return bytes < mtu ? 0 : bytes;
	rate = hcomm_cc_pacing_rate(&link->cc, &link->rtt);
	/* The wheel turns once a millisecond: let that much go at once. */
	wait = hcomm_pacer_delay(&link->pacer, now, rate,
				 max_t(u64, HCOMM_BATCH_BYTES,
				       div_u64(rate, 500)));
	if (!wait)
		return bytes;
	link->pace_at = now + wait;
	return 0;
}

enum { MAX_PARKED = 16 };

struct build {
	struct hcomm_sender *sender;	/* whose turn it is */
	struct hcomm_sender *parked[MAX_PARKED]; /* have data, no window */
	u32 nr_parked;
	bool blocked;			/* window or pacer: no data now */
	bool got_ack;			/* the acknowledgement is in */
};

static bool next_sender(struct hcomm_link *link, struct build *st)
{
	if (!st->sender)
		st->sender = first_ready(link);
	return st->sender;
}

/* Lets senders put what they have into the packet, until one did. */
static void fill_seg(struct hcomm_link *link, struct hcomm_batch *b,
		     struct build *st, struct hcomm_sent *sent, bool data_ok)
{
	while (!sent->items && next_sender(link, st)) {
		if (!hcomm_link_upper->fill(link, st->sender, b, sent,
					    data_ok)) {
			st->sender = NULL;
			continue;
		}
		if (sent->items)
			break;
		/* It has data only, and the window is shut: see the next. */
		if (data_ok || st->nr_parked == MAX_PARKED)
			break;
		st->parked[st->nr_parked++] = st->sender;
		st->sender = NULL;
	}
}

/* Builds one packet at the end of the batch; NULL: there is nothing. */
static struct hcomm_sent *build_seg(struct hcomm_link *link,
				    struct hcomm_batch *b, struct build *st,
				    u8 **head, u64 now)
{
	struct hcomm_wire_ack ack;
	struct hcomm_sent *sent;
	bool has_ack = false, slot;
	u32 mtu = link->mtu;

	if (b->nr_seg >= SEGS_WITHOUT_GSO && !link->gso_on)
		return NULL;
	if (!hcomm_batch_open(b, mtu))
		return NULL;
	sent = hcomm_sent_alloc();
	if (!sent) {
		hcomm_count(link->hn, tx_no_memory);
		return NULL;
	}
	*head = hcomm_batch_head(b, HCOMM_WIRE_LINK_LEN);
	spin_lock(&link->lock);
	st->blocked = !data_budget(link, mtu, now);
	slot = hcomm_flight_slot(link);
	if (!st->got_ack)
		has_ack = take_ack(link, &ack, now);
	spin_unlock(&link->lock);
	if (has_ack) {
		put_ack(b, &ack);
		st->got_ack = true;
	}
	if (slot)
		fill_seg(link, b, st, sent, !st->blocked);
	if (sent->items || has_ack)
		return sent;
	hcomm_sent_free(sent);
	hcomm_batch_drop(b);
	return NULL;
}

/* Packets are ready: note them as in flight. */
static void commit(struct hcomm_link *link, struct hcomm_sent *sent, u32 nr,
		   u32 bytes, u64 now)
{
	struct hcomm_flight *fl = &link->flight;

	lockdep_assert_held(&link->lock);
	if (sent) {
		hcomm_flight_add(link, sent, now);
		fl->probes -= min(fl->probes, nr);
	}
	if (!link->transport->reliable && link->rtt.samples)
		hcomm_pacer_sent(&link->pacer, now,
				 hcomm_cc_pacing_rate(&link->cc, &link->rtt),
				 bytes);
	link->cnt.tx_packets += nr;
	link->cnt.tx_bytes += bytes;
}

static void commit_seg(struct hcomm_link *link, struct hcomm_batch *b,
		       struct hcomm_sent *sent, u8 *head, u64 now)
{
	u64 pn;

	/* An acknowledgement alone: nobody waits for its fate. */
	if (!sent->items) {
		hcomm_sent_free(sent);
		sent = NULL;
	}
	spin_lock(&link->lock);
	pn = hcomm_flight_pns(link, 1);
	if (sent) {
		sent->pn = pn;
		sent->nr = 1;
		sent->bytes = b->open_len;
		sent->seg_len = b->open_len;
	}
	commit(link, sent, 1, b->open_len, now);
	spin_unlock(&link->lock);
	put_link_header(link, head, b->class, pn, true);
	b->flags = head + 1;
	if (sent)
		hcomm_batch_note(b, sent, pn);
	hcomm_count(link->hn, tx_packets);
	hcomm_batch_close(b);
}

/*
 * Adds as many packets as there can be of a message that lies in memory as it
 * goes out, headers and all; false: there is none.
 */
static bool build_train(struct hcomm_link *link, struct hcomm_batch *b,
			struct build *st, u64 now)
{
	u8 head[HCOMM_WIRE_PLAIN_LEN];
	u32 mtu = link->mtu, max;
	struct hcomm_sent *sent;

	max = hcomm_batch_room(b, mtu);
	if (!link->gso_on)
		max = b->nr_seg ? 0 : min_t(u32, max, SEGS_WITHOUT_GSO);
	if (max < 2 || !next_sender(link, st))
		return false;
	spin_lock(&link->lock);
	max = min(max, data_budget(link, mtu, now) / mtu);
	spin_unlock(&link->lock);
	if (max < 2)
		return false;
	sent = hcomm_sent_alloc();
	if (!sent)
		return false;
	put_link_header(link, head, b->class, 0, true);
	sent->seg_len = mtu;
	if (!hcomm_link_upper->train(link, st->sender, b, sent, head, max,
				     now)) {
		hcomm_sent_free(sent);
		return false;
	}
	hcomm_batch_note(b, sent, sent->pn);
	hcomm_count_add(link->hn, tx_packets, (u32)sent->nr);
	spin_lock(&link->lock);
	commit(link, sent, sent->nr, sent->bytes, now);
	spin_unlock(&link->lock);
	return true;
}

static void build_batch(struct hcomm_link *link, struct hcomm_batch *b,
			struct build *st, u64 now)
{
	struct hcomm_sent *sent;
	bool more;
	u8 *head;

	do {
		while (build_train(link, b, st, now))
			;
		/* What else there is, and what cannot go in a train. */
		sent = build_seg(link, b, st, &head, now);
		if (!sent)
			break;
		more = st->sender && !st->blocked && hcomm_batch_pad(b);
		commit_seg(link, b, sent, head, now);
	} while (more);
}

/* Asks for an acknowledgement at once where the sender will wait for it. */
static void want_ack_now(struct hcomm_link *link, struct hcomm_batch *b,
			 const struct build *st)
{
	if (b->nr_sent && ((st->blocked && (st->sender || st->nr_parked)) ||
			   link->flight.ptos))
		*b->flags |= HCOMM_LINK_F_ACK_NOW;
}

/* The transport did not take the batch: all of it is to be sent again. */
static void take_back(struct hcomm_link *link, struct hcomm_batch *b, int err,
		      struct list_head *lost)
{
	u64 now = ktime_get_ns();

	spin_lock(&link->lock);
	hcomm_flight_take_back(link, b, lost);
	link->cnt.tx_errors++;
	/* The acknowledgement that was in it is still to be sent. */
	link->ack_wanted = true;
	link->ack_at = now + NSEC_PER_MSEC;
	if (err == -ENOBUFS && !link->transport->reliable) {
		hcomm_cc_local_drop(&link->cc);
	} else if (err == -EMSGSIZE) {
		hcomm_pmtu_too_big(link, now);
	} else if (err == -EIO && link->gso_on &&
		   link->gso_mode == HCOMM_GSO_AUTO) {
		link->gso_on = false;
		link->gso_reason = "the device or path cannot send batches";
		link->cnt.gso_fallbacks++;
		hcomm_count(link->hn, gso_fallbacks);
	}
	link->pace_at = now + NSEC_PER_MSEC;
	WRITE_ONCE(link->tx_hold, link->pace_at);
	spin_unlock(&link->lock);
	hcomm_count(link->hn, tx_errors);
}

/*
 * What becomes of the link. Others may be told to send by it, here: the batch
 * of this CPU was given back before.
 */
static void send_failed(struct hcomm_link *link, int err, bool gso_was_on)
{
	switch (gso_was_on && !link->gso_on ? -EAGAIN : err) {
	case -EAGAIN:
	case -ENOBUFS:
	case -ENOMEM:
	case -EMSGSIZE:
		hcomm_timer_by(&link->hn->wheel, &link->timer,
			       ktime_get_ns());
		break;
	default:
		hcomm_link_event(link, HCOMM_LINK_EV_TX_ERROR);
		hcomm_link_event(link, HCOMM_LINK_EV_RETRY);
	}
}

static void arm(struct hcomm_link *link)
{
	u64 at = U64_MAX;

	spin_lock(&link->lock);
	/* Early is fine: the timer finds out what is due. */
	if (link->flight.nr)
		at = link->flight.last_sent +
		     (u64)READ_ONCE(link->hn->conf.retry_ms) * NSEC_PER_MSEC;
	if (link->flight.loss_at)
		at = min(at, link->flight.loss_at);
	if (link->pace_at)
		at = min(at, link->pace_at);
	spin_unlock(&link->lock);
	if (at != U64_MAX)
		hcomm_timer_by(&link->hn->wheel, &link->timer, at);
}

/* Whoever was told of another link meanwhile waits there. */
static void wait_again(struct hcomm_link *link, struct hcomm_sender *s)
{
	if (!READ_ONCE(s->link) && hcomm_link_usable(link))
		hcomm_link_ready(link, s, s->class);
}

/* Those who still have something wait again. */
static void unpark(struct hcomm_link *link, struct build *st)
{
	u32 i;

	if (st->sender)
		wait_again(link, st->sender);
	for (i = 0; i < st->nr_parked; i++)
		wait_again(link, st->parked[i]);
}

/* An event may have emptied the flight while the batch was built into it. */
static bool still_usable(struct hcomm_link *link)
{
	LIST_HEAD(lost);

	spin_lock(&link->lock);
	if (!hcomm_link_usable(link))
		hcomm_flight_abandon(link, &lost);
	spin_unlock(&link->lock);
	hcomm_flight_finish(NULL, &lost);
	return hcomm_link_usable(link);
}

static int hand_over(struct hcomm_link *link, struct hcomm_batch *b)
{
	if (!b->nr_seg)
		return 0;
	trace_hcomm_link_send(link, b);
	return link->transport->send(link, b);
}

/* Sends one batch; true: there may be more. */
static bool send_batch(struct hcomm_link *link)
{
	struct hcomm_batch *b = hcomm_batch_get(HCOMM_CLASS_BULK);
	bool more, usable, gso_on = link->gso_on;
	u64 now = ktime_get_ns();
	struct build st = {};
	LIST_HEAD(lost);
	int err = 0;

	lockdep_assert_held(&link->tx_lock);
	if (!b) {
		set_bit(0, &link->tx_again);
		WRITE_ONCE(link->tx_hold, now + NSEC_PER_MSEC);
		return false;
	}
	build_batch(link, b, &st, now);
	want_ack_now(link, b, &st);
	unpark(link, &st);
	usable = still_usable(link);
	if (usable)
		err = hand_over(link, b);
	if (err)
		take_back(link, b, err, &lost);
	more = usable && !err && b->nr_seg && st.sender && !st.blocked;
	hcomm_batch_end(b);
	if (err) {
		hcomm_flight_finish(NULL, &lost);
		send_failed(link, err, gso_on);
	} else if (usable) {
		arm(link);
	}
	return more;
}

/**
 * hcomm_link_kick - send what there is to send
 * @link: link
 *
 * Context: any but with a lock from hcomm_session.lock inwards held. Under
 * rcu_read_lock() or with a reference of the link.
 */
void hcomm_link_kick(struct hcomm_link *link)
{
	int rounds = in_serving_softirq() ? ROUNDS_IN_SOFTIRQ : INT_MAX;
	bool more;

	set_bit(0, &link->tx_again);
	rcu_read_lock();
	/* Pairs with the owner's test after it released the lock. */
	smp_mb__after_atomic();
	while (test_bit(0, &link->tx_again)) {
		if (!hcomm_link_usable(link)) {
			clear_bit(0, &link->tx_again);
			break;
		}
		/* A full queue needs time, not another attempt. */
		if (READ_ONCE(link->tx_hold) > ktime_get_ns()) {
			hcomm_timer_by(&link->hn->wheel, &link->timer,
				       READ_ONCE(link->tx_hold));
			break;
		}
		if (!spin_trylock_bh(&link->tx_lock))
			break;
		clear_bit(0, &link->tx_again);
		/* What was queued before the flag was set is seen below. */
		smp_mb__after_atomic();
		do {
			more = send_batch(link);
		} while (more && --rounds > 0);
		spin_unlock_bh(&link->tx_lock);
		if (rounds <= 0) {
			spin_lock_bh(&link->lock);
			link->pace_at = ktime_get_ns();
			spin_unlock_bh(&link->lock);
			hcomm_timer_by(&link->hn->wheel, &link->timer,
				       ktime_get_ns());
			break;
		}
		/* The lock is free before the flag is looked at again. */
		smp_mb();
	}
	rcu_read_unlock();
}

/**
 * hcomm_link_send_control - send a link frame in a packet of its own, at once
 * @link: link
 * @type: BEAT, BEAT_REPLY, PROBE, PROBE_REPLY or LINK_DOWN
 * @frame: the struct hcomm_wire_* that belongs to @type
 * @pad: length that the packet is filled up to, 0: none
 *
 * It passes by the window and everything that waits.
 */
int hcomm_link_send_control(struct hcomm_link *link, u8 type, const void *frame,
			    u32 pad)
{
	bool beat = type == HCOMM_FRAME_BEAT || type == HCOMM_FRAME_BEAT_REPLY;
	u32 len = HCOMM_WIRE_LINK_LEN + HCOMM_WIRE_FRAME_LEN;
	struct hcomm_batch *b;
	u8 *head, *p;
	bool tagged;
	u64 pn = 0;
	int err = -ENETDOWN;

	local_bh_disable();
	rcu_read_lock();
	/* What it is sent through stays for a grace period after this is set. */
	if (READ_ONCE(link->dead))
		goto out;
	b = hcomm_batch_get(HCOMM_CLASS_CONTROL);
	if (!b) {
		err = -EAGAIN;
		goto out;
	}
	len += beat ? HCOMM_WIRE_BEAT_LEN : HCOMM_WIRE_PROBE_LEN;
	hcomm_batch_open(b, max(len, pad));
	head = hcomm_batch_head(b, HCOMM_WIRE_LINK_LEN);
	p = hcomm_batch_head(b, len - HCOMM_WIRE_LINK_LEN);
	spin_lock(&link->lock);
	tagged = link->tag;
	if (tagged)
		pn = hcomm_flight_pns(link, 1);
	spin_unlock(&link->lock);
	put_link_header(link, head, HCOMM_CLASS_CONTROL, pn, tagged);
	if (beat)
		hcomm_wire_put_beat(p, type, frame);
	else
		hcomm_wire_put_probe(p, type, frame);
	if (pad > len) {
		u32 left = pad - len;

		while (left) {
			u32 n = min_t(u32, left, PAGE_SIZE);

			if (!hcomm_batch_pages(b, ZERO_PAGE(0), 0, n))
				break;
			left -= n;
		}
	}
	hcomm_batch_close(b);
	err = link->transport->send(link, b);
	hcomm_batch_end(b);
	if (!err) {
		spin_lock(&link->lock);
		link->cnt.tx_packets++;
		link->cnt.tx_bytes += b->bytes;
		spin_unlock(&link->lock);
		hcomm_count(link->hn, tx_packets);
	}
out:
	rcu_read_unlock();
	local_bh_enable();
	return err;
}
