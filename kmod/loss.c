// SPDX-License-Identifier: GPL-2.0
/*
 * Whether a link loses too much. A link is bad if in any of three windows
 * there were enough loss events and the lower bound of the loss (Wilson, z =
 * 4.5) is above the threshold; it is good again if the upper bound (z = 3) is
 * below it. Losses in bursts are worth less than independent ones.
 *
 * The Wilson interval is the inversion of the score test: a threshold T is
 * below the lower bound exactly if K > nT and (K - nT)^2 > z^2 n T (1 - T).
 * So neither a root nor a table is needed.
 */
#include "loss.h"

static const u32 window_ticks[HCOMM_LOSS_WINDOWS] = { 5, 25, 150 };

enum {
	Z2_BAD_X4 = 81,			/* 4 z^2 of z = 4.5 */
	Z2_GOOD_X4 = 36,		/* 4 z^2 of z = 3 */
	PPM = 1000000,
	MAX_FRACTION = 24,
	MAX_SAMPLES = 1 << 20,
};

static u64 tick_of(u64 now)
{
	return div_u64(now, HCOMM_LOSS_TICK_MS * HCOMM_NS_PER_MS);
}

void hcomm_loss_reset(struct hcomm_loss *l, u64 now)
{
	u32 ppm = l->ppm;

	memset(l, 0, sizeof(*l));
	l->ppm = ppm;
	l->tick = tick_of(now);
}

/**
 * hcomm_loss_init - begin to count
 * @l: estimator
 * @ppm: threshold, 1 to 1000000 parts per million
 * @now: ns
 */
void hcomm_loss_init(struct hcomm_loss *l, u32 ppm, u64 now)
{
	l->ppm = ppm;
	hcomm_loss_reset(l, now);
}

void hcomm_loss_set_threshold(struct hcomm_loss *l, u32 ppm)
{
	l->ppm = ppm;
}

static void sub(struct hcomm_loss_count *a, const struct hcomm_loss_count *b)
{
	a->sent -= b->sent;
	a->lost -= b->lost;
	a->events -= b->events;
}

static struct hcomm_loss_count *tick_at(struct hcomm_loss *l, u64 tick)
{
	u64 q = div_u64(tick, HCOMM_LOSS_TICKS);

	return &l->ring[tick - q * HCOMM_LOSS_TICKS];
}

/* Brings the windows up to the present: what is too old leaves them. */
static void advance(struct hcomm_loss *l, u64 now)
{
	u64 tick = tick_of(now);
	u32 w;

	if (tick <= l->tick)
		return;
	if (tick - l->tick >= HCOMM_LOSS_TICKS) {
		memset(l->sum, 0, sizeof(l->sum));
		memset(l->ring, 0, sizeof(l->ring));
		l->tick = tick;
		return;
	}
	while (l->tick < tick) {
		l->tick++;
		for (w = 0; w < HCOMM_LOSS_WINDOWS; w++)
			if (l->tick >= window_ticks[w])
				sub(&l->sum[w],
				    tick_at(l, l->tick - window_ticks[w]));
		memset(tick_at(l, l->tick), 0, sizeof(l->ring[0]));
	}
}

static void count(struct hcomm_loss *l, u32 sent, u32 lost, u32 events)
{
	struct hcomm_loss_count *t = tick_at(l, l->tick);
	u32 w;

	t->sent += sent;
	t->lost += lost;
	t->events += events;
	for (w = 0; w < HCOMM_LOSS_WINDOWS; w++) {
		l->sum[w].sent += sent;
		l->sum[w].lost += lost;
		l->sum[w].events += events;
	}
}

/* @n packets arrived. */
void hcomm_loss_acked(struct hcomm_loss *l, u64 now, u32 n)
{
	advance(l, now);
	l->clean += n;
	count(l, n, 0, 0);
}

/**
 * hcomm_loss_lost - a packet was lost
 * @l: estimator
 * @now: ns
 * @pn: its number; neighbours make one event
 */
void hcomm_loss_lost(struct hcomm_loss *l, u64 now, u64 pn)
{
	bool run = l->last_lost && pn == l->last_lost + 1;

	advance(l, now);
	l->last_lost = pn;
	l->clean = 0;
	count(l, 1, 1, !run);
}

/**
 * hcomm_loss_spurious - packets that were counted as lost did arrive
 * @l: estimator
 * @now: ns
 * @n: how many
 */
void hcomm_loss_spurious(struct hcomm_loss *l, u64 now, u32 n)
{
	struct hcomm_loss_count *t, d;
	u32 age, w;

	advance(l, now);
	/* The latest losses are the likeliest to have been none. */
	for (age = 0; n && age < HCOMM_LOSS_TICKS && age <= l->tick; age++) {
		t = tick_at(l, l->tick - age);
		d.sent = 0;
		d.lost = min(n, t->lost);
		if (!d.lost)
			continue;
		n -= d.lost;
		/* No more events than losses are left. */
		d.events = t->events > t->lost - d.lost ?
			   t->events - (t->lost - d.lost) : 0;
		sub(t, &d);
		for (w = 0; w < HCOMM_LOSS_WINDOWS; w++)
			if (age < window_ticks[w])
				sub(&l->sum[w], &d);
	}
}

