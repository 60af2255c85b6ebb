// SPDX-License-Identifier: GPL-2.0
/* The set of ranges against a plain array of bits. */
#include "unit.h"
#include "window.h"

enum { N = 400 };

static void same(const struct hcomm_ranges *s, const u8 *bits)
{
	u64 i, at = 0;
	u16 r;

	for (r = 0; r < s->nr; r++) {
		CHECK(s->r[r].start < s->r[r].end);
		CHECK(!r || s->r[r].start > s->r[r - 1].end);
		for (; at < s->r[r].start; at++)
			CHECK(!bits[at], "%" PRIu64, at);
		for (; at < s->r[r].end; at++)
			CHECK(bits[at], "%" PRIu64, at);
	}
	for (; at < N; at++)
		CHECK(!bits[at], "%" PRIu64, at);
	for (i = 0; i < N; i++)
		CHECK(hcomm_ranges_has(s, i, i + 1) == bits[i]);
}

static void gaps(const struct hcomm_ranges *s, const u8 *bits)
{
	u64 from = rnd_below(N), to = from + rnd_below(N - from);
	struct hcomm_range g;
	u64 i = from;

	while (hcomm_ranges_next_gap(s, i, to, &g)) {
		for (; i < g.start; i++)
			CHECK(bits[i]);
		for (; i < g.end; i++)
			CHECK(!bits[i]);
		CHECK(g.end <= to && g.start < g.end);
	}
	for (; i < to; i++)
		CHECK(bits[i]);
}

static void exact(void)
{
	struct hcomm_ranges s, before;
	u8 bits[N] = {};
	int i, err;
	u64 j;

	hcomm_ranges_init(&s);
	for (i = 0; i < 200000; i++) {
		u64 a = rnd_below(N), b = a + rnd_below(12);
		bool del = rnd() & 1;

		b = min(b, (u64)N);
		before = s;
		err = del ? hcomm_ranges_del(&s, a, b) :
			    hcomm_ranges_add(&s, a, b);
		if (err) {
			CHECK(err == -ENOSPC && s.nr == HCOMM_RANGES_MAX);
			CHECK(!memcmp(&s, &before, sizeof(s)));
		} else {
			for (j = a; j < b; j++)
				bits[j] = !del;
		}
		same(&s, bits);
		gaps(&s, bits);
	}
}

/* Widening may add, never take away; forgetting drops from below only. */
static void full(void)
{
	struct hcomm_ranges w, f;
	u8 bits[N] = {};
	u64 i, j;

	hcomm_ranges_init(&w);
	hcomm_ranges_init(&f);
	for (i = 0; i < 5000; i++) {
		u64 a = rnd_below(N - 1);

		hcomm_ranges_add_widen(&w, a, a + 1);
		hcomm_ranges_add_forget(&f, a, a + 1);
		bits[a] = 1;
		CHECK(hcomm_ranges_has(&w, a, a + 1));
		for (j = 0; j < N; j++) {
			CHECK(!bits[j] || hcomm_ranges_has(&w, j, j + 1));
			CHECK(bits[j] || !hcomm_ranges_has(&f, j, j + 1));
		}
		if (i % 100 == 99) {
			hcomm_ranges_init(&w);
			hcomm_ranges_init(&f);
			memset(bits, 0, sizeof(bits));
		}
	}
}

int main(void)
{
	exact();
	full();
	printf("window: pass\n");
	return 0;
}
