// SPDX-License-Identifier: GPL-2.0
#include "recovery.h"

enum {
	INITIAL_RTT_MS = 333,		/* RFC 9002 section 6.2.2 */
	GRANULARITY_MS = 1,
	MIN_WINDOW_S = 30,
	MIN_CWND_PACKETS = 2,
	MAX_CWND = 1 << 30,
	HYSTART_SAMPLES = 8,
	HYSTART_MIN_MS = 4,
	HYSTART_MAX_MS = 16,
	CSS_ROUNDS = 5,
	CSS_DIVISOR = 4,
	/* Of the time since the last reduction: the cube fits 64 bits. */
	MAX_CUBIC_MS = 1000000,
};

/* Callers on several CPUs take the time before they take the lock. */
static u64 since(u64 then, u64 now)
{
	return now > then ? now - then : 0;
}

/* Percent of a window, which is below 2^32 by far. */
static u64 part(u64 bytes, u32 percent)
{
	return div_u64(bytes * percent, 100);
}

void hcomm_rtt_init(struct hcomm_rtt *r)
{
	memset(r, 0, sizeof(*r));
	r->smoothed = INITIAL_RTT_MS * HCOMM_NS_PER_MS;
	r->var = r->smoothed / 2;
}

/**
 * hcomm_rtt_sample - a round trip was measured (RFC 9002 section 5.3)
 * @r: estimator
 * @now: ns
 * @sample: ns
 * @ack_delay: how long the peer says that it waited, ns
 * @max_ack_delay: as much as is believed, ns
 */
void hcomm_rtt_sample(struct hcomm_rtt *r, u64 now, u64 sample, u64 ack_delay,
		      u64 max_ack_delay)
{
	u64 dev;

	r->latest = sample;
	if (!r->samples || sample <= r->min ||
	    since(r->min_stamp, now) > MIN_WINDOW_S * HCOMM_NS_PER_S) {
		r->min = sample;
		r->min_stamp = now;
	}
	if (!r->samples++) {
		r->smoothed = sample;
		r->var = sample / 2;
		return;
	}
	if (!r->samples)
		r->samples = 1;
	ack_delay = min(ack_delay, max_ack_delay);
	if (sample >= r->min + ack_delay)
		sample -= ack_delay;
	dev = r->smoothed > sample ? r->smoothed - sample :
				     sample - r->smoothed;
	r->var = (3 * r->var + dev) / 4;
	r->smoothed = (7 * r->smoothed + sample) / 8;
}

/* Probe timeout (RFC 9002 section 6.2.1), not below @floor, ns. */
u64 hcomm_rtt_pto(const struct hcomm_rtt *r, u64 max_ack_delay, u64 floor)
{
	u64 pto = r->smoothed +
		  max_t(u64, 4 * r->var, GRANULARITY_MS * HCOMM_NS_PER_MS) +
		  max_ack_delay;

	return max(pto, floor);
}

/* A packet is lost by time after this (RFC 9002 section 6.1.2), ns. */
u64 hcomm_rtt_loss_delay(const struct hcomm_rtt *r)
{
	u64 rtt = max(r->smoothed, r->latest);

	return max_t(u64, rtt + rtt / 8, GRANULARITY_MS * HCOMM_NS_PER_MS);
}

static u64 min_cwnd(const struct hcomm_cc *c)
{
	return (u64)MIN_CWND_PACKETS * c->mss;
}

/**
 * hcomm_cc_init - begin with an unknown path
 * @c: window
 * @mss: bytes of a full packet
 * @initial_packets: initial window; RFC 9002 says 10
 */
void hcomm_cc_init(struct hcomm_cc *c, u32 mss, u32 initial_packets)
{
	memset(c, 0, sizeof(*c));
	c->mss = mss;
	c->cwnd = (u64)mss * initial_packets;
	c->ssthresh = U64_MAX;
	c->round_min = U64_MAX;
	c->last_min = U64_MAX;
}

/* The path MTU changed: as many packets as before (RFC 9002 section 7.2). */
void hcomm_cc_set_mss(struct hcomm_cc *c, u32 mss)
{
	if (mss > c->mss && c->ssthresh == U64_MAX)
		c->cwnd = div_u64(c->cwnd, c->mss) * mss;
	c->mss = mss;
	c->cwnd = max(c->cwnd, min_cwnd(c));
}

/**
 * hcomm_cc_sent - a packet leaves
 * @c: window
 * @bytes: its length
 * @now: ns
 *
 * A pause does not let the window grow (RFC 9438 section 5.8).
 */
void hcomm_cc_sent(struct hcomm_cc *c, u32 bytes, u64 now)
{
	if (c->epoch && !c->inflight)
		c->epoch = min(c->epoch + since(c->idle_since, now), now);
	c->inflight += bytes;
}

/* They will not be acknowledged, and nothing follows from that. */
void hcomm_cc_discarded(struct hcomm_cc *c, u32 bytes)
{
	c->inflight -= min_t(u64, c->inflight, bytes);
}

