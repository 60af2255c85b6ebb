// SPDX-License-Identifier: GPL-2.0
/* The verdict against the Wilson interval in floating point, and the policy by simulation. */
#include <math.h>

#include "loss.h"
#include "unit.h"

#define MS HCOMM_NS_PER_MS

static double frand(void)
{
	return (rnd() >> 11) * 0x1.0p-53;
}

static double wilson(double n, double k, double z, int upper)
{
	double p = k / n, a = p + z * z / (2 * n);
	double b = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

	return (upper ? a + b : a - b) / (1 + z * z / n);
}

static void bounds(void)
{
	struct hcomm_loss l;
	struct hcomm_loss_stat st;
	u64 pn = 10;
	int i, j;

	for (i = 0; i < 300; i++) {
		u32 n = 1 + rnd_below(20000), k = rnd_below(1 + n / 10);
		double lower, upper;

		hcomm_loss_init(&l, 10000, 0);
		hcomm_loss_acked(&l, 1, n - k);
		for (j = 0; j < (int)k; j++)
			hcomm_loss_lost(&l, 1, pn += 2);
		hcomm_loss_window(&l, 1, 2, &st);
		CHECK(st.sent == n && st.lost == k && st.events == k);
		lower = wilson(n, k, 4.5, 0) * 1e6;
		upper = wilson(n, k, 3, 1) * 1e6;
		CHECK(fabs(st.lower_ppm - lower) <= 2 + lower / 100,
		      "%u of %u: %u instead of %f", k, n, st.lower_ppm, lower);
		CHECK(fabs(st.upper_ppm - upper) <= 2 + upper / 100,
		      "%u of %u: %u instead of %f", k, n, st.upper_ppm, upper);
	}
}

static void windows(void)
{
	struct hcomm_loss_stat st;
	struct hcomm_loss l;

	hcomm_loss_init(&l, 10000, 0);
	hcomm_loss_acked(&l, 100 * MS, 100);
	hcomm_loss_lost(&l, 100 * MS, 7);
	hcomm_loss_lost(&l, 100 * MS, 8);
	hcomm_loss_window(&l, 900 * MS, 0, &st);
	CHECK(st.sent == 102 && st.lost == 2 && st.events == 1);
	hcomm_loss_window(&l, 1100 * MS, 0, &st);
	CHECK(st.sent == 0 && st.lost == 0, "an old tick is still there");
	hcomm_loss_window(&l, 1100 * MS, 1, &st);
	CHECK(st.sent == 102);
	hcomm_loss_spurious(&l, 1100 * MS, 1);
	hcomm_loss_window(&l, 1100 * MS, 2, &st);
	CHECK(st.lost == 1 && st.events == 1);
	hcomm_loss_spurious(&l, 1100 * MS, 1);
	hcomm_loss_window(&l, 1100 * MS, 2, &st);
	CHECK(st.lost == 0 && st.events == 0);
	hcomm_loss_window(&l, 40000 * MS, 2, &st);
	CHECK(st.sent == 0 && st.lost == 0 && st.events == 0);
}

/* Seconds until bad at 1000 packets/s with this loss in bursts; limit: never. */
static double detect(u32 ppm, double loss, int burst, int limit)
{
	struct hcomm_loss l;
	u64 pn = 1, now = 0;
	int w, left = 0;

	hcomm_loss_init(&l, ppm, now);
	while (now < limit * 1000 * MS) {
		now += MS;
		pn++;
		if (!left && frand() < loss / burst)
			left = burst;
		if (left) {
			left--;
			hcomm_loss_lost(&l, now, pn);
		} else {
			hcomm_loss_acked(&l, now, 1);
		}
		if (pn % 50 == 0 &&
		    hcomm_loss_verdict(&l, now, &w) == HCOMM_LOSS_BAD)
			return now / (1000.0 * MS);
	}
	return limit;
}

/* adaptive.md D.4: never left at a tenth, left soon at five and twenty times. */
static void policy(void)
{
	static const u32 t[] = { 1000, 10000, 30000 };
	static const double five[] = { 3, 1.5, 1 };
	int i, j;

	for (i = 0; i < 3; i++) {
		double sum = 0, T = t[i] / 1e6;

		CHECK(detect(t[i], T / 10, 1, 1800) == 1800,
		      "left at a tenth of %u ppm", t[i]);
		CHECK(detect(t[i], T / 10, 4, 1800) == 1800,
		      "left at a tenth of %u ppm in bursts", t[i]);
		for (j = 0; j < 20; j++)
			sum += detect(t[i], 5 * T, 1, 60);
		CHECK(sum / 20 < five[i], "%u ppm: 5 T took %.1f s", t[i],
		      sum / 20);
		printf("loss: threshold %u ppm: 5 T is found after %.1f s, 20 T after %.1f s\n",
		       t[i], sum / 20, detect(t[i], min(20 * T, 0.6), 1, 60));
	}
}

static void clean(void)
{
	struct hcomm_loss l;
	int w;

	hcomm_loss_init(&l, 10000, 0);
	CHECK(!hcomm_loss_clean(&l, 1));
	hcomm_loss_acked(&l, 1, 499);
	CHECK(hcomm_loss_verdict(&l, 1, &w) == HCOMM_LOSS_UNKNOWN ||
	      hcomm_loss_clean(&l, 1));
	hcomm_loss_acked(&l, 1, 1);
	CHECK(hcomm_loss_clean(&l, 1), "5/T packets without loss");
	hcomm_loss_lost(&l, 1, 5);
	hcomm_loss_lost(&l, 1, 9);
	hcomm_loss_lost(&l, 1, 19);
	hcomm_loss_lost(&l, 1, 29);
	CHECK(!hcomm_loss_clean(&l, 1));
}

static void holddown(void)
{
	const u64 s = HCOMM_NS_PER_S;
	struct hcomm_holddown h;
	u64 now = 1000 * s, want = 10 * s;
	int i;

	hcomm_holddown_init(&h, 10 * s);
	CHECK(!hcomm_holddown_left(&h, now));
	for (i = 0; i < 8; i++) {
		hcomm_holddown_bad(&h, now);
		CHECK(hcomm_holddown_left(&h, now) == want, "%d", i);
		now += want + s;
		want = min(2 * want, 300 * s);
	}
	hcomm_holddown_bad(&h, now);
	now += s;
	hcomm_holddown_bad(&h, now);
	CHECK(hcomm_holddown_left(&h, now) == 300 * s);
	now += 601 * s;
	hcomm_holddown_bad(&h, now);
	CHECK(hcomm_holddown_left(&h, now) == 10 * s, "not forgiven");
}

int main(void)
{
	bounds();
	windows();
	policy();
	clean();
	holddown();
	printf("loss: pass\n");
	return 0;
}
