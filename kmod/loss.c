// SPDX-License-Identifier: GPL-2.0
/*
 * Whether a link loses too much. A link is bad if in any of three windows
 * there were enough loss events and the lower bound of the loss (Wilson, z =
 * 4.5) is above the threshold; it is good again if the upper bound (z = 3) is
 * below it. Losses in bursts are worth less than independent ones.
 *
 * The Wilson interval is the inversion of the score test: a threshold T is
 * below the lower bound exactly if K > nT and (K - nT)^2 > z^2 n T (1 - T).
 * So neither a root nor a table is needed. Counting a packet takes no division:
 * only the first packet of a tick and the verdict do.
 */
#include "loss.h"

static const u32 window_ticks[HCOMM_LOSS_WINDOWS] = { 5, 25, 150 };

enum {
	Z2_BAD_X4 = 81,			/* 4 z^2 of z = 4.5 */
	Z2_GOOD_X4 = 36,		/* 4 z^2 of z = 3 */
	PPM = 1000000,
	RATIO_SHIFT = 20,
	MAX_SHIFT = 20,
	MAX_SCALED = 1 << 30,
};

#define TICK_NS	((u32)(HCOMM_LOSS_TICK_MS * HCOMM_NS_PER_MS))

void hcomm_loss_reset(struct hcomm_loss *l, u64 now)
{
	u32 ppm = l->ppm;

	memset(l, 0, sizeof(*l));
	l->ppm = ppm;
	l->tick_end = now + TICK_NS;
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

static struct hcomm_loss_count *tick_ago(struct hcomm_loss *l, u32 age)
{
	u32 pos = l->pos + HCOMM_LOSS_TICKS - age;

	return &l->ring[pos < HCOMM_LOSS_TICKS ? pos : pos - HCOMM_LOSS_TICKS];
}

static void next_tick(struct hcomm_loss *l)
{
	u32 w;

	for (w = 0; w < HCOMM_LOSS_WINDOWS; w++)
		sub(&l->sum[w], tick_ago(l, window_ticks[w] - 1));
	l->pos = l->pos + 1 < HCOMM_LOSS_TICKS ? l->pos + 1 : 0;
	memset(&l->ring[l->pos], 0, sizeof(l->ring[0]));
}

/* Brings the windows up to the present: what is too old leaves them. */
static void advance(struct hcomm_loss *l, u64 now)
{
	u64 ticks;

	if (now < l->tick_end)
		return;
	ticks = div_u64(now - l->tick_end, TICK_NS) + 1;
	l->tick_end += ticks * TICK_NS;
	/* Once round leaves nothing of what was there. */
	for (ticks = min_t(u64, ticks, HCOMM_LOSS_TICKS); ticks; ticks--)
		next_tick(l);
}

static void count(struct hcomm_loss *l, u32 sent, u32 lost, u32 events)
{
	struct hcomm_loss_count *t = &l->ring[l->pos];
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
	l->clean = min_t(u64, l->clean + n, U32_MAX);
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
	for (age = 0; n && age < HCOMM_LOSS_TICKS; age++) {
		t = tick_ago(l, age);
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

/* Counts of packets in units of 2^-shift, so that the squares fit 64 bits. */
struct scaled {
	u64 n;
	u64 k;
	u32 shift;
};

/*
 * What the counts are worth: runs of b = K/E packets make n and K count
 * 1/(2b - 1) of what they are.
 */
static struct scaled effective(const struct hcomm_loss_count *c)
{
	struct scaled s = { .shift = c->sent >> 22 ? 10 : MAX_SHIFT };
	u64 ratio;

	s.n = (u64)c->sent << s.shift;
	s.k = (u64)c->lost << s.shift;
	if (c->events && c->lost > c->events) {
		ratio = div64_u64((u64)c->events << RATIO_SHIFT,
				  2 * (u64)c->lost - c->events);
		s.n = s.n * ratio >> RATIO_SHIFT;
		s.k = s.k * ratio >> RATIO_SHIFT;
	}
	while (s.n > MAX_SCALED) {
		s.n >>= 1;
		s.k >>= 1;
		/* A sample that is taken for a smaller one is still right. */
		if (s.shift)
			s.shift--;
	}
	return s;
}

/*
 * (k - nT)^2 > z^2 n T (1 - T), both sides times 4. Neither n nor k is above
 * 2^30.
 */
static bool beyond(const struct scaled *s, u32 ppm, u32 z2_x4, bool above)
{
	u64 want = div_u64(s->n * ppm, PPM);
	u64 d, var;

	if (above ? s->k <= want : s->k >= want)
		return false;
	d = above ? s->k - want : want - s->k;
	/* Rounded up: in doubt there is no verdict. */
	var = div_u64(want * (PPM - ppm) + PPM - 1, PPM) << s->shift;
	return 4 * d * d > var * z2_x4;
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
	struct scaled s;
	int w;

	advance(l, now);
	for (w = 0; w < HCOMM_LOSS_WINDOWS; w++) {
		if (l->sum[w].events < HCOMM_LOSS_MIN_EVENTS)
			continue;
		s = effective(&l->sum[w]);
		if (beyond(&s, l->ppm, Z2_BAD_X4, true)) {
			*window = w;
			return HCOMM_LOSS_BAD;
		}
	}
	return hcomm_loss_clean(l, now) ? HCOMM_LOSS_GOOD : HCOMM_LOSS_UNKNOWN;
}

/* Whether there is proof that the link loses less than the threshold. */
bool hcomm_loss_clean(struct hcomm_loss *l, u64 now)
{
	struct scaled s;

	advance(l, now);
	if (l->clean * l->ppm >= 5ULL * PPM)
		return true;
	s = effective(&l->sum[HCOMM_LOSS_WINDOWS - 1]);
	return beyond(&s, l->ppm, Z2_GOOD_X4, false);
}

/* The bound is where the test turns over. */
static u32 bound(const struct scaled *s, u32 z2_x4, bool lower)
{
	u32 lo = 0, hi = PPM, mid;

	if (!s->n)
		return lower ? 0 : PPM;
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (beyond(s, mid, z2_x4, lower) == lower)
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
	struct scaled s;

	advance(l, now);
	s = effective(c);
	out->window_ms = window_ticks[window] * HCOMM_LOSS_TICK_MS;
	out->sent = c->sent;
	out->lost = c->lost;
	out->events = c->events;
	out->lower_ppm = bound(&s, Z2_BAD_X4, true);
	out->upper_ppm = bound(&s, Z2_GOOD_X4, false);
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
	h->clean_since = 0;
}

/**
 * hcomm_holddown_bad - the link was found bad or dead
 * @h: hold-down
 * @now: ns
 *
 * Each time is twice as long as the one before; a long time as a good link
 * forgives everything. Trouble while it runs only begins it anew.
 */
void hcomm_holddown_bad(struct hcomm_holddown *h, u64 now)
{
	u64 limit = max_t(u64, h->base, HCOMM_HOLDDOWN_MAX_S * HCOMM_NS_PER_S);

	if (now > h->clean_since &&
	    now - h->clean_since > HCOMM_HOLDDOWN_FORGIVE_S * HCOMM_NS_PER_S)
		h->period = h->base;
	else if (h->last_bad && now >= h->until)
		h->period = min_t(u64, h->period * 2, limit);
	h->last_bad = now;
	h->until = now + h->period;
	h->clean_since = h->until;
}

/* The link is good again: from here on it earns its forgiveness. */
void hcomm_holddown_good(struct hcomm_holddown *h, u64 now)
{
	h->clean_since = max(h->clean_since, now);
}

/* How long it still lasts, ns; 0: it is over. */
u64 hcomm_holddown_left(const struct hcomm_holddown *h, u64 now)
{
	return h->until > now ? h->until - now : 0;
}
