// SPDX-License-Identifier: GPL-2.0
/* Round-trip times, windows and pacing against RFC 9002 and RFC 9438 in floating point. */
#include <math.h>

#include "recovery.h"
#include "unit.h"

#define MS HCOMM_NS_PER_MS
#define SEC HCOMM_NS_PER_S

enum { MSS = 1448 };

static bool near(double got, double want, double part)
{
	return fabs(got - want) <= part * fabs(want);
}

static void rtt_against_model(void)
{
	double smoothed = 0, var = 0, sample, delay, lowest = 0;
	u64 now = rnd_any() >> 1, scale = 100000 + (rnd_any() >> 30), s, d, cap;
	struct hcomm_rtt r;
	u32 i;

	hcomm_rtt_init(&r);
	CHECK(r.smoothed == 333 * MS && !r.samples);
	for (i = 0; i < 200; i++) {
		s = scale + rnd_below(scale);
		d = rnd_below(2 * scale);
		cap = rnd_below(2) ? U64_MAX : rnd_below(scale);
		now += rnd_below(100 * MS);
		hcomm_rtt_sample(&r, now, s, d, cap);
		lowest = i ? fmin(lowest, s) : s;
		sample = s;
		delay = min(d, cap);
		if (!i) {
			smoothed = sample;
			var = sample / 2;
		} else {
			if (sample >= lowest + delay)
				sample -= delay;
			var = 0.75 * var + 0.25 * fabs(smoothed - sample);
			smoothed = 0.875 * smoothed + 0.125 * sample;
		}
		CHECK(near(r.smoothed, smoothed, 0.001));
		CHECK(near(r.var, var, 0.001));
		CHECK(r.latest == s && r.min == (u64)lowest);
		CHECK(r.samples == i + 1);
	}
	CHECK(near(hcomm_rtt_pto(&r, 5 * MS, 0),
		   smoothed + fmax(4 * var, MS) + 5 * MS, 0.001));
	CHECK(hcomm_rtt_pto(&r, 5 * MS, 1000 * SEC) == 1000 * SEC);
	CHECK(near(hcomm_rtt_loss_delay(&r),
		   fmax(1.125 * fmax(smoothed, r.latest), MS), 0.001));
}

static void rtt_window(void)
{
	struct hcomm_rtt r;

	hcomm_rtt_init(&r);
	hcomm_rtt_sample(&r, 100 * SEC, 10 * MS, 0, 0);
	hcomm_rtt_sample(&r, 101 * SEC, 20 * MS, 0, 0);
	CHECK(r.min == 10 * MS);
	/* Another CPU took its time before: the minimum is not 30 s old. */
	hcomm_rtt_sample(&r, 99 * SEC, 20 * MS, 0, 0);
	CHECK(r.min == 10 * MS);
	hcomm_rtt_sample(&r, 130 * SEC, 20 * MS, 0, 0);
	CHECK(r.min == 10 * MS);
	/* Too old to be true still. */
	hcomm_rtt_sample(&r, 131 * SEC, 20 * MS, 0, 0);
	CHECK(r.min == 20 * MS);
	hcomm_rtt_sample(&r, 132 * SEC, 15 * MS, 0, 0);
	CHECK(r.min == 15 * MS);
}

static struct hcomm_rtt fixed_rtt(u64 ns)
{
	struct hcomm_rtt r;
	u32 i;

	hcomm_rtt_init(&r);
	for (i = 0; i < 10; i++)
		hcomm_rtt_sample(&r, 1, ns, 0, 0);
	return r;
}

/* A full window is acknowledged packet by packet within one round trip. */
static void round_trip(struct hcomm_cc *c, u64 *now, const struct hcomm_rtt *r)
{
	u32 n = c->cwnd / c->mss, i;
	u64 sent = *now;

	for (i = 0; i < n; i++)
		hcomm_cc_sent(c, c->mss, sent);
	for (i = 0; i < n; i++)
		hcomm_cc_acked(c, sent + r->smoothed * (i + 1) / n, c->mss,
			       sent, r, true);
	CHECK(!c->inflight);
	*now += r->smoothed;
}

