// SPDX-License-Identifier: GPL-2.0
/* The loss estimator against a list of ticks and Wilson's interval in floating point. */
#include <math.h>

#include "loss.h"
#include "unit.h"

#define MS HCOMM_NS_PER_MS
#define TICK (HCOMM_LOSS_TICK_MS * MS)

enum { HISTORY = 4096, ROUNDS = 300, STEPS = 600 };

static const u32 ticks[HCOMM_LOSS_WINDOWS] = { 5, 25, 150 };

struct model {
	u64 begin;
	u64 last;
	struct hcomm_loss_count tick[HISTORY];
};

static struct hcomm_loss_count model_sum(const struct model *m, u64 now, int w)
{
	struct hcomm_loss_count sum = { 0 };
	u64 at = (now - m->begin) / TICK, i;

	for (i = at >= ticks[w] ? at - ticks[w] + 1 : 0; i <= at; i++) {
		sum.sent += m->tick[i].sent;
		sum.lost += m->tick[i].lost;
		sum.events += m->tick[i].events;
	}
	return sum;
}

/* Latest first; no more events than losses are left in a tick. */
static void model_spurious(struct model *m, u64 now, u32 n)
{
	s64 at = (now - m->begin) / TICK, i;

	for (i = at; n && i >= 0 && at - i < HCOMM_LOSS_TICKS; i--) {
		struct hcomm_loss_count *t = &m->tick[i];
		u32 d = min(n, t->lost);

		t->lost -= d;
		t->events = min(t->events, t->lost);
		n -= d;
	}
}

static void wilson(const struct hcomm_loss_count *c, double z, double *lower,
		   double *upper)
{
	double b = c->events && c->lost > c->events ?
		   (double)c->lost / c->events : 1;
	double n = c->sent / (2 * b - 1), k = c->lost / (2 * b - 1);
	double mid, half;

	*lower = 0;
	*upper = 1;
	if (n <= 0)
		return;
	mid = (k / n + z * z / (2 * n)) / (1 + z * z / n);
	half = z / (1 + z * z / n) *
	       sqrt(k / n * (1 - k / n) / n + z * z / (4 * n * n));
	*lower = mid - half;
	*upper = mid + half;
}

static bool near(double got, double want)
{
	return fabs(got - want) <= 0.01 * want + 3e-6;
}

/* Where the model says so clearly, the estimator must say the same. */
static void compare(struct hcomm_loss *l, const struct model *m, u64 now,
		    u64 clean)
{
	bool bad = false, maybe_bad = false, good, maybe_good;
	double lower, upper, unused, threshold = l->ppm / 1e6;
	enum hcomm_loss_verdict v;
	struct hcomm_loss_stat st;
	int w, window = -1;

	for (w = 0; w < HCOMM_LOSS_WINDOWS; w++) {
		struct hcomm_loss_count sum = model_sum(m, now, w);

		hcomm_loss_window(l, now, w, &st);
		CHECK(st.window_ms == ticks[w] * HCOMM_LOSS_TICK_MS);
		CHECK(st.sent == sum.sent && st.lost == sum.lost &&
		      st.events == sum.events);
		wilson(&sum, 4.5, &lower, &unused);
		wilson(&sum, 3, &unused, &upper);
		CHECK(near(st.lower_ppm / 1e6, lower));
		CHECK(near(st.upper_ppm / 1e6, upper));
		if (sum.events >= HCOMM_LOSS_MIN_EVENTS) {
			bad |= lower > threshold * 1.01 + 3e-6;
			maybe_bad |= lower > threshold * 0.99 - 3e-6;
		}
	}
	good = clean * threshold >= 5.001 || upper < threshold * 0.99 - 3e-6;
	maybe_good = clean * threshold >= 4.999 ||
		     upper < threshold * 1.01 + 3e-6;
	v = hcomm_loss_verdict(l, now, &window);
	CHECK(!bad || v == HCOMM_LOSS_BAD);
	CHECK(maybe_bad || v != HCOMM_LOSS_BAD);
	CHECK((v == HCOMM_LOSS_BAD) == (window >= 0));
	if (v == HCOMM_LOSS_BAD)
		return;
	CHECK(!good || v == HCOMM_LOSS_GOOD);
	CHECK(maybe_good || v != HCOMM_LOSS_GOOD);
	CHECK(hcomm_loss_clean(l, now) == (v == HCOMM_LOSS_GOOD));
}

static u32 seen[3];

static void against_model(void)
{
	static struct model m;
	struct hcomm_loss l;
	u64 now = rnd_any() >> 1, pn = 1, clean = 0, step = 1 + rnd_below(TICK);
	u32 loss = rnd_below(300000) >> rnd_below(12), i, run, n;
	u32 batch = 1 + (rnd_below(4000) >> rnd_below(11));
	struct hcomm_loss_count *t;
	int window;

	memset(&m, 0, sizeof(m));
	m.begin = now;
	hcomm_loss_init(&l, 1 + (rnd_below(500000) >> rnd_below(18)), now);
	for (i = 0; i < STEPS; i++) {
		/* Not later than the model can note. */
		now += rnd_below(100) ? rnd_below(step) : rnd_below(40 * TICK);
		if ((now - m.begin) / TICK >= HISTORY)
			break;
		t = &m.tick[(now - m.begin) / TICK];
		n = rnd_below(batch + 1);
		hcomm_loss_acked(&l, now, n);
		t->sent += n;
		clean += n;
		pn += n;
		if (rnd_below(1000000) < (u64)loss * (n + 1)) {
			run = 1 + (rnd_below(4) ? 0 : rnd_below(8));
			t->events++;
			t->lost += run;
			t->sent += run;
			clean = 0;
			pn++;
			while (run--)
				hcomm_loss_lost(&l, now, pn++);
		}
		if (!rnd_below(40)) {
			n = 1 + rnd_below(6);
			hcomm_loss_spurious(&l, now, n);
			model_spurious(&m, now, n);
		}
		compare(&l, &m, now, clean);
		seen[hcomm_loss_verdict(&l, now, &window)]++;
	}
}

