// SPDX-License-Identifier: GPL-2.0
#include "flight.h"

#include <linux/slab.h>

#include "batch.h"
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
	fl->slot = kcalloc(HCOMM_FLIGHT_MIN, sizeof(*fl->slot),
			   GFP_KERNEL_ACCOUNT);
	if (!fl->slot)
		return -ENOMEM;
	fl->mask = HCOMM_FLIGHT_MIN - 1;
	fl->next = 1;
	fl->reorder = HCOMM_REORDER_MIN;
	hcomm_ranges_init(&fl->lost);
	return 0;
}

void hcomm_flight_destroy(struct hcomm_flight *fl)
{
	kfree(fl->slot);
	fl->slot = NULL;
}

struct hcomm_sent *hcomm_sent_alloc(void)
{
	struct hcomm_sent *sent = kmem_cache_alloc(sent_cache, GFP_ATOMIC);

	if (sent) {
		sent->items = 0;
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

	if (sent->items && kind == HCOMM_FRAME_DATA) {
		i = &sent->item[sent->items - 1];
		if (i->kind == kind && i->lane == lane &&
		    i->off + i->len == off) {
			i->len += len;
			return true;
		}
	}
	if (sent->items == HCOMM_SENT_ITEMS)
		return false;
	i = &sent->item[sent->items++];
	i->kind = kind;
	i->lane = lane;
	i->off = off;
	i->len = len;
	return true;
}

/* Bits of the packets [@from, @to) of a record, as far as it has them. */
static u64 packet_bits(const struct hcomm_sent *sent, u64 from, u64 to)
{
	u64 end = sent->pn + sent->nr;

	from = max(from, sent->pn);
	to = min(to, end);
	if (from >= to)
		return 0;
	return GENMASK_ULL(to - sent->pn - 1, from - sent->pn);
}

static u32 packet_bytes(const struct hcomm_sent *sent, u64 bits)
{
	u32 n = hweight64(bits) * sent->seg_len;

	/* The last one is the rest. */
	if (bits >> (sent->nr - 1) & 1)
		n -= sent->nr * sent->seg_len - sent->bytes;
	return n;
}

/* The next @nr packet numbers; returns the first. */
u64 hcomm_flight_pns(struct hcomm_link *link, u32 nr)
{
	u64 pn = link->flight.next;

	lockdep_assert_held(&link->lock);
	link->flight.next += nr;
	return pn;
}

static bool grow(struct hcomm_flight *fl)
{
	u32 size = (fl->mask + 1) * 2, i;
	struct hcomm_flight_slot *slot;

	slot = kcalloc(size, sizeof(*slot), GFP_ATOMIC | __GFP_NOWARN);
	if (!slot)
		return false;
	for (i = fl->first; i != fl->end; i++)
		slot[i & (size - 1)] = fl->slot[i & fl->mask];
	kfree(fl->slot);
	fl->slot = slot;
	fl->mask = size - 1;
	return true;
}

static bool has_slot(struct hcomm_flight *fl, u32 limit)
{
	return fl->end - fl->first <= fl->mask ||
	       (fl->mask + 1 < 4 * (u64)limit && grow(fl));
}

/*
 * Whether one more record can be remembered. What is short and urgent passes by
 * the window, but not by the memory for it.
 */
bool hcomm_flight_slot(struct hcomm_link *link)
{
	u32 limit = READ_ONCE(link->hn->conf.tx_queue);

	lockdep_assert_held(&link->lock);
	return link->flight.nr < 2 * limit && has_slot(&link->flight, limit);
}

/* How many packets with data more may be out. */
u32 hcomm_flight_room(struct hcomm_link *link)
{
	struct hcomm_flight *fl = &link->flight;
	u32 limit = READ_ONCE(link->hn->conf.tx_queue);

	lockdep_assert_held(&link->lock);
	if (fl->nr >= limit || !has_slot(fl, limit))
		return 0;
	return limit - fl->nr;
}

/* Packets were sent; hcomm_flight_slot() had a place for the record. */
void hcomm_flight_add(struct hcomm_link *link, struct hcomm_sent *sent,
		      u64 now)
{
	struct hcomm_flight *fl = &link->flight;
	struct hcomm_flight_slot *slot = &fl->slot[fl->end++ & fl->mask];

	lockdep_assert_held(&link->lock);
	WARN_ON_ONCE(fl->end - fl->first > fl->mask + 1);
	sent->time = now;
	sent->left = packet_bits(sent, 0, U64_MAX);
	slot->end = sent->pn + sent->nr;
	slot->sent = sent;
	fl->nr += sent->nr;
	fl->last_sent = now;
	if (!link->transport->reliable)
		hcomm_cc_sent(&link->cc, sent->bytes, now);
}

/* The first slot whose packet numbers end above @pn. */
static u32 find_slot(const struct hcomm_flight *fl, u64 pn)
{
	u32 lo = 0, hi = fl->end - fl->first;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (fl->slot[(fl->first + mid) & fl->mask].end <= pn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return fl->first + lo;
}

static void advance(struct hcomm_flight *fl)
{
	while (fl->first != fl->end && !fl->slot[fl->first & fl->mask].sent)
		fl->first++;
}

/*
 * Some packets of a slot are to be sent again: they go to a list, in a record
 * of their own if others of the train are still out. Without memory for one
 * all go, which does no harm.
 */
static void settle(struct hcomm_flight *fl, struct hcomm_flight_slot *slot,
		   u64 bits, struct list_head *list)
{
	struct hcomm_sent *sent = slot->sent, *part = NULL;

	if (bits != sent->left)
		part = hcomm_sent_alloc();
	if (part) {
		*part = *sent;
		part->left = bits;
		hcomm_link_upper->copied(part);
		sent->left &= ~bits;
		fl->nr -= hweight64(bits);
		list_add_tail(&part->node, list);
		return;
	}
	fl->nr -= hweight64(sent->left);
	slot->sent = NULL;
	list_add_tail(&sent->node, list);
}

static void declare_lost(struct hcomm_link *link,
			 struct hcomm_flight_slot *slot, u64 bits, u64 now,
			 struct list_head *lost)
{
	struct hcomm_flight *fl = &link->flight;
	struct hcomm_sent *sent = slot->sent;
	u64 left = sent->left, sent_at = sent->time;
	u64 pn = sent->pn;
	u32 bytes = packet_bytes(sent, bits);
	u32 others;
	u8 i;

	for (i = 0; i < sent->nr; i++) {
		if (!(bits >> i & 1))
			continue;
		hcomm_ranges_add_forget(&fl->lost, pn + i, pn + i + 1);
		hcomm_loss_lost(&link->loss, now, pn + i);
		link->cnt.lost_packets++;
	}
	others = packet_bytes(sent, left & ~bits);
	settle(fl, slot, bits, lost);
	hcomm_cc_lost(&link->cc, now, bytes, sent_at);
	if (!slot->sent && others)
		hcomm_cc_discarded(&link->cc, others);
}

/* RFC 9002 section 6.1: by number and by time. */
static void detect(struct hcomm_link *link, u64 now, struct list_head *lost)
{
	struct hcomm_flight *fl = &link->flight;
	u64 delay = hcomm_rtt_loss_delay(&link->rtt), bits;
	struct hcomm_flight_slot *slot;
	u32 i;

	fl->loss_at = 0;
	if (link->transport->reliable)
		return;
	for (i = fl->first; i != fl->end; i++) {
		u64 before = fl->largest;

		slot = &fl->slot[i & fl->mask];
		if (!slot->sent)
			continue;
		if (slot->sent->pn >= fl->largest)
			break;
		if (slot->sent->time + delay > now)
			before = fl->largest > fl->reorder ?
				 fl->largest - fl->reorder : 0;
		bits = packet_bits(slot->sent, 0, before) & slot->sent->left;
		if (bits)
			declare_lost(link, slot, bits, now, lost);
		/* What was overtaken, but not by enough yet. */
		if (slot->sent &&
		    packet_bits(slot->sent, 0, fl->largest) &
		    slot->sent->left) {
			fl->loss_at = slot->sent->time + delay;
			break;
		}
	}
	advance(fl);
}

/*
 * A packet that was declared lost came after all: it was overtaken, so that
 * more must overtake before the next one counts as lost.
 */
static u64 spurious(struct hcomm_link *link, u64 start, u64 end, u64 now)
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
		return 0;
	hcomm_ranges_del_forget(s, start, end);
	hcomm_loss_spurious(&link->loss, now, n);
	hcomm_cc_spurious(&link->cc, n);
	link->cnt.spurious_packets += n;
	return n;
}

/* Packets of a slot arrived; returns how many. */
static u32 acked_slot(struct hcomm_link *link, struct hcomm_flight_slot *slot,
		      u64 bits, u64 now, bool limited, struct list_head *acked)
{
	struct hcomm_flight *fl = &link->flight;
	struct hcomm_sent *sent = slot->sent;
	u32 n = hweight64(bits);

	if (!link->transport->reliable)
		hcomm_cc_acked(&link->cc, now, packet_bytes(sent, bits),
			       sent->time, &link->rtt, limited);
	sent->left &= ~bits;
	fl->nr -= n;
	if (!sent->left) {
		slot->sent = NULL;
		list_add_tail(&sent->node, acked);
	}
	return n;
}

/**
 * hcomm_flight_ack - the peer says what it received
 * @link: link; its lock is held
 * @a: decoded acknowledgement
 * @now: time
 * @acked: records whose packets have all arrived are added here
 * @lost: packets that did not are added here
 *
 * Return: packets that arrived.
 */
u32 hcomm_flight_ack(struct hcomm_link *link, const struct hcomm_wire_ack *a,
		     u64 now, struct list_head *acked, struct list_head *lost)
{
	struct hcomm_flight *fl = &link->flight;
	bool limited = !hcomm_cc_may_send(&link->cc, link->cc.mss);
	u64 largest = a->r[0].end, newest = 0, late = 0, bits;
	u32 n = 0, k;
	u16 i;

	lockdep_assert_held(&link->lock);
	/* What was never sent cannot have arrived. */
	if (largest > fl->next)
		return 0;
	for (i = 0; i < a->nr; i++) {
		const struct hcomm_wire_range *r = &a->r[i];

		late += spurious(link, r->start, r->end, now);
		for (k = find_slot(fl, r->start); k != fl->end; k++) {
			struct hcomm_flight_slot *s = &fl->slot[k & fl->mask];

			if (!s->sent)
				continue;
			if (s->sent->pn >= r->end)
				break;
			bits = packet_bits(s->sent, r->start, r->end) &
			       s->sent->left;
			if (!bits)
				continue;
			if (packet_bits(s->sent, largest - 1, largest) & bits)
				newest = s->sent->time;
			n += acked_slot(link, s, bits, now, limited, acked);
		}
	}
	if (!n && !late)
		return 0;
	if (largest > fl->largest)
		fl->largest = largest;
	if (newest && now > newest)
		hcomm_rtt_sample(&link->rtt, now, now - newest,
				 (u64)a->delay * NSEC_PER_USEC,
				 HCOMM_ACK_DELAY_NS);
	advance(fl);
	fl->ptos = 0;
	link->pmtu.timeouts = 0;
	if (n && !link->transport->reliable)
		hcomm_loss_acked(&link->loss, now, n);
	hcomm_beat_proof(link, now);
	detect(link, now, lost);
	return n;
}

static u64 pto_at(struct hcomm_link *link)
{
	struct hcomm_flight *fl = &link->flight;
	u64 floor = (u64)READ_ONCE(link->hn->conf.retry_ms) * NSEC_PER_MSEC;
	u64 pto = hcomm_rtt_pto(&link->rtt, HCOMM_ACK_DELAY_NS, floor);

	return fl->last_sent + (pto << min(fl->ptos, 6u));
}

/* These packets of a slot go to @list, though they do not count as lost. */
static void give_up(struct hcomm_link *link, struct hcomm_flight_slot *slot,
		    u64 bits, struct list_head *list)
{
	struct hcomm_sent *sent = slot->sent;
	u32 bytes = packet_bytes(sent, bits);
	u32 others = packet_bytes(sent, sent->left & ~bits);

	settle(&link->flight, slot, bits, list);
	if (!slot->sent)
		bytes += others;
	if (!link->transport->reliable)
		hcomm_cc_discarded(&link->cc, bytes);
}

/*
 * Nothing was heard for a probe timeout: the oldest two packets are sent
 * again as probes. The window stays (RFC 9002 section 6.2); for the verdict on
 * the link they count as lost until it is known better, since otherwise one
 * that passes nothing but heartbeats would never be left.
 */
static void probe(struct hcomm_link *link, u64 now, struct list_head *lost)
{
	struct hcomm_flight *fl = &link->flight;
	struct hcomm_flight_slot *slot;
	u32 n, i;
	u64 pn;

	for (n = 0, i = fl->first; n < 2 && i != fl->end; ) {
		slot = &fl->slot[i & fl->mask];
		if (!slot->sent) {
			i++;
			continue;
		}
		pn = slot->sent->pn + __ffs64(slot->sent->left);
		hcomm_ranges_add_forget(&fl->lost, pn, pn + 1);
		hcomm_loss_lost(&link->loss, now, pn);
		give_up(link, slot, slot->sent->left & -slot->sent->left, lost);
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
	struct hcomm_flight_slot *slot;
	u32 i;

	lockdep_assert_held(&link->lock);
	for (i = fl->first; i != fl->end; i++) {
		slot = &fl->slot[i & fl->mask];
		if (slot->sent)
			give_up(link, slot, slot->sent->left, lost);
	}
	fl->first = fl->end;
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
	struct hcomm_flight_slot *slot;
	u32 at;
	u16 i;

	lockdep_assert_held(&link->lock);
	for (i = 0; i < b->nr_sent; i++) {
		at = find_slot(fl, b->sent_pn[i]);
		slot = &fl->slot[at & fl->mask];
		/* An event may have abandoned them in the meantime. */
		if (at == fl->end || slot->sent != b->sent[i])
			continue;
		hcomm_count_add(link->hn, tx_unsent, (u32)slot->sent->nr);
		give_up(link, slot, slot->sent->left, lost);
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