static void basics(void)
{
	struct hcomm_rtt r = fixed_rtt(20 * MS);
	struct hcomm_cc c;
	u64 now = SEC, cwnd;

	hcomm_cc_init(&c, MSS, 10);
	CHECK(c.cwnd == 10 * MSS);
	CHECK(hcomm_cc_may_send(&c, 10 * MSS));
	CHECK(!hcomm_cc_may_send(&c, 10 * MSS + 1));
	hcomm_cc_sent(&c, 9 * MSS, now);
	CHECK(hcomm_cc_may_send(&c, MSS) && !hcomm_cc_may_send(&c, MSS + 1));
	hcomm_cc_discarded(&c, 20 * MSS);
	CHECK(!c.inflight);
	/* Slow start doubles in a round trip. */
	round_trip(&c, &now, &r);
	CHECK(c.cwnd == 20 * MSS);
	/* Who does not use the window does not get more. */
	hcomm_cc_sent(&c, MSS, now);
	hcomm_cc_acked(&c, now + MS, MSS, now, &r, false);
	CHECK(c.cwnd == 20 * MSS);
	/* One reduction for all that was sent before it. */
	hcomm_cc_sent(&c, MSS, now);
	hcomm_cc_lost(&c, now + 1, MSS, now);
	CHECK(c.cwnd == 14 * MSS && c.ssthresh == 14 * MSS);
	hcomm_cc_lost(&c, now + 2, MSS, now);
	hcomm_cc_lost(&c, now + 3, MSS, now + 1);
	CHECK(c.cwnd == 14 * MSS);
	hcomm_cc_acked(&c, now + 3, MSS, now, &r, true);
	CHECK(c.cwnd == 14 * MSS);
	hcomm_cc_lost(&c, now + 9, MSS, now + 2);
	CHECK(near(c.cwnd, 9.8 * MSS, 0.001));
	/* Never below two packets, and persistent congestion goes there. */
	for (cwnd = now + 20; cwnd < now + 200; cwnd += 2)
		hcomm_cc_lost(&c, cwnd + 1, MSS, cwnd);
	CHECK(c.cwnd == 2 * MSS);
	hcomm_cc_init(&c, MSS, 10);
	hcomm_cc_lost(&c, 10, MSS, 5);
	hcomm_cc_persistent(&c);
	CHECK(c.cwnd == 2 * MSS && c.ssthresh == 7 * MSS);
	/* A larger packet: as many packets as before; a smaller: as many bytes. */
	hcomm_cc_init(&c, 1200, 10);
	hcomm_cc_set_mss(&c, 9000);
	CHECK(c.cwnd == 90000);
	hcomm_cc_set_mss(&c, 1200);
	CHECK(c.cwnd == 90000 && c.mss == 1200);
	/* A full queue of this host: no more than is on its way. */
	hcomm_cc_sent(&c, 30000, now);
	hcomm_cc_local_drop(&c);
	CHECK(c.cwnd == 30000 && c.ssthresh == 30000);
}

static void undo(void)
{
	struct hcomm_cc c;

	hcomm_cc_init(&c, MSS, 100);
	hcomm_cc_undo(&c);
	CHECK(c.cwnd == 100 * MSS);
	hcomm_cc_lost(&c, 10, MSS, 5);
	CHECK(c.cwnd == 70 * MSS);
	hcomm_cc_undo(&c);
	CHECK(c.cwnd == 100 * MSS && c.ssthresh == U64_MAX);
	/* Only once, and not after persistent congestion. */
	hcomm_cc_local_drop(&c);
	hcomm_cc_undo(&c);
	CHECK(c.cwnd == 2 * MSS);
	hcomm_cc_init(&c, MSS, 100);
	hcomm_cc_lost(&c, 10, MSS, 5);
	hcomm_cc_persistent(&c);
	hcomm_cc_undo(&c);
	CHECK(c.cwnd == 2 * MSS);
	/* Three lost: two late ones do not make up for the third. */
	hcomm_cc_init(&c, MSS, 100);
	hcomm_cc_lost(&c, 10, MSS, 5);
	hcomm_cc_lost(&c, 11, MSS, 6);
	hcomm_cc_lost(&c, 12, MSS, 7);
	hcomm_cc_spurious(&c, 2);
	CHECK(c.cwnd == 70 * MSS);
	hcomm_cc_spurious(&c, 1);
	CHECK(c.cwnd == 100 * MSS);
	hcomm_cc_lost(&c, 22, MSS, 20);
	CHECK(c.cwnd == 70 * MSS);
	hcomm_cc_spurious(&c, 9);
	CHECK(c.cwnd == 100 * MSS);
}

/* RFC 9438 in floating point, per round trip. */
static double cubic_model(double t, double cwnd0, double w_max, double *est,
			  double cwnd, double rtt)
{
	double k = cbrt(fmax(w_max - cwnd0, 0) / 0.4), w, target;

	w_max = fmax(w_max, cwnd0);
	*est += *est < w_max ? 9.0 / 17 : 1;
	w = 0.4 * pow(t - k, 3) + w_max;
	if (w < *est)
		return fmax(cwnd, *est);
	target = 0.4 * pow(t + rtt - k, 3) + w_max;
	return fmin(fmax(target, cwnd), 1.5 * cwnd);
}