static void special_cases(void)
{
	struct hcomm_loss l;
	int window = -1;
	u32 i;

	/* Four events are never enough, five of five are. */
	hcomm_loss_init(&l, 10000, 5);
	for (i = 0; i < 4; i++)
		hcomm_loss_lost(&l, 6, 10 + 2 * i);
	CHECK(hcomm_loss_verdict(&l, 6, &window) == HCOMM_LOSS_UNKNOWN);
	hcomm_loss_lost(&l, 6, 18);
	CHECK(hcomm_loss_verdict(&l, 6, &window) == HCOMM_LOSS_BAD);
	CHECK(window == 0);
	/* One long run is one event, whatever its length. */
	hcomm_loss_reset(&l, 7);
	for (i = 0; i < 1000; i++)
		hcomm_loss_lost(&l, 7, 10 + i);
	CHECK(hcomm_loss_verdict(&l, 7, &window) == HCOMM_LOSS_UNKNOWN);
	/* 5 / T packets without a loss are good, one less is not. */
	hcomm_loss_init(&l, 1000, 0);
	hcomm_loss_lost(&l, 1, 1);
	for (i = 0; i < 4999; i++)
		hcomm_loss_acked(&l, 10 * MS * i, 1);
	CHECK(!hcomm_loss_clean(&l, 50000 * MS));
	hcomm_loss_acked(&l, 50000 * MS, 1);
	CHECK(hcomm_loss_clean(&l, 50000 * MS));
	CHECK(hcomm_loss_verdict(&l, 50000 * MS, &window) == HCOMM_LOSS_GOOD);
	/* A time that another CPU took a little earlier does no harm. */
	hcomm_loss_lost(&l, 49000 * MS, 77);
	CHECK(!hcomm_loss_clean(&l, 50000 * MS));
	/* At 100 % nothing is too much; all windows empty in the end. */
	hcomm_loss_set_threshold(&l, 1000000);
	for (i = 0; i < 100; i++)
		hcomm_loss_lost(&l, 50000 * MS, 100 + 2 * i);
	CHECK(hcomm_loss_verdict(&l, 50000 * MS, &window) != HCOMM_LOSS_BAD);
	hcomm_loss_set_threshold(&l, 1000);
	CHECK(hcomm_loss_verdict(&l, 50000 * MS, &window) == HCOMM_LOSS_BAD);
	CHECK(hcomm_loss_verdict(&l, 80000 * MS, &window) == HCOMM_LOSS_UNKNOWN);
	/* The largest numbers that fit. */
	hcomm_loss_init(&l, 10000, 0);
	hcomm_loss_acked(&l, 1, 4000000000U);
	for (i = 0; i < 1000; i++)
		hcomm_loss_lost(&l, 1, 3 * i);
	CHECK(hcomm_loss_verdict(&l, 1, &window) == HCOMM_LOSS_GOOD);
}

static void holddown(void)
{
	struct hcomm_holddown h;
	u64 now = 1000 * MS, want = 10000 * MS;
	u32 i;

	hcomm_holddown_init(&h, 10000 * MS);
	CHECK(!hcomm_holddown_left(&h, now));
	for (i = 0; i < 8; i++) {
		hcomm_holddown_bad(&h, now);
		CHECK(hcomm_holddown_left(&h, now) == want);
		CHECK(hcomm_holddown_left(&h, now + want - 1) == 1);
		CHECK(!hcomm_holddown_left(&h, now + want));
		/* Trouble meanwhile: from the beginning, but no longer. */
		now += want / 2;
		hcomm_holddown_bad(&h, now);
		CHECK(hcomm_holddown_left(&h, now) == want);
		now += want;
		want = min(2 * want, (u64)HCOMM_HOLDDOWN_MAX_S * 1000 * MS);
	}
	CHECK(want == HCOMM_HOLDDOWN_MAX_S * 1000 * MS);
	/* To be held down, or to be found good late, is not to be clean. */
	now = h.until + HCOMM_HOLDDOWN_FORGIVE_S * 1000 * MS;
	hcomm_holddown_bad(&h, now);
	CHECK(hcomm_holddown_left(&h, now) == want);
	now = h.until + 100000 * MS;
	hcomm_holddown_good(&h, now);
	now += HCOMM_HOLDDOWN_FORGIVE_S * 1000 * MS;
	hcomm_holddown_bad(&h, now);
	CHECK(hcomm_holddown_left(&h, now) == want);
	now = h.until;
	hcomm_holddown_good(&h, now);
	now += HCOMM_HOLDDOWN_FORGIVE_S * 1000 * MS + 1;
	hcomm_holddown_bad(&h, now);
	CHECK(hcomm_holddown_left(&h, now) == 10000 * MS);
	hcomm_holddown_init(&h, 0);
	hcomm_holddown_bad(&h, now);
	hcomm_holddown_bad(&h, now + 1);
	CHECK(!hcomm_holddown_left(&h, now + 1));
}

int main(int argc, char **argv)
{
	u32 i;

	unit_init(argc, argv);
	CHECK(sizeof(struct hcomm_loss) <= 2560);
	special_cases();
	holddown();
	for (i = 0; i < ROUNDS; i++)
		against_model();
	for (i = 0; i < 3; i++)
		CHECK(seen[i] > 1000);
	printf("loss: pass: verdicts: %u unknown, %u good, %u bad\n", seen[0], seen[1],
	       seen[2]);
	return 0;
}
