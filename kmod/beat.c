// SPDX-License-Identifier: GPL-2.0
/*
 * Heartbeats: they agree on the tag of a link, prove that both directions
 * work, measure the round trip and, where no data flows, the loss.
 */
#include "link.h"

#include <linux/random.h>

#include "peer.h"
#include "wire.h"

/* The peer's tag is taken from a fresh reply only: nobody can replay that. */
static u32 joint_tag(u32 a, u32 b)
{
	u32 tag = a ^ b;

	return tag ? tag : 1;
}

static u64 beat_interval(struct hcomm_link *link)
{
	u64 ms = READ_ONCE(link->hn->conf.heartbeat_ms);

	switch (link->state) {
	case HCOMM_LINK_STATE_UP:
		break;
	case HCOMM_LINK_STATE_DEGRADED:
		ms = min_t(u64, ms, HCOMM_LINK_FAST_MS);
		break;
	default:
		ms = link->backoff_ms;
		link->backoff_ms = min_t(u32, link->backoff_ms * 3 / 2 + 1,
					 HCOMM_LINK_BACKOFF_MS);
		ms = ms * (768 + (get_random_u32() & 511)) / 1024;
	}
	return ms * NSEC_PER_MSEC;
}

/* The link begins to be probed. */
void hcomm_beat_start(struct hcomm_link *link, u64 now)
{
	lockdep_assert_held(&link->lock);
	link->backoff_ms = min(READ_ONCE(link->hn->conf.heartbeat_ms), 50u);
	link->beat_at = now;
	link->proof = now;
	link->beats_open = 0;
	memset(link->beats, 0, sizeof(link->beats));
}

static u32 misses(const struct hcomm_link *link)
{
	/* adaptive.md: at 3 % loss three misses in a row are no rarity. */
	return hcomm_link_loss_ppm(link) >= 30000 ? HCOMM_LINK_SILENCE + 1 :
						    HCOMM_LINK_SILENCE;
}

/* When the link counts as dead if nothing proves the opposite. */
u64 hcomm_beat_silence(const struct hcomm_link *link)
{
	u64 ms = READ_ONCE(link->hn->conf.heartbeat_ms);

	return link->proof + misses(link) * ms * NSEC_PER_MSEC +
	       link->rtt.smoothed;
}

void hcomm_beat_proof(struct hcomm_link *link, u64 now)
{
	lockdep_assert_held(&link->lock);
	link->proof = now;
	link->beats_open = 0;
}

/* A heartbeat that was not answered in good time is a lost packet. */
static void count_missed(struct hcomm_link *link, u64 now)
{
	u64 patience = max_t(u64, 4 * link->rtt.smoothed,
			     200 * NSEC_PER_MSEC);
	u32 i;

	for (i = 0; i < HCOMM_LINK_BEATS; i++) {
		u32 seq = link->beat_next - HCOMM_LINK_BEATS + i;
		struct hcomm_beat_slot *s;

		s = &link->beats[seq % HCOMM_LINK_BEATS];
		if (!s->stamp || s->counted || s->stamp + patience > now)
			continue;
		s->counted = true;
		if (s->answered)
			continue;
		link->cnt.beats_missed++;
		if (!link->transport->reliable)
			hcomm_loss_lost(&link->loss, now, 1ULL << 63 | seq);
	}
}

static int send_beat(struct hcomm_link *link, u8 type,
		     struct hcomm_wire_beat *b)
{
	b->src = READ_ONCE(link->hn->conf.node);
	b->dst = link->peer->node;
	b->inc = READ_ONCE(link->hn->incarnation);
	return hcomm_link_send_control(link, type, b, 0);
}

/* Finds the heartbeat that is being answered; NULL: never sent or too old. */
static struct hcomm_beat_slot *find_slot(struct hcomm_link *link, u64 stamp)
{
	u32 i;

	for (i = 1; i <= HCOMM_LINK_BEATS; i++) {
		struct hcomm_beat_slot *s;

		s = &link->beats[(link->beat_next - i) % HCOMM_LINK_BEATS];
		if (s->stamp == stamp)
			return s;
	}
	return NULL;
}

/* It never left this host: no answer to it says nothing. */
static void unsent(struct hcomm_link *link, u64 stamp)
{
	struct hcomm_beat_slot *s;

	spin_lock_bh(&link->lock);
	s = find_slot(link, stamp);
	if (s)
		s->counted = true;
	spin_unlock_bh(&link->lock);
}

/**
 * hcomm_beat_timer - send a heartbeat if one is due
 * @link: link; no lock held
 * @now: time
 *
 * Return: when to call again, 0: not at all.
 */