/* After a reduction of a window of @packets on a path of @rtt. */
static void cubic_against_model(double packets, u64 rtt)
{
	struct hcomm_rtt r = fixed_rtt(rtt);
	double cwnd, est, start, t;
	struct hcomm_cc c;
	u64 now = SEC, begin;
	u32 i, rounds = min_t(u64, 30 * SEC / rtt, 400);

	hcomm_cc_init(&c, MSS, packets);
	hcomm_cc_lost(&c, now, MSS, now - 1);
	cwnd = (double)c.cwnd / MSS;
	CHECK(near(cwnd, packets * 0.7, 0.001));
	start = cwnd;
	est = cwnd;
	now += MS;
	begin = now;
	for (i = 0; i < rounds; i++) {
		round_trip(&c, &now, &r);
		t = (double)(now - begin) / SEC;
		cwnd = cubic_model(t - 1e-9 * rtt / 2, start, packets, &est,
				   cwnd, rtt / 1e9);
		CHECK(near((double)c.cwnd / MSS, cwnd, 0.02 + 1 / packets),
		      "%g packets, %g ms, %g s: %g for %g", packets, rtt / 1e6,
		      t, (double)c.cwnd / MSS, cwnd);
	}
}

/* The old window is reached again after K, and the curve is flat there. */
static void cubic_shape(void)
{
	struct hcomm_rtt r = fixed_rtt(100 * MS);
	double k = cbrt(0.3 * 1000 / 0.4);
	struct hcomm_cc c;
	u64 now = SEC, at_k = 0;

	hcomm_cc_init(&c, MSS, 1000);
	hcomm_cc_lost(&c, now, MSS, now - 1);
	now += 1;
	while (now < (1 + 2 * k) * SEC) {
		round_trip(&c, &now, &r);
		if (!at_k && now > (1 + k) * SEC) {
			at_k = now;
			CHECK(near((double)c.cwnd / MSS, 1000, 0.01));
		}
	}
	CHECK(near((double)c.cwnd / MSS, 1300, 0.04));
}

/* Who is pushed back twice leaves room for others; there is an upper bound. */
static void convergence(void)
{
	struct hcomm_rtt r = fixed_rtt(MS);
	struct hcomm_cc c;
	u64 now = SEC;

	hcomm_cc_init(&c, MSS, 1000);
	hcomm_cc_lost(&c, 10, MSS, 5);
	CHECK(c.w_max == 1000 * MSS);
	hcomm_cc_lost(&c, 20, MSS, 15);
	CHECK(near(c.w_max, 0.85 * 700 * MSS, 0.001));
	hcomm_cc_init(&c, 65000, 10000);
	round_trip(&c, &now, &r);
	CHECK(c.cwnd == 1 << 30);
}

/* Reno's growth is not lost to rounding where a packet is a small part. */
static void reno_region(void)
{
	struct hcomm_rtt r = fixed_rtt(100000);
	struct hcomm_cc c;
	u64 now = SEC, before;
	u32 i;

	hcomm_cc_init(&c, MSS, 4000);
	hcomm_cc_lost(&c, now, MSS, now - 1);
	now++;
	round_trip(&c, &now, &r);
	before = c.cwnd;
	for (i = 0; i < 100; i++)
		round_trip(&c, &now, &r);
	CHECK(near(c.cwnd - before, 100 * 9.0 / 17 * MSS, 0.05));
}

/* A pause is not time in which the window grows. */
static void idle(void)
{
	struct hcomm_rtt r = fixed_rtt(50 * MS);
	struct hcomm_cc c;
	u64 now = SEC, before;

	hcomm_cc_init(&c, MSS, 100);
	hcomm_cc_lost(&c, now, MSS, now - 1);
	now++;
	round_trip(&c, &now, &r);
	before = c.cwnd;
	now += 3600 * SEC;
	round_trip(&c, &now, &r);
	CHECK(c.cwnd - before < 5 * MSS);
	/* A clock that another CPU read a little earlier is no jump. */
	before = c.cwnd;
	hcomm_cc_sent(&c, MSS, now - 10 * SEC);
	hcomm_cc_acked(&c, now - 9 * SEC, MSS, now, &r, true);
	CHECK(c.cwnd - before < MSS);
}

