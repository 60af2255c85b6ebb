// SPDX-License-Identifier: GPL-2.0
/* Arriving packets, as far as their link is concerned. */
#include "link.h"

#include "msg.h"
#include "peer.h"
#include "ping.h"
#include "wire.h"

/* Most headers are in one piece: no need to copy them. */
static const void *peek_skb(void *ctx, u32 off, u32 len, void *buf)
{
	const void *p = hcomm_msg_bytes(ctx, off, len);

	return p ? p : skb_header_pointer(ctx, off, len, buf);
}

static void count_bad(struct hcomm_link *link, struct hcomm_net *hn, int err)
{
	switch (err) {
	case -EPROTONOSUPPORT:
		hcomm_count(hn, rx_version);
		break;
	case -ENOKEY:
		hcomm_count(hn, rx_key);
		break;
	default:
		hcomm_count(hn, rx_malformed);
	}
	if (link) {
		spin_lock(&link->lock);
		link->cnt.rx_errors++;
		spin_unlock(&link->lock);
	}
}

static void receive_ack(struct hcomm_link *link, struct hcomm_frame *f, u64 now)
{
	LIST_HEAD(acked);
	LIST_HEAD(lost);
	u32 n;

	spin_lock(&link->lock);
	n = hcomm_flight_ack(link, &f->ack, now, &acked, &lost);
	spin_unlock(&link->lock);
	hcomm_flight_finish(&acked, &lost);
	/* There is room in the window now. */
	if (n)
		set_bit(0, &link->tx_again);
}

static void receive_probe(struct hcomm_link *link, struct hcomm_frame *f,
			  u32 len)
{
	struct hcomm_wire_probe p = f->probe;

	/* The size that arrived, not the one that is claimed. */
	if (p.size != len && p.size)
		return;
	hcomm_link_send_control(link, HCOMM_FRAME_PROBE_REPLY, &p, 0);
}

/* The other end of another link of this peer is down. */
static void receive_link_down(struct hcomm_link *link, u32 id)
{
	struct hcomm_link *other;

	list_for_each_entry_rcu(other, &link->peer->links, peer_node) {
		if (other->id != id || other == link)
			continue;
		if (hcomm_link_event(other, HCOMM_LINK_EV_PEER_DOWN))
			hcomm_link_event(other, HCOMM_LINK_EV_RETRY);
		return;
	}
}

/* True: the packet wants to be acknowledged. */
static bool handle_frame(struct hcomm_link *link, struct hcomm_packet *pkt,
			 struct hcomm_frame *f, struct sk_buff *skb, u32 len,
			 bool tagged, u64 now)
{
	/* Heartbeats are what agrees on tags. */
	if (f->type == HCOMM_FRAME_BEAT || f->type == HCOMM_FRAME_BEAT_REPLY) {
		hcomm_beat_receive(link, &f->beat,
				   f->type == HCOMM_FRAME_BEAT_REPLY, now);
		return false;
	}
	if (!tagged) {
		hcomm_count(link->hn, rx_bad_tag);
		return false;
	}
	switch (f->type) {
	case HCOMM_FRAME_LINK_ACK:
		receive_ack(link, f, now);
		return false;
	case HCOMM_FRAME_PROBE:
		receive_probe(link, f, len);
		return false;
	case HCOMM_FRAME_PROBE_REPLY:
		spin_lock(&link->lock);
		if (f->probe.id & HCOMM_PING_ID)
			hcomm_ping_reply(link, f->probe.id, now);
		else
			hcomm_pmtu_reply(link, &f->probe, now);
		spin_unlock(&link->lock);
		hcomm_timer_by(&link->hn->wheel, &link->timer, now);
		return false;
	case HCOMM_FRAME_LINK_DOWN:
		receive_link_down(link, f->probe.id);
		return false;
	case HCOMM_FRAME_SESSION:
		hcomm_link_upper->receive(link, pkt, f, skb);
		return true;
	}
	return false;
}

/*
 * Notes the packet numbers of a run; returns how many packets of it may be
 * handled together, 0: the first was here before.
 */
static u32 note_pns(struct hcomm_link *link, const struct hcomm_wire_link *h,
		    u32 len, u32 run, u64 now)
{
	struct hcomm_ranges *s = &link->rx_pns;
	u32 fresh = 0;

	spin_lock(&link->lock);
	if (h->pn < hcomm_ranges_floor(s) ||
	    hcomm_ranges_has(s, h->pn, h->pn + 1)) {
		link->cnt.dup_packets++;
		hcomm_count(link->hn, rx_duplicate);
		goto out;
	}
	/* No outage skips so many: one that could would make all others old. */
	if (s->nr && h->pn >= s->r[s->nr - 1].end + HCOMM_PN_AHEAD) {
		hcomm_count(link->hn, rx_malformed);
		goto out;
	}
	/* Among older numbers some of the run may be known already. */
	fresh = s->nr && h->pn < s->r[s->nr - 1].end ? 1 : run;
	/* Out of order: the sender should hear of the gap at once. */
	if (s->nr && h->pn != s->r[s->nr - 1].end)
		link->ack_now = true;
	if (!s->nr || h->pn >= s->r[s->nr - 1].end)
		link->rx_largest_at = now;
	hcomm_ranges_add_forget(s, h->pn, h->pn + fresh);
	link->cnt.rx_packets += fresh;
	link->cnt.rx_bytes += (u64)fresh * len;
	link->last_rx = now;
out:
	spin_unlock(&link->lock);
	return fresh;
}

