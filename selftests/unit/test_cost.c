// SPDX-License-Identifier: GPL-2.0
/* The cost of a path against the same formula in floating point. */
#include <math.h>

#include "cost.h"
#include "unit.h"

#define ONE ((double)HCOMM_COST_ONE)

static bool near(double got, double want)
{
	return fabs(got - want) <= 0.001 * fabs(want) + 2 / ONE;
}

/* The envelope of the lines: the curve is convex. */
static double phi(double u)
{
	static const double at[] = { 0, 1.0 / 3, 2.0 / 3, 0.9, 1, 1.1 };
	static const double slope[] = { 1, 3, 10, 70, 500, 5000 };
	double line, most = 0, y = 0;
	int i;

	for (i = 0; i < 6; i++) {
		if (i)
			y += (at[i] - at[i - 1]) * slope[i - 1];
		line = y + (u - at[i]) * slope[i];
		most = fmax(most, line);
	}
	return most;
}

static double psi(double loss, double upper, double threshold)
{
	return upper < threshold / 4 ? 0 : fmin(10, loss / threshold);
}

static void pieces(void)
{
	/* The figures of the proposal. */
	static const double at[][2] = {
		{ 1.0 / 3, 0.33 }, { 2.0 / 3, 1.33 }, { 0.9, 3.67 },
		{ 1, 10.7 }, { 1.1, 60.7 },
	};
	u32 i;

	for (i = 0; i < 5; i++) {
		CHECK(fabs(phi(at[i][0]) - at[i][1]) < 0.05);
		CHECK(fabs(hcomm_cost_phi(at[i][0] * ONE) / ONE - at[i][1]) <
		      0.01 * at[i][1] + 0.01);
	}
	for (i = 0; i <= 3 * HCOMM_COST_ONE; i++) {
		CHECK(near(hcomm_cost_phi(i) / ONE, phi(i / ONE)));
		CHECK(hcomm_cost_phi(i) <= hcomm_cost_phi(i + 1));
	}
	CHECK(hcomm_cost_phi(U32_MAX) == hcomm_cost_phi(10 * HCOMM_COST_ONE));
	CHECK(hcomm_cost_psi(100, 2499, 10000) == 0);
	CHECK(hcomm_cost_psi(100, 2500, 10000) == HCOMM_COST_ONE / 100);
	CHECK(hcomm_cost_psi(1000000, 1000000, 1) == 10 * HCOMM_COST_ONE);
	for (i = 0; i < 100000; i++) {
		u32 t = 1 + rnd_below(1000000), p = rnd_below(1000001);
		u32 up = p + rnd_below(1000001 - p);

		CHECK(near(hcomm_cost_psi(p, up, t) / ONE, psi(p, up, t)));
	}
	/* Queueing counts, but at most as much as the path itself. */
	CHECK(hcomm_cost_latency(1000, 1000) == 500);
	CHECK(hcomm_cost_latency(1000, 1600) == 800);
	CHECK(hcomm_cost_latency(1000, 2000) == 1000);
	CHECK(hcomm_cost_latency(1000, 900000) == 1000);
	CHECK(hcomm_cost_latency(1000, 900) == 500);
	CHECK(hcomm_cost_latency(0, 900) == 0);
	CHECK(hcomm_cost_latency(U64_MAX, U64_MAX) == U64_MAX / 2);
}

static void whole_formula(void)
{
	struct hcomm_cost_weights w = {
		rnd_below(8 * HCOMM_COST_ONE), rnd_below(8 * HCOMM_COST_ONE),
		rnd_below(8 * HCOMM_COST_ONE),
	};
	struct hcomm_cost_in in = {
		.known = rnd_below(8), .usable = true,
		.best_latency = 1000 + rnd_below(100000000),
		.load = rnd_below(1500), .loss_ppm = rnd_below(50000),
		.threshold_ppm = 1000 + rnd_below(30000),
	};
	u32 terms = rnd_below(8), use = terms & in.known;
	double want = 0;

	in.latency = in.best_latency * (1 + 20 * rnd_unit());
	in.upper_ppm = in.loss_ppm + rnd_below(10000);
	if (use & HCOMM_COST_LATENCY)
		want += w.latency / ONE * (in.latency / 1000) /
			(in.best_latency / 1000);
	if (use & HCOMM_COST_LOAD)
		want += w.load / ONE * phi(in.load / ONE);
	if (use & HCOMM_COST_LOSS)
		want += w.loss / ONE *
			psi(in.loss_ppm, in.upper_ppm, in.threshold_ppm);
	CHECK(fabs(hcomm_cost(&in, &w, terms) / ONE - want) <=
	      0.002 * want + 16 / ONE);
	in.usable = false;
	CHECK(hcomm_cost(&in, &w, terms) == HCOMM_COST_NEVER);
}