/* A bottleneck: the queue makes the delay grow before it overflows. */
static void hystart_leaves(void)
{
	double capacity = 1000, base = 0.05, rtt = 0;
	u64 now = SEC, sent;
	struct hcomm_rtt r;
	struct hcomm_cc c;
	u32 i, n, rounds;

	hcomm_rtt_init(&r);
	hcomm_cc_init(&c, MSS, 10);
	for (rounds = 0; rounds < 30 && c.ssthresh == U64_MAX; rounds++) {
		n = c.cwnd / MSS;
		sent = now;
		for (i = 0; i < n; i++)
			hcomm_cc_sent(&c, MSS, sent);
		for (i = 0; i < n; i++) {
			/* What is above the capacity waits. */
			rtt = base * fmax(1, n / capacity);
			hcomm_cc_acked(&c, sent + rtt * 1e9 * (i + 1) / n, MSS,
				       sent, &r, true);
			hcomm_rtt_sample(&r, sent + rtt * 1e9 * (i + 1) / n,
					 rtt * 1e9, 0, 0);
		}
		now += rtt * 1e9;
	}
	CHECK(c.ssthresh != U64_MAX);
	/* Beyond the capacity, but not by much: 1.25 in each of five rounds. */
	CHECK(c.cwnd > 900 * MSS && c.cwnd < 6500 * MSS);
	/* On a path with a constant delay it stays out of the way. */
	r = fixed_rtt(50 * MS);
	hcomm_cc_init(&c, MSS, 10);
	for (i = 0; i < 12; i++)
		round_trip(&c, &now, &r);
	CHECK(c.cwnd == 10 * MSS << 12);
}

static void pacing(void)
{
	struct hcomm_rtt r = fixed_rtt(10 * MS);
	struct hcomm_pacer p = { 0 };
	u64 now = SEC, begin = now, bytes = 0, wait, rate, at_once = 0;
	struct hcomm_cc c;

	hcomm_cc_init(&c, MSS, 100);
	rate = hcomm_cc_pacing_rate(&c, &r);
	CHECK(near(rate, 2 * 100 * MSS / 0.01, 0.001));
	c.ssthresh = c.cwnd;
	rate = hcomm_cc_pacing_rate(&c, &r);
	CHECK(near(rate, 1.25 * 100 * MSS / 0.01, 0.001));
	while (!hcomm_pacer_delay(&p, now, rate, 64 * 1024)) {
		hcomm_pacer_sent(&p, now, rate, MSS);
		at_once += MSS;
	}
	CHECK(at_once >= 64 * 1024 && at_once <= 64 * 1024 + 2 * MSS);
	while (now < 11 * SEC) {
		wait = hcomm_pacer_delay(&p, now, rate, 64 * 1024);
		if (wait) {
			now += wait;
			CHECK(!hcomm_pacer_delay(&p, now, rate, 64 * 1024));
		}
		hcomm_pacer_sent(&p, now, rate, MSS);
		bytes += MSS;
	}
	CHECK(near(bytes, rate * ((now - begin) / 1e9), 0.01));
}

/* Any order of events keeps the window within its bounds. */
static void storm(void)
{
	u32 mss = 500 + rnd_below(65000), i;
	u64 now = rnd_any() >> 2;
	struct hcomm_rtt r;
	struct hcomm_cc c;

	hcomm_rtt_init(&r);
	hcomm_cc_init(&c, mss, 2 + rnd_below(1000));
	for (i = 0; i < 3000; i++) {
		u64 sent = now - min(now, rnd_any() >> 20);
		u32 n = 1 + rnd_below(mss);

		now += rnd_below(3) ? rnd_below(MS) : rnd_any() >> 26;
		switch (rnd_below(32)) {
		case 0:
			hcomm_cc_lost(&c, now, n, sent);
			break;
		case 1:
			hcomm_cc_spurious(&c, rnd_below(3));
			break;
		case 2:
			if (!rnd_below(20))
				hcomm_cc_persistent(&c);
			break;
		case 3:
			if (!rnd_below(20))
				hcomm_cc_local_drop(&c);
			break;
		case 4:
			hcomm_rtt_sample(&r, now, rnd_any() >> 24, rnd_any(),
					 rnd_any());
			break;
		case 5:
			if (!rnd_below(20)) {
				mss = 500 + rnd_below(65000);
				hcomm_cc_set_mss(&c, mss);
			}
			break;
		default:
			if (rnd_below(2))
				hcomm_cc_sent(&c, n, now);
			else
				hcomm_cc_acked(&c, now, n, sent, &r,
					       rnd_below(4));
		}
		CHECK(c.cwnd >= 2 * (u64)mss && c.cwnd <= 1 << 30);
		CHECK(hcomm_cc_pacing_rate(&c, &r));
	}
}

int main(int argc, char **argv)
{
	static const u64 rtts[] = { MS / 5, 2 * MS, 10 * MS, 50 * MS, 200 * MS };
	static const double windows[] = { 20, 200, 2000 };
	u32 i, j;

	unit_init(argc, argv);
	for (i = 0; i < 300; i++)
		rtt_against_model();
	rtt_window();
	basics();
	undo();
	for (i = 0; i < 5; i++)
		for (j = 0; j < 3; j++)
			cubic_against_model(windows[j], rtts[i]);
	cubic_shape();
	convergence();
	reno_region();
	idle();
	hystart_leaves();
	pacing();
	for (i = 0; i < 300; i++)
		storm();
	printf("recovery: pass: 15 cubics followed\n");
	return 0;
}