u64 hcomm_beat_timer(struct hcomm_link *link, u64 now)
{
	struct hcomm_wire_beat b = {};
	u64 next, silence;
	bool send = false;

	spin_lock_bh(&link->lock);
	if (link->state == HCOMM_LINK_STATE_DOWN || !link->beat_at) {
		spin_unlock_bh(&link->lock);
		return 0;
	}
	count_missed(link, now);
	if (link->beat_at <= now) {
		struct hcomm_beat_slot *s;

		s = &link->beats[link->beat_next % HCOMM_LINK_BEATS];
		s->stamp = now;
		s->answered = false;
		s->counted = false;
		link->beat_next++;
		link->beats_open++;
		link->cnt.beats_sent++;
		b.my_tag = link->my_tag;
		b.your_tag = link->peer_tag;
		b.stamp = now;
		b.interval = READ_ONCE(link->hn->conf.heartbeat_ms);
		link->beat_at = now + beat_interval(link);
		send = true;
	}
	next = link->beat_at;
	silence = hcomm_beat_silence(link);
	/* A host that stood still, or a new interval, is no silence of the peer. */
	if (hcomm_link_usable(link) && link->beats_open >= misses(link))
		next = min(next, silence);
	else
		silence = U64_MAX;
	spin_unlock_bh(&link->lock);
	if (send && send_beat(link, HCOMM_FRAME_BEAT, &b))
		unsent(link, b.stamp);
	if (silence <= now) {
		hcomm_link_event(link, HCOMM_LINK_EV_SILENCE);
		hcomm_link_event(link, HCOMM_LINK_EV_RETRY);
		return now + NSEC_PER_MSEC;
	}
	return next;
}

static void receive_reply(struct hcomm_link *link,
			  const struct hcomm_wire_beat *b, u64 now)
{
	enum hcomm_link_event ev = __HCOMM_LINK_EV_MAX;
	struct hcomm_beat_slot *s;

	spin_lock_bh(&link->lock);
	s = b->stamp ? find_slot(link, b->stamp) : NULL;
	if (!s || s->answered || b->your_tag != link->my_tag ||
	    link->state == HCOMM_LINK_STATE_DOWN) {
		spin_unlock_bh(&link->lock);
		return;
	}
	s->answered = true;
	link->cnt.beats_answered++;
	if (!s->counted && !link->transport->reliable)
		hcomm_loss_acked(&link->loss, now, 1);
	else if (s->counted && !link->transport->reliable)
		hcomm_loss_spurious(&link->loss, now, 1);
	s->counted = true;
	hcomm_rtt_sample(&link->rtt, now, now - b->stamp,
			 min_t(u64, b->hold, now - b->stamp), U64_MAX);
	if (b->my_tag != link->peer_tag || b->inc != link->peer_inc) {
		if (hcomm_link_usable(link))
			ev = HCOMM_LINK_EV_PEER_RESTART;
		link->peer_tag = b->my_tag;
		link->peer_inc = b->inc;
		link->tag = joint_tag(link->my_tag, b->my_tag);
		hcomm_ranges_init(&link->rx_pns);
		link->rx_unacked = 0;
		link->ack_now = false;
		link->ack_wanted = false;
	}
	hcomm_beat_proof(link, now);
	if (link->state == HCOMM_LINK_STATE_PROBING)
		ev = HCOMM_LINK_EV_VERIFIED;
	spin_unlock_bh(&link->lock);
	if (ev != __HCOMM_LINK_EV_MAX)
		hcomm_link_event(link, ev);
	if (ev == HCOMM_LINK_EV_PEER_RESTART)
		hcomm_link_event(link, HCOMM_LINK_EV_VERIFIED);
}

/**
 * hcomm_beat_receive - a heartbeat or its reply arrived
 * @link: link; no lock held
 * @b: decoded
 * @reply: it is a reply
 * @now: time
 */
void hcomm_beat_receive(struct hcomm_link *link,
			const struct hcomm_wire_beat *b, bool reply, u64 now)
{
	struct hcomm_net *hn = link->hn;
	struct hcomm_wire_beat r = {};
	bool hurry = false;

	if (b->src != link->peer->node || b->dst != READ_ONCE(hn->conf.node)) {
		hcomm_count(hn, rx_wrong_node);
		return;
	}
	if (reply) {
		receive_reply(link, b, now);
		return;
	}
	spin_lock_bh(&link->lock);
	if (link->state == HCOMM_LINK_STATE_DOWN) {
		spin_unlock_bh(&link->lock);
		return;
	}
	r.my_tag = link->my_tag;
	r.your_tag = b->my_tag;
	r.stamp = b->stamp;
	/* Prove the other direction at once, but not without end. */
	if ((link->state == HCOMM_LINK_STATE_PROBING ||
	     b->my_tag != link->peer_tag) &&
	    now - link->beat_reply_at > 20 * NSEC_PER_MSEC) {
		link->beat_reply_at = now;
		link->beat_at = now;
		hurry = true;
	}
	spin_unlock_bh(&link->lock);
	send_beat(link, HCOMM_FRAME_BEAT_REPLY, &r);
	if (hurry)
		hcomm_timer_by(&hn->wheel, &link->timer, now);
}