static void missing(void)
{
	struct hcomm_cost_weights w = { 1024, 1024, 1024 };
	struct hcomm_cost_in in[3] = {
		{ .known = 7, .usable = true, .latency = 100000,
		  .best_latency = 100000, .load = 900, .threshold_ppm = 10000 },
		{ .known = 5, .usable = true, .latency = 150000,
		  .best_latency = 100000, .threshold_ppm = 10000 },
		{ .known = 0, .usable = false },
	};
	u32 terms = hcomm_cost_common(in, 3);

	/* That the second one's load is not known is no advantage. */
	CHECK(terms == (HCOMM_COST_LATENCY | HCOMM_COST_LOSS));
	CHECK(!hcomm_cost_better(hcomm_cost(&in[1], &w, terms),
				 hcomm_cost(&in[0], &w, terms)));
	CHECK(hcomm_cost(&in[1], &w, 7) < hcomm_cost(&in[0], &w, 7));
	in[2].usable = true;
	CHECK(hcomm_cost_common(in, 3) == 0);
	CHECK(hcomm_cost(&in[0], &w, 0) == 0);
	/* A figure that has become better since is not better than the best. */
	in[0].latency = 50000;
	CHECK(hcomm_cost(&in[0], &w, HCOMM_COST_LATENCY) == HCOMM_COST_ONE);
	/* Nothing overflows. */
	w = (struct hcomm_cost_weights){ U32_MAX, U32_MAX, U32_MAX };
	in[0].latency = U64_MAX;
	in[0].best_latency = 0;
	in[0].load = U32_MAX;
	in[0].loss_ppm = U32_MAX;
	in[0].upper_ppm = U32_MAX;
	in[0].threshold_ppm = 0;
	CHECK(hcomm_cost(&in[0], &w, 7) == HCOMM_COST_NEVER - 1);
}

static void switching(void)
{
	u32 cost = 10000, i;

	CHECK(hcomm_cost_better(799, 1000));
	CHECK(!hcomm_cost_better(800, 1000));
	/* A fifth of next to nothing is nothing. */
	CHECK(!hcomm_cost_better(100, 150));
	CHECK(hcomm_cost_better(100, 151));
	CHECK(hcomm_cost_better(HCOMM_COST_NEVER - 1, HCOMM_COST_NEVER));
	CHECK(!hcomm_cost_better(HCOMM_COST_NEVER, HCOMM_COST_NEVER));
	CHECK(!hcomm_cost_better(HCOMM_COST_NEVER, 1));
	for (i = 0; i < 200; i++) {
		u32 a = rnd_any() >> 33, b = rnd_any() >> 33;
		u32 ms = rnd_below(30000);
		double keep = pow(0.5, ms / 4000.0);

		CHECK(fabs(hcomm_cost_smooth(a, b, ms) -
			   (a * keep + b * (1 - keep))) <=
		      0.005 * (a > b ? a - b : b - a) + 2);
	}
	/* Many small steps are as good as a large one. */
	for (i = 0; i < 20; i++)
		cost = hcomm_cost_smooth(cost, 0, 200);
	CHECK(near(cost, 5000) || abs((int)cost - 5000) < 60);
	CHECK(hcomm_cost_smooth(7, 9, U32_MAX) == 9);
	CHECK(hcomm_cost_smooth(7, HCOMM_COST_NEVER, 1) == HCOMM_COST_NEVER);
	CHECK(hcomm_cost_smooth(HCOMM_COST_NEVER, 7, 1) == 7);
}

int main(int argc, char **argv)
{
	u32 i;

	unit_init(argc, argv);
	pieces();
	missing();
	switching();
	for (i = 0; i < 100000; i++)
		whole_formula();
	printf("cost: pass: 100000 costs as in floating point\n");
	return 0;
}
