// SPDX-License-Identifier: GPL-2.0
#include "flight.h"

#include <linux/slab.h>

#include "link.h"
#include "wire.h"

static struct kmem_cache *sent_cache;

int hcomm_flight_init(void)
{
	sent_cache = KMEM_CACHE(hcomm_sent, SLAB_ACCOUNT);
	return sent_cache ? 0 : -ENOMEM;
}

void hcomm_flight_exit(void)
{
	kmem_cache_destroy(sent_cache);
}

int hcomm_flight_create(struct hcomm_flight *fl)
{
	fl->ring = kcalloc(HCOMM_FLIGHT_MIN, sizeof(*fl->ring),
			   GFP_KERNEL_ACCOUNT);
	if (!fl->ring)
		return -ENOMEM;
	fl->mask = HCOMM_FLIGHT_MIN - 1;
	fl->next = 1;
	fl->base = 1;
	fl->reorder = HCOMM_REORDER_MIN;
	hcomm_ranges_init(&fl->lost);
	return 0;
}

void hcomm_flight_destroy(struct hcomm_flight *fl)
{
	kfree(fl->ring);
	fl->ring = NULL;
}

struct hcomm_sent *hcomm_sent_alloc(void)
{
	struct hcomm_sent *sent = kmem_cache_alloc(sent_cache, GFP_ATOMIC);

	if (sent) {
		sent->nr = 0;
		sent->session = NULL;
		sent->bytes = 0;
	}
	return sent;
}

void hcomm_sent_free(struct hcomm_sent *sent)
{
	kmem_cache_free(sent_cache, sent);
}

/* False: the packet carries as many things as can be remembered. */
bool hcomm_sent_add(struct hcomm_sent *sent, u8 kind, u32 lane, u64 off,
		    u32 len)
{
	struct hcomm_sent_item *i;

	if (sent->nr && kind == HCOMM_FRAME_DATA) {
		i = &sent->item[sent->nr - 1];
		if (i->kind == kind && i->lane == lane &&
		    i->off + i->len == off) {
			i->len += len;
			return true;
		}
	}
	if (sent->nr == HCOMM_SENT_ITEMS)
		return false;
	i = &sent->item[sent->nr++];
	i->kind = kind;
	i->lane = lane;
	i->off = off;
	i->len = len;
	return true;
}

u64 hcomm_flight_pn(struct hcomm_link *link)
{
	lockdep_assert_held(&link->lock);
	return link->flight.next++;
}

static bool grow(struct hcomm_flight *fl)
{
	u32 size = (fl->mask + 1) * 2;
	struct hcomm_sent **ring;
	u64 pn;

	ring = kcalloc(size, sizeof(*ring), GFP_ATOMIC | __GFP_NOWARN);
	if (!ring)
		return false;
	for (pn = fl->base; pn < fl->next; pn++)
		ring[pn & (size - 1)] = fl->ring[pn & fl->mask];
	kfree(fl->ring);
	fl->ring = ring;
	fl->mask = size - 1;
	return true;
}

/* Whether one more packet number can be remembered. */
bool hcomm_flight_room(struct hcomm_link *link)
{
	struct hcomm_flight *fl = &link->flight;
	u32 limit = READ_ONCE(link->hn->conf.tx_queue);

	lockdep_assert_held(&link->lock);
	if (fl->nr >= limit)
		return false;
	if (!fl->nr)
		fl->base = fl->next;
	/* Numbers without a record, of heartbeats, take a place as well. */
	if (fl->next - fl->base <= fl->mask)
		return true;
	return fl->mask + 1 < 4 * (u64)limit && grow(fl);
}

void hcomm_flight_add(struct hcomm_link *link, struct hcomm_sent *sent,
		      u64 now)
{
	struct hcomm_flight *fl = &link->flight;

	lockdep_assert_held(&link->lock);
	if (!fl->nr)
		fl->base = sent->pn;
	sent->time = now;
	fl->ring[sent->pn & fl->mask] = sent;
	fl->nr++;
	fl->last_sent = now;
	if (!link->transport->reliable)
		hcomm_cc_sent(&link->cc, sent->bytes, now);
}

/* Takes the packet out; NULL if nobody waits for it. */
static struct hcomm_sent *take(struct hcomm_flight *fl, u64 pn)
{
	struct hcomm_sent *sent;

	if (pn < fl->base || pn >= fl->next)
		return NULL;
	sent = fl->ring[pn & fl->mask];
	if (!sent || sent->pn != pn)
		return NULL;
	fl->ring[pn & fl->mask] = NULL;
	fl->nr--;
	return sent;
}