static void arrived_or_lost(struct hcomm_cc *c, u32 bytes, u64 now)
{
	hcomm_cc_discarded(c, bytes);
	if (!c->inflight)
		c->idle_since = now;
}

bool hcomm_cc_may_send(const struct hcomm_cc *c, u32 bytes)
{
	return c->inflight + bytes <= c->cwnd;
}

/* Bytes that the window still takes. */
u64 hcomm_cc_room(const struct hcomm_cc *c)
{
	return c->cwnd > c->inflight ? c->cwnd - c->inflight : 0;
}

static void hystart_round(struct hcomm_cc *c, u64 now, u64 rtt)
{
	if (c->css_rounds && !--c->css_rounds)
		c->ssthresh = c->cwnd;
	c->last_min = c->round_min;
	c->round_min = U64_MAX;
	c->round_samples = 0;
	c->round_end = now + rtt;
}

/* HyStart++ (RFC 9406): leave slow start when the delay begins to grow. */
static void hystart(struct hcomm_cc *c, u64 now, const struct hcomm_rtt *rtt)
{
	u64 thresh;

	if (!rtt->samples)
		return;
	if (now >= c->round_end)
		hystart_round(c, now, rtt->smoothed);
	c->round_min = min(c->round_min, rtt->latest);
	if (++c->round_samples < HYSTART_SAMPLES)
		return;
	if (c->css_rounds) {
		/* It was only a wave: back to full speed. */
		if (c->round_min < c->css_min)
			c->css_rounds = 0;
		return;
	}
	if (c->last_min == U64_MAX)
		return;
	thresh = min_t(u64, c->last_min / 8, HYSTART_MAX_MS * HCOMM_NS_PER_MS);
	thresh = max_t(u64, thresh, HYSTART_MIN_MS * HCOMM_NS_PER_MS);
	if (c->round_min >= c->last_min + thresh) {
		c->css_min = c->round_min;
		c->css_rounds = CSS_ROUNDS;
	}
}

static u32 cube_root(u64 x)
{
	u64 root = 0, b;
	int s;

	for (s = 63; s >= 0; s -= 3) {
		root *= 2;
		b = 3 * root * (root + 1) + 1;
		if (x >> s >= b) {
			x -= b << s;
			root++;
		}
	}
	return root;
}

/* RFC 9438 section 4.2: C = 0.4 packets/s^3, W(t) = C (t - K)^3 + W_max. */
static u64 cubic_at(const struct hcomm_cc *c, u64 now)
{
	u64 t = div_u64(since(c->epoch, now), HCOMM_NS_PER_MS), d, grow;
	bool below;

	t = min_t(u64, t, MAX_CUBIC_MS);
	below = t < c->k_ms;
	d = below ? c->k_ms - t : t - c->k_ms;
	d = min_t(u64, d, MAX_CUBIC_MS);
	/* 0.4 d^3 / 10^9 packets, in thousandths not to lose the small ones. */
	grow = div_u64(div_u64(d * d * d, 2500000) * c->mss, 1000);
	if (below)
		return c->w_max > grow ? c->w_max - grow : min_cwnd(c);
	return c->w_max + grow;
}

/* Once a millisecond, not once a packet: that is what it counts in. */
static void cubic_update(struct hcomm_cc *c, u64 now, u64 rtt)
{
	if (now < c->cubic_until)
		return;
	c->cubic_until = now + HCOMM_NS_PER_MS;
	c->cubic = cubic_at(c, now);
	c->cubic_next = cubic_at(c, now + rtt);
}

static void begin_epoch(struct hcomm_cc *c, u64 now)
{
	u64 packets = 0;

	c->epoch = now;
	c->w_est = c->cwnd;
	c->cubic_until = 0;
	c->frac = 0;
	c->est_frac = 0;
	if (c->w_max > c->cwnd)
		packets = div_u64(c->w_max - c->cwnd, c->mss);
	else
		c->w_max = c->cwnd;
	/* K = cbrt((W_max - cwnd) / C), in ms: 1 / 0.4 * 10^9. */
	packets = min_t(u64, packets, 1 << 22);
	c->k_ms = cube_root(packets * 2500000000ULL);
}

/*
 * What Reno would have (RFC 9438 section 4.3): it adds alpha packets in a round
 * trip, 3 (1 - 0.7) / (1 + 0.7) = 9/17 until it has the old window again, 1
 * from then on.
 */
static void reno_estimate(struct hcomm_cc *c, u32 bytes)
{
	u64 grow;

	c->est_frac += (u64)bytes * c->mss * (c->w_est < c->w_max ? 9 : 17);
	grow = div64_u64(c->est_frac, 17 * c->cwnd);
	c->est_frac -= grow * 17 * c->cwnd;
	c->w_est += grow;
}

