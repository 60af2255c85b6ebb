// SPDX-License-Identifier: GPL-2.0
/*
 * What a path costs: w_L * latency / best latency + w_U * phi(load) + w_P *
 * psi(loss). phi is the convex cost of Fortz and Thorup ("Internet traffic
 * engineering by optimizing OSPF weights", INFOCOM 2000).
 */
#include "cost.h"

enum {
	ONE = HCOMM_COST_ONE,
	PSI_MAX = 10 * ONE,
	/* More than ten times full is full enough; so many times slower, too. */
	LOAD_MAX = 10 * ONE,
	RATIO_MAX = 1000,
	MARGIN = ONE / 20,		/* 0.05 */
	HALF_LIFE_MS = 4000,
};

/**
 * hcomm_cost_latency - one way, of which queueing is half at most
 * @rtt_min: smallest round trip, ns
 * @rtt_smoothed: average, ns
 *
 * Without the bound a full queue would make traffic swing to and fro.
 */
u64 hcomm_cost_latency(u64 rtt_min, u64 rtt_smoothed)
{
	u64 base = rtt_min / 2, queue = 0;

	if (rtt_smoothed > rtt_min)
		queue = rtt_smoothed / 2 - base;
	return base + min(queue, base);
}

/**
 * hcomm_cost_phi - cost of a load, in 1/1024
 * @load: in 1/1024 of the capacity
 */
u32 hcomm_cost_phi(u32 load)
{
	/* Slope above each load; thirds of 1024 are not whole: times 30. */
	static const struct {
		u32 from;
		u32 slope;
	} piece[] = {
		{ 0, 1 },	{ 10 * ONE, 3 },    { 20 * ONE, 10 },
		{ 27 * ONE, 70 }, { 30 * ONE, 500 }, { 33 * ONE, 5000 },
	};
	u32 x = min_t(u32, load, LOAD_MAX) * 30, i;
	u64 sum = 0;

	/* From the top: each piece takes what lies above its beginning. */
	for (i = ARRAY_SIZE(piece); i--;) {
		if (x <= piece[i].from)
			continue;
		sum += (u64)(x - piece[i].from) * piece[i].slope;
		x = piece[i].from;
	}
	return div_u64(sum, 30);
}

/**
 * hcomm_cost_psi - cost of a loss, in 1/1024
 * @loss_ppm: the middle of the interval
 * @upper_ppm: its end
 * @threshold_ppm: loss that is too much
 *
 * Nothing while it is certain that the loss is well below the threshold.
 */
u32 hcomm_cost_psi(u32 loss_ppm, u32 upper_ppm, u32 threshold_ppm)
{
	u64 psi;

	if (4 * (u64)upper_ppm < threshold_ppm)
		return 0;
	psi = div_u64((u64)loss_ppm * ONE, max_t(u32, threshold_ppm, 1));
	return min_t(u64, psi, PSI_MAX);
}

/**
 * hcomm_cost_common - terms that are known of every usable candidate
 * @in: candidates
 * @nr: how many
 *
 * A term that is missing for one is left out for all: it must be neither an
 * advantage nor a disadvantage not to know.
 */
u32 hcomm_cost_common(const struct hcomm_cost_in *in, u32 nr)
{
	u32 terms = HCOMM_COST_LATENCY | HCOMM_COST_LOAD | HCOMM_COST_LOSS;
	u32 i;

	for (i = 0; i < nr; i++)
		if (in[i].usable)
			terms &= in[i].known;
	return terms;
}

/* Below 1 us nothing is measured, and an hour is for ever. */
static u64 microseconds(u64 ns)
{
	return clamp_t(u64, div_u64(ns, HCOMM_NS_PER_US), 1, U32_MAX);
}

static u32 ratio(u64 latency, u64 best)
{
	best = microseconds(best);
	/* Nothing is faster than the best. */
	latency = max(microseconds(latency), best);
	return min_t(u64, div64_u64(latency * ONE, best), RATIO_MAX * ONE);
}

/**
 * hcomm_cost - cost of a candidate, in 1/1024
 * @in: what is known
 * @w: weights, each below 1024 * 1024
 * @terms: enum hcomm_cost_known: which to use, from hcomm_cost_common()
 *
 * Return: the cost, or HCOMM_COST_NEVER. Costs of different @terms cannot be
 * compared.
 */
u32 hcomm_cost(const struct hcomm_cost_in *in,
	       const struct hcomm_cost_weights *w, u32 terms)
{
	u64 sum = 0;

	if (!in->usable)
		return HCOMM_COST_NEVER;
	terms &= in->known;
	if (terms & HCOMM_COST_LATENCY)
		sum += (u64)w->latency * ratio(in->latency, in->best_latency);
	if (terms & HCOMM_COST_LOAD)
		sum += (u64)w->load * hcomm_cost_phi(in->load);
	if (terms & HCOMM_COST_LOSS)
		sum += (u64)w->loss * hcomm_cost_psi(in->loss_ppm,
						     in->upper_ppm,
						     in->threshold_ppm);
	return min_t(u64, div_u64(sum, ONE), HCOMM_COST_NEVER - 1);
}

/**
 * hcomm_cost_smooth - moving average with a half-life of 4 s
 * @smoothed: average so far
 * @cost: new cost
 * @ms: time since the last one
 *
 * HCOMM_COST_NEVER, old or new, is not smoothed: it counts at once.
 */
u32 hcomm_cost_smooth(u32 smoothed, u32 cost, u32 ms)
{
	u64 keep, x;
	u32 halves;

	if (smoothed == HCOMM_COST_NEVER || cost == HCOMM_COST_NEVER)
		return cost;
	halves = ms / HALF_LIFE_MS;
	if (halves > 31)
		return cost;
	/* 2^-x below 1, near enough: 1 - 0.6931 x + 0.2402 x^2 - 0.0471 x^3 */
	x = div_u64((u64)(ms % HALF_LIFE_MS) << 20, HALF_LIFE_MS);
	keep = 251896 - (x * 49367 >> 20);
	keep = 726817 - (x * keep >> 20);
	keep = ((1 << 20) - (x * keep >> 20)) >> halves;
	return (smoothed * keep + cost * ((1 << 20) - keep)) >> 20;
}

/**
 * hcomm_cost_better - whether it is worth while to change
 * @cost: of the candidate, with the demand that would move there
 * @current_cost: of the path in use, of the same terms
 *
 * Return: @cost is below 0.8 of the other, and by 0.05 at least.
 */
bool hcomm_cost_better(u32 cost, u32 current_cost)
{
	if (cost == HCOMM_COST_NEVER)
		return false;
	if (current_cost == HCOMM_COST_NEVER)
		return true;
	return (u64)cost * 5 < (u64)current_cost * 4 &&
	       (u64)cost + MARGIN <= current_cost;
}