static void advance(struct hcomm_flight *fl)
{
	if (!fl->nr) {
		fl->base = fl->next;
		return;
	}
	while (!fl->ring[fl->base & fl->mask])
		fl->base++;
}

static void declare_lost(struct hcomm_link *link, struct hcomm_sent *sent,
			 u64 now, struct list_head *lost)
{
	struct hcomm_flight *fl = &link->flight;

	list_add_tail(&sent->node, lost);
	hcomm_ranges_add_forget(&fl->lost, sent->pn, sent->pn + 1);
	hcomm_loss_lost(&link->loss, now, sent->pn);
	hcomm_cc_lost(&link->cc, now, sent->bytes, sent->time);
	link->cnt.lost_packets++;
}

/* RFC 9002 section 6.1: by number and by time. */
static void detect(struct hcomm_link *link, u64 now, struct list_head *lost)
{
	struct hcomm_flight *fl = &link->flight;
	u64 delay = hcomm_rtt_loss_delay(&link->rtt), pn;
	struct hcomm_sent *sent;

	fl->loss_at = 0;
	if (link->transport->reliable || !fl->nr)
		return;
	for (pn = fl->base; pn < fl->largest; pn++) {
		sent = fl->ring[pn & fl->mask];
		if (!sent)
			continue;
		if (pn + fl->reorder < fl->largest ||
		    sent->time + delay <= now) {
			declare_lost(link, take(fl, pn), now, lost);
		} else {
			fl->loss_at = sent->time + delay;
			break;
		}
	}
	advance(fl);
}

/*
 * A packet that was declared lost came after all: it was overtaken, so that
 * more must overtake before the next one counts as lost.
 */
static void spurious(struct hcomm_link *link, u64 start, u64 end, u64 now)
{
	struct hcomm_flight *fl = &link->flight;
	struct hcomm_ranges *s = &fl->lost;
	u64 from, to, n = 0;
	u16 i;

	for (i = 0; i < s->nr; i++) {
		from = max(s->r[i].start, start);
		to = min(s->r[i].end, end);
		if (from < to) {
			n += to - from;
			fl->reorder = clamp_t(u64, fl->largest - from,
					      fl->reorder, HCOMM_REORDER_MAX);
		}
	}
	if (!n)
		return;
	hcomm_ranges_del_forget(s, start, end);
	hcomm_loss_spurious(&link->loss, now, n);
	hcomm_cc_spurious(&link->cc, n);
	link->cnt.spurious_packets += n;
}

/**
 * hcomm_flight_ack - the peer says what it received
 * @link: link; its lock is held
 * @a: decoded acknowledgement
 * @now: time
 * @acked: packets that arrived are added here
 * @lost: packets that did not are added here
 */
void hcomm_flight_ack(struct hcomm_link *link, const struct hcomm_wire_ack *a,
		      u64 now, struct list_head *acked, struct list_head *lost)
{
	struct hcomm_flight *fl = &link->flight;
	bool limited = !hcomm_cc_may_send(&link->cc, link->cc.mss);
	u64 largest = a->r[0].end, newest = 0, pn;
	struct hcomm_sent *sent;
	u32 n = 0;
	u16 i;

	lockdep_assert_held(&link->lock);
	/* What was never sent cannot have arrived. */
	if (largest > fl->next)
		return;
	for (i = 0; i < a->nr; i++) {
		u64 end = a->r[i].end;

		spurious(link, a->r[i].start, end, now);
		if (end <= fl->base)
			break;
		for (pn = max(a->r[i].start, fl->base); pn < end; pn++) {
			sent = take(fl, pn);
			if (!sent)
				continue;
			n++;
			list_add_tail(&sent->node, acked);
			if (pn + 1 == largest)
				newest = sent->time;
			if (!link->transport->reliable)
				hcomm_cc_acked(&link->cc, now, sent->bytes,
					       sent->time, &link->rtt, limited);
		}
	}
	if (!n)
		return;
	if (largest > fl->largest)
		fl->largest = largest;
	if (newest && now > newest)
		hcomm_rtt_sample(&link->rtt, now, now - newest,
				 (u64)a->delay * NSEC_PER_USEC,
				 HCOMM_ACK_DELAY_NS);
	advance(fl);
	fl->ptos = 0;
	link->pmtu.timeouts = 0;
	if (!link->transport->reliable)
		hcomm_loss_acked(&link->loss, now, n);
	hcomm_beat_proof(link, now);
	detect(link, now, lost);
}