/* Burst correction and a bound that keeps the squares within 64 bits. */
static void effective(const struct hcomm_loss_count *c, u64 *n, u64 *k)
{
	*n = c->sent;
	*k = c->lost;
	if (c->events && c->lost > c->events) {
		*n = div64_u64(*n * c->events, 2 * *k - c->events);
		*k = div64_u64(*k * c->events, 2 * *k - c->events);
	}
	while (*n > MAX_SAMPLES) {
		*n >>= 1;
		*k >>= 1;
	}
}

/* Fraction bits that @n leaves free below 2^30. */
static u32 fraction(u64 n)
{
	u32 s = 0;

	while (s < MAX_FRACTION && n << (s + 1) < 1ULL << 30)
		s++;
	return s;
}

/* (k - nT)^2 > z^2 n T (1 - T), the right one for @above, in fixed point. */
static bool beyond(u64 n, u64 k, u32 ppm, u32 z2_x4, bool above)
{
	u32 s = fraction(n);
	u64 got = k << s, want = div_u64((n << s) * ppm, PPM), d, var;

	if (above ? got <= want : got >= want)
		return false;
	d = above ? got - want : want - got;
	var = div_u64(want * (PPM - ppm), PPM);
	/* d < 2^30 and var < 2^30: neither side overflows. */
	return d * d > (var * z2_x4 << s) >> 2;
}

/**
 * hcomm_loss_verdict - whether the link loses too much
 * @l: estimator
 * @now: ns
 * @window: set to the window that says so, if it is bad
 */
enum hcomm_loss_verdict hcomm_loss_verdict(struct hcomm_loss *l, u64 now,
					   int *window)
{
	u64 n, k;
	int w;

	advance(l, now);
	for (w = 0; w < HCOMM_LOSS_WINDOWS; w++) {
		if (l->sum[w].events < HCOMM_LOSS_MIN_EVENTS)
			continue;
		effective(&l->sum[w], &n, &k);
		if (beyond(n, k, l->ppm, Z2_BAD_X4, true)) {
			*window = w;
			return HCOMM_LOSS_BAD;
		}
	}
	return hcomm_loss_clean(l, now) ? HCOMM_LOSS_GOOD : HCOMM_LOSS_UNKNOWN;
}

/* Whether there is proof that the link loses less than the threshold. */
bool hcomm_loss_clean(struct hcomm_loss *l, u64 now)
{
	u64 n, k;

	advance(l, now);
	if (l->clean * l->ppm >= 5ULL * PPM)
		return true;
	effective(&l->sum[HCOMM_LOSS_WINDOWS - 1], &n, &k);
	return n && beyond(n, k, l->ppm, Z2_GOOD_X4, false);
}

/* The bound is where the test turns over. */
static u32 bound(u64 n, u64 k, u32 z2_x4, bool lower)
{
	u32 lo = 0, hi = PPM, mid;

	if (!n)
		return lower ? 0 : PPM;
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (beyond(n, k, mid, z2_x4, lower) == lower)
			lo = mid;
		else
			hi = mid;
	}
	return lower ? lo : hi;
}

/**
 * hcomm_loss_window - what a window says
 * @l: estimator
 * @now: ns
 * @window: 0 to HCOMM_LOSS_WINDOWS - 1
 * @out: result
 */
void hcomm_loss_window(struct hcomm_loss *l, u64 now, int window,
		       struct hcomm_loss_stat *out)
{
	const struct hcomm_loss_count *c = &l->sum[window];
	u64 n, k;

	advance(l, now);
	effective(c, &n, &k);
	out->window_ms = window_ticks[window] * HCOMM_LOSS_TICK_MS;
	out->sent = c->sent;
	out->lost = c->lost;
	out->events = c->events;
	out->lower_ppm = bound(n, k, Z2_BAD_X4, true);
	out->upper_ppm = bound(n, k, Z2_GOOD_X4, false);
}

/**
 * hcomm_holddown_init - no hold-down yet
 * @h: hold-down
 * @base: length of the first one, ns; 0: none ever
 */
void hcomm_holddown_init(struct hcomm_holddown *h, u64 base)
{
	h->base = base;
	h->period = base;
	h->until = 0;
	h->last_bad = 0;
}

/**
 * hcomm_holddown_bad - the link was found bad or dead
 * @h: hold-down
 * @now: ns
 *
 * Each time is twice as long as the one before; a long time without trouble
 * forgives everything. Trouble while it runs only begins it anew.
 */
void hcomm_holddown_bad(struct hcomm_holddown *h, u64 now)
{
	u64 limit = max_t(u64, h->base, HCOMM_HOLDDOWN_MAX_S * HCOMM_NS_PER_S);

	if (h->last_bad &&
	    now - h->last_bad > HCOMM_HOLDDOWN_FORGIVE_S * HCOMM_NS_PER_S)
		h->period = h->base;
	else if (h->last_bad && now >= h->until)
		h->period = min_t(u64, h->period * 2, limit);
	h->last_bad = now;
	h->until = now + h->period;
}

/* How long it still lasts, ns; 0: it is over. */
u64 hcomm_holddown_left(const struct hcomm_holddown *h, u64 now)
{
	return h->until > now ? h->until - now : 0;
}