static void wants_ack(struct hcomm_link *link, bool at_once, u32 packets,
		      u64 now)
{
	bool arm = false;

	spin_lock(&link->lock);
	link->ack_wanted = true;
	link->rx_unacked += packets;
	if (at_once || link->rx_unacked >= HCOMM_ACK_EVERY) {
		link->ack_now = true;
	} else if (!link->ack_at) {
		link->ack_at = now + HCOMM_ACK_DELAY_NS;
		arm = true;
	}
	spin_unlock(&link->lock);
	if (arm)
		hcomm_timer_by(&link->hn->wheel, &link->timer,
			       now + HCOMM_ACK_DELAY_NS);
}

/*
 * A packet, or all of a run. @h was decoded from the first; @pkt stands behind
 * its link header. Returns how many packets were dealt with.
 */
static u32 receive_run(struct hcomm_link *link, struct hcomm_packet *pkt,
		       const struct hcomm_wire_link *h, struct sk_buff *skb,
		       u32 len, u64 now)
{
	bool tagged = h->tag && h->tag == READ_ONCE(link->tag);
	bool eliciting = false;
	struct hcomm_frame f;
	u32 done = 1, seen = 0, bit;
	int err;

	if (!tagged)
		pkt->run = 1;
	if (READ_ONCE(link->state) == HCOMM_LINK_STATE_DOWN)
		goto out;
	if (tagged) {
		done = note_pns(link, h, len, pkt->run, now);
		pkt->run = done;
		if (!done) {
			done = 1;
			goto out;
		}
	}
	while ((err = hcomm_wire_next(pkt, &f)) > 0) {
		/* One of each: else a packet could ask for any number of replies. */
		bit = 1u << (f.type & 31);
		if (seen & bit) {
			err = -EBADMSG;
			break;
		}
		seen |= bit;
		eliciting |= handle_frame(link, pkt, &f, skb, len, tagged, now);
		/* Session frames are the session's; nothing follows them. */
		if (f.type == HCOMM_FRAME_SESSION)
			break;
	}
	if (err < 0)
		count_bad(link, link->hn, err);
	if (eliciting)
		wants_ack(link, h->flags & HCOMM_LINK_F_ACK_NOW, done, now);
out:
	hcomm_count_add(link->hn, rx_packets, done);
	return done;
}

/**
 * hcomm_link_receive - packets arrived at a socket that links share
 * @hn: namespace
 * @from: where they came from; the id is filled in here
 * @skb: one or more packets; the caller keeps it
 * @off: offset of the first
 * @seg: length of each but the last, not 0
 * @tp: hcomm_link.tp of the links that they may belong to
 *
 * Context: softirq, under rcu_read_lock().
 */
void hcomm_link_receive(struct hcomm_net *hn, struct hcomm_link_key *from,
			struct sk_buff *skb, u32 off, u32 seg, const void *tp)
{
	struct hcomm_link *link = NULL;
	struct hcomm_wire_link h;
	u64 now = ktime_get_ns();
	struct hcomm_packet pkt;
	u32 len, done;
	int err;

	for (; off < skb->len; off += done * len) {
		len = min(skb->len - off, seg);
		done = 1;
		pkt = (struct hcomm_packet) {
			.peek = peek_skb, .ctx = skb, .off = off,
			.end = off + len,
		};
		hcomm_wire_run(&pkt, (skb->len - off) / len);
		err = hcomm_wire_get_link(&pkt, &h);
		if (err) {
			count_bad(NULL, hn, err);
			continue;
		}
		if (!link || link->id != h.link) {
			if (link)
				hcomm_link_receive_done(link);
			from->id = h.link;
			link = hcomm_link_lookup(hn, from);
			/* Of another transport, or by another way in. */
			if (link && READ_ONCE(link->tp) != tp)
				link = NULL;
		}
		if (!link) {
			hcomm_count(hn, rx_unknown);
			continue;
		}
		done = receive_run(link, &pkt, &h, skb, len, now);
	}
	if (link)
		hcomm_link_receive_done(link);
}

/**
 * hcomm_link_receive_on - packets arrived at a connection of one link
 * @link: link
 * @skb: holds the packets; the caller keeps it
 * @off: offset of the first
 * @len: length of all
 * @seg: length of each but the last, not 0
 *
 * Context: bottom halves off, under rcu_read_lock(). The caller calls
 * hcomm_link_receive_done() after the last of several.
 */
void hcomm_link_receive_on(struct hcomm_link *link, struct sk_buff *skb,
			   u32 off, u32 len, u32 seg)
{
	u32 end = off + len, done, n;
	u64 now = ktime_get_ns();
	struct hcomm_packet pkt;
	struct hcomm_wire_link h;
	int err;

	for (; off < end; off += done * n) {
		n = min(end - off, seg);
		done = 1;
		pkt = (struct hcomm_packet) {
			.peek = peek_skb, .ctx = skb, .off = off,
			.end = off + n,
		};
		hcomm_wire_run(&pkt, (end - off) / n);
		err = hcomm_wire_get_link(&pkt, &h);
		if (err)
			count_bad(link, link->hn, err);
		else if (h.link != link->id)
			hcomm_count(link->hn, rx_unknown);
		else
			done = receive_run(link, &pkt, &h, skb, n, now);
	}
}

/* Sends the acknowledgement, and what there is room for, if it is time. */
void hcomm_link_receive_done(struct hcomm_link *link)
{
	if (READ_ONCE(link->ack_now) || test_bit(0, &link->tx_again))
		hcomm_link_kick(link);
}