static void congestion_avoidance(struct hcomm_cc *c, u64 now, u32 bytes,
				 u64 rtt)
{
	u64 target, grow;

	if (!c->epoch)
		begin_epoch(c, now);
	reno_estimate(c, bytes);
	cubic_update(c, now, rtt);
	if (c->cubic < c->w_est) {
		c->cwnd = max(c->cwnd, c->w_est);
		return;
	}
	target = min(c->cubic_next, c->cwnd + c->cwnd / 2);
	if (target <= c->cwnd)
		return;
	c->frac += (target - c->cwnd) * bytes;
	grow = div64_u64(c->frac, c->cwnd);
	c->frac -= grow * c->cwnd;
	c->cwnd += grow;
}

/**
 * hcomm_cc_acked - a packet arrived
 * @c: window
 * @now: ns
 * @bytes: its length
 * @sent: when it was sent
 * @rtt: round-trip time
 * @limited: the window was what limited the sender; else it does not grow
 */
void hcomm_cc_acked(struct hcomm_cc *c, u64 now, u32 bytes, u64 sent,
		    const struct hcomm_rtt *rtt, bool limited)
{
	arrived_or_lost(c, bytes, now);
	if (!limited || sent <= c->recovery_start)
		return;
	if (c->cwnd < c->ssthresh) {
		hystart(c, now, rtt);
		c->cwnd += c->css_rounds ? bytes / CSS_DIVISOR : bytes;
	} else {
		congestion_avoidance(c, now, bytes, rtt->smoothed);
	}
	c->cwnd = min_t(u64, c->cwnd, MAX_CWND);
}

/**
 * hcomm_cc_lost - a packet was lost
 * @c: window
 * @now: ns
 * @bytes: its length
 * @sent: when it was sent
 *
 * One reduction for all that is lost in a round trip.
 */
void hcomm_cc_lost(struct hcomm_cc *c, u64 now, u32 bytes, u64 sent)
{
	arrived_or_lost(c, bytes, now);
	c->undo_lost++;
	if (sent <= c->recovery_start)
		return;
	c->recovery_start = now;
	c->undo_lost = 1;
	c->undo_cwnd = c->cwnd;
	c->undo_ssthresh = c->ssthresh;
	/* Fast convergence: leave room for who came later. */
	c->w_max = c->cwnd < c->w_max ? part(c->cwnd, 85) : c->cwnd;
	c->cwnd = max(part(c->cwnd, 70), min_cwnd(c));
	c->ssthresh = c->cwnd;
	c->epoch = 0;
	c->css_rounds = 0;
}

/* The last reduction was for a packet that was not lost. */
void hcomm_cc_undo(struct hcomm_cc *c)
{
	if (!c->undo_cwnd)
		return;
	c->cwnd = max(c->cwnd, c->undo_cwnd);
	c->ssthresh = c->undo_ssthresh;
	c->w_max = max(c->w_max, c->undo_cwnd);
	c->undo_cwnd = 0;
	c->recovery_start = 0;
	c->epoch = 0;
}

/**
 * hcomm_cc_spurious - packets that were declared lost came after all
 * @c: window
 * @n: how many
 *
 * The last reduction is taken back when nothing is left of what it was for
 * (RFC 9438 section 4.9): on a path that loses and overtakes, one late packet
 * is no reason to forget the lost ones.
 */
void hcomm_cc_spurious(struct hcomm_cc *c, u32 n)
{
	c->undo_lost -= min(n, c->undo_lost);
	if (!c->undo_lost)
		hcomm_cc_undo(c);
}

/* A queue of this host is full: what is in flight is as much as it takes. */
void hcomm_cc_local_drop(struct hcomm_cc *c)
{
	c->cwnd = max(min(c->cwnd, c->inflight), min_cwnd(c));
	c->ssthresh = c->cwnd;
	c->epoch = 0;
}

/* Nothing came through for long (RFC 9002 section 7.6). */
void hcomm_cc_persistent(struct hcomm_cc *c)
{
	c->cwnd = min_cwnd(c);
	c->epoch = 0;
	c->undo_cwnd = 0;
	c->recovery_start = 0;
}

/* Bytes per second (RFC 9002 section 7.7): somewhat more than the window. */
u64 hcomm_cc_pacing_rate(const struct hcomm_cc *c, const struct hcomm_rtt *rtt)
{
	u64 us = max_t(u64, div_u64(rtt->smoothed, HCOMM_NS_PER_US), 1);
	u64 gain_x4 = c->cwnd < c->ssthresh ? 8 : 5;

	return max_t(u64, div64_u64(c->cwnd * gain_x4 * 250000, us), c->mss);
}

/**
 * hcomm_pacer_delay - whether something may leave now
 * @p: pacer
 * @now: ns
 * @rate: bytes per second, not 0
 * @burst: bytes that may leave at once
 *
 * Return: 0, or how long to wait, ns.
 */
u64 hcomm_pacer_delay(const struct hcomm_pacer *p, u64 now, u64 rate, u64 burst)
{
	u64 credit = div64_u64(burst * HCOMM_NS_PER_S, rate);

	return p->next > now + credit ? p->next - now - credit : 0;
}

void hcomm_pacer_sent(struct hcomm_pacer *p, u64 now, u64 rate, u32 bytes)
{
	p->next = max(p->next, now) +
		  div64_u64((u64)bytes * HCOMM_NS_PER_S, rate);
}