static u64 pto_at(struct hcomm_link *link)
{
	struct hcomm_flight *fl = &link->flight;
	u64 floor = (u64)READ_ONCE(link->hn->conf.retry_ms) * NSEC_PER_MSEC;
	u64 pto = hcomm_rtt_pto(&link->rtt, HCOMM_ACK_DELAY_NS, floor);

	return fl->last_sent + (pto << min(fl->ptos, 6u));
}

/*
 * Nothing was heard for a probe timeout: the oldest two packets are sent
 * again as probes. They are not declared lost (RFC 9002 section 6.2).
 */
static void probe(struct hcomm_link *link, u64 now, struct list_head *lost)
{
	struct hcomm_flight *fl = &link->flight;
	u32 n = 0;
	u64 pn;

	for (pn = fl->base; pn < fl->next && n < 2; pn++) {
		struct hcomm_sent *sent = take(fl, pn);

		if (!sent)
			continue;
		hcomm_cc_discarded(&link->cc, sent->bytes);
		list_add_tail(&sent->node, lost);
		n++;
	}
	advance(fl);
	fl->ptos++;
	fl->probes = 2;
	fl->last_sent = now;
	link->cnt.ptos++;
	if (fl->ptos == 3)
		hcomm_cc_persistent(&link->cc);
}

/**
 * hcomm_flight_timer - find out which packets are overdue
 * @link: link; its lock is held
 * @now: time
 * @lost: packets to be sent again are added here
 *
 * Return: when to call again, 0: not before something is sent.
 */
u64 hcomm_flight_timer(struct hcomm_link *link, u64 now,
		       struct list_head *lost)
{
	struct hcomm_flight *fl = &link->flight;

	lockdep_assert_held(&link->lock);
	if (!fl->nr || link->transport->reliable)
		return 0;
	if (fl->loss_at && fl->loss_at <= now)
		detect(link, now, lost);
	if (fl->loss_at)
		return fl->loss_at;
	if (!fl->nr)
		return 0;
	if (pto_at(link) <= now) {
		probe(link, now, lost);
		if (++link->pmtu.timeouts >= HCOMM_PMTU_BLACK_HOLE)
			hcomm_pmtu_black_hole(link, now);
	}
	return pto_at(link);
}

/* The link cannot be used: all that is on its way goes another way. */
void hcomm_flight_abandon(struct hcomm_link *link, struct list_head *lost)
{
	struct hcomm_flight *fl = &link->flight;
	struct hcomm_sent *sent;
	u64 pn;

	lockdep_assert_held(&link->lock);
	for (pn = fl->base; fl->nr && pn < fl->next; pn++) {
		sent = take(fl, pn);
		if (!sent)
			continue;
		if (!link->transport->reliable)
			hcomm_cc_discarded(&link->cc, sent->bytes);
		list_add_tail(&sent->node, lost);
	}
	fl->base = fl->next;
	fl->loss_at = 0;
	fl->ptos = 0;
	fl->probes = 0;
	hcomm_ranges_init(&fl->lost);
}

/* The transport did not take the batch: nothing of it was sent. */
void hcomm_flight_take_back(struct hcomm_link *link, struct hcomm_batch *b,
			    struct list_head *lost)
{
	struct hcomm_flight *fl = &link->flight;
	struct hcomm_sent *sent;
	u16 i;

	lockdep_assert_held(&link->lock);
	for (i = 0; i < b->nr_seg; i++) {
		/* An event may have abandoned them in the meantime. */
		if (!b->sent[i] || !take(fl, b->seg_pn[i]))
			continue;
		sent = b->sent[i];
		if (!link->transport->reliable)
			hcomm_cc_discarded(&link->cc, sent->bytes);
		list_add_tail(&sent->node, lost);
		hcomm_count(link->hn, tx_unsent);
	}
	advance(fl);
}

/* Hands the packets up and frees them. Called with no lock of a link held. */
void hcomm_flight_finish(struct list_head *acked, struct list_head *lost)
{
	struct hcomm_sent *sent, *next;

	if (lost)
		list_for_each_entry_safe(sent, next, lost, node) {
			hcomm_link_upper->lost(sent);
			hcomm_link_upper->done(sent);
			hcomm_sent_free(sent);
		}
	if (acked)
		list_for_each_entry_safe(sent, next, acked, node) {
			hcomm_link_upper->done(sent);
			hcomm_sent_free(sent);
		}
}
