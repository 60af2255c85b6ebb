// SPDX-License-Identifier: GPL-2.0
#include <math.h>

#include "recovery.h"
#include "unit.h"

#define MS HCOMM_NS_PER_MS

static void rtt(void)
{
	struct hcomm_rtt r;
	int i;

	hcomm_rtt_init(&r);
	CHECK(r.smoothed == 333 * MS);
	hcomm_rtt_sample(&r, 0, 10 * MS, 0, 0);
	CHECK(r.smoothed == 10 * MS && r.var == 5 * MS && r.min == 10 * MS);
	/* RFC 9002: adjusted only if that does not go below the minimum. */
	hcomm_rtt_sample(&r, 0, 12 * MS, 5 * MS, 25 * MS);
	CHECK(r.smoothed == (7 * 10 * MS + 12 * MS) / 8);
	hcomm_rtt_init(&r);
	hcomm_rtt_sample(&r, 0, 10 * MS, 0, 0);
	hcomm_rtt_sample(&r, 0, 26 * MS, 20 * MS, 8 * MS);
	CHECK(r.smoothed == (7 * 10 * MS + 18 * MS) / 8, "%" PRIu64, r.smoothed);
	for (i = 0; i < 200; i++)
		hcomm_rtt_sample(&r, 40000 * MS, 20 * MS, 0, 0);
	CHECK(r.min == 20 * MS && r.smoothed > 19 * MS);
	CHECK(hcomm_rtt_pto(&r, 5 * MS, 50 * MS) == 50 * MS);
	CHECK(hcomm_rtt_loss_delay(&r) >= 22 * MS);
}

/* RFC 9438 in floating point. */
static double cubic(double t, double w_max, double cwnd)
{
	double k = cbrt((w_max - cwnd) / 0.4);

	return 0.4 * pow(t - k, 3) + w_max;
}

static void window(void)
{
	struct hcomm_cc c;
	struct hcomm_rtt r;
	double got, want;
	u64 now = 1000 * MS;
	int i;

	hcomm_rtt_init(&r);
	for (i = 0; i < 20; i++)
		hcomm_rtt_sample(&r, 0, 100 * MS, 0, 0);
	hcomm_cc_init(&c, 1000, 10);
	CHECK(c.cwnd == 10000 && hcomm_cc_may_send(&c, 10000) &&
	      !hcomm_cc_may_send(&c, 10001));
	hcomm_cc_sent(&c, 1000, now);
	hcomm_cc_acked(&c, now, 1000, 1, &r, false);
	CHECK(c.cwnd == 10000, "grew though it was not the limit");
	hcomm_cc_sent(&c, 1000, now);
	hcomm_cc_acked(&c, now, 1000, 1, &r, true);
	CHECK(c.cwnd == 11000, "slow start");
	c.cwnd = 1000000;
	hcomm_cc_sent(&c, 3000, now);
	hcomm_cc_lost(&c, now, 1000, now - 1);
	CHECK(c.cwnd == 700000 && c.ssthresh == 700000);
	hcomm_cc_lost(&c, now, 1000, now - 1);
	CHECK(c.cwnd == 700000, "two reductions for one loss");
	/* Grow for 12 s of 100 ms rounds with a full window each. */
	for (i = 1; i <= 120; i++) {
		u64 n = c.cwnd / 1000;

		now += 100 * MS;
		while (n--)
			hcomm_cc_acked(&c, now, 1000, now - 1, &r, true);
	}
	got = c.cwnd / 1000.0;
	want = cubic(11.9, 1000, 700);
	CHECK(fabs(got - want) < want / 20, "%f instead of %f", got, want);
	hcomm_cc_undo(&c);
	hcomm_cc_persistent(&c);
	CHECK(c.cwnd == 2000);
}

static void undo(void)
{
	struct hcomm_cc c;

	hcomm_cc_init(&c, 1000, 100);
	hcomm_cc_sent(&c, 1000, 5);
	hcomm_cc_lost(&c, 10, 1000, 5);
	CHECK(c.cwnd == 70000);
	hcomm_cc_undo(&c);
	CHECK(c.cwnd == 100000 && c.ssthresh == U64_MAX);
	hcomm_cc_undo(&c);
	CHECK(c.cwnd == 100000);
}

static void pacer(void)
{
	struct hcomm_pacer p = { 0 };
	u64 now = 1000 * MS, sent = 0, end = now + 1000 * MS, wait;

	while (now < end) {
		wait = hcomm_pacer_delay(&p, now, 10000000, 20000);
		if (wait) {
			now += wait;
			continue;
		}
		hcomm_pacer_sent(&p, now, 10000000, 1000);
		sent += 1000;
	}
	CHECK(sent >= 9990000 && sent <= 10030000, "%" PRIu64, sent);
}

int main(void)
{
	rtt();
	window();
	undo();
	pacer();
	printf("recovery: pass\n");
	return 0;
}
