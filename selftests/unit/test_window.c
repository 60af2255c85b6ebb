// SPDX-License-Identifier: GPL-2.0
/* Sets of ranges against an array of flags. */
#include "window.h"
#include "unit.h"

enum { SPACE = 400, STEPS = 400000 };

struct model {
	bool in[SPACE];
	u64 floor;
};

static u64 base;

static u32 model_ranges(const struct model *m)
{
	u32 i, nr = 0;

	for (i = 0; i < SPACE; i++)
		nr += m->in[i] && (!i || !m->in[i - 1]);
	return nr;
}

static void model_set(struct model *m, u32 from, u32 to, bool in)
{
	for (; from < to; from++)
		m->in[from] = in;
}

static void model_forget(struct model *m)
{
	u32 i = 0;

	if (model_ranges(m) <= HCOMM_RANGES_MAX)
		return;
	while (!m->in[i])
		i++;
	while (m->in[i])
		m->in[i++] = false;
	m->floor = i;
}

/* Closes the first one of the smallest gaps. */
static void model_widen(struct model *m)
{
	u32 i, j, best = SPACE, at = 0;

	if (model_ranges(m) <= HCOMM_RANGES_MAX)
		return;
	for (i = 1; i < SPACE; i++) {
		if (m->in[i] || !m->in[i - 1])
			continue;
		for (j = i; j < SPACE && !m->in[j]; j++)
			;
		if (j < SPACE && j - i < best) {
			best = j - i;
			at = i;
		}
	}
	model_set(m, at, at + best, true);
}

static void compare(const struct hcomm_ranges *s, const struct model *m)
{
	u32 nr = 0, i, j;

	CHECK(s->nr <= HCOMM_RANGES_MAX);
	for (i = 0; i < SPACE; i = j) {
		for (j = i; j < SPACE && m->in[j] == m->in[i]; j++)
			;
		if (!m->in[i])
			continue;
		CHECK(nr < s->nr);
		CHECK(s->r[nr].start == base + i && s->r[nr].end == base + j);
		nr++;
	}
	CHECK(nr == s->nr);
	CHECK(hcomm_ranges_floor(s) == (m->floor ? base + m->floor : 0));
}

static void queries(const struct hcomm_ranges *s, const struct model *m)
{
	u32 from = rnd_below(SPACE), to = from + 1 + rnd_below(SPACE - from);
	u32 gap = from, end, i;
	struct hcomm_range r;

	while (gap < to && m->in[gap])
		gap++;
	for (end = gap; end < to && !m->in[end]; end++)
		;
	CHECK(hcomm_ranges_has(s, base + from, base + to) == (gap == to));
	CHECK(hcomm_ranges_next_gap(s, base + from, base + to, &r) ==
	      (gap < to));
	if (gap < to)
		CHECK(r.start == base + gap && r.end == base + end);
	for (i = 0; i < SPACE && !m->in[i]; i++)
		;
	CHECK(hcomm_ranges_first(s, &r) == (i < SPACE));
	if (i < SPACE)
		CHECK(r.start == base + i);
}

/* All or nothing. */
static void strict(struct hcomm_ranges *s, struct model *m, u32 from, u32 to,
		   bool in)
{
	struct model old = *m;
	int err, want;

	model_set(m, from, to, in);
	want = model_ranges(m) > HCOMM_RANGES_MAX ? -ENOSPC : 0;
	if (want)
		*m = old;
	if (in)
		err = hcomm_ranges_add(s, base + from, base + to);
	else
		err = hcomm_ranges_del(s, base + from, base + to);
	CHECK(err == want);
}

static void step(struct hcomm_ranges *s, struct model *m, u32 longest)
{
	u32 from = rnd_below(SPACE - longest), to = from + rnd_below(longest);

	switch (rnd_below(7)) {
	case 0:
	case 1:
		strict(s, m, from, to, true);
		break;
	case 2:
		strict(s, m, from, to, false);
		break;
	case 3:
		model_set(m, from, to, true);
		model_widen(m);
		hcomm_ranges_add_widen(s, base + from, base + to);
		break;
	case 4:
	case 5:
		model_set(m, max(from, (u32)m->floor), to, true);
		model_forget(m);
		hcomm_ranges_add_forget(s, base + from, base + to);
		break;
	case 6:
		model_set(m, from, to, false);
		model_forget(m);
		hcomm_ranges_del_forget(s, base + from, base + to);
		break;
	}
}

int main(int argc, char **argv)
{
	struct hcomm_ranges s;
	struct model m;
	u32 i, longest = 4, full = 0;

	unit_init(argc, argv);
	for (i = 0; i < STEPS; i++) {
		if (i % 2000 == 0) {
			base = 1 + (rnd_any() >> 2);
			longest = 2 + rnd_below(12);
			hcomm_ranges_init(&s);
			memset(&m, 0, sizeof(m));
		}
		step(&s, &m, longest);
		compare(&s, &m);
		queries(&s, &m);
		full += s.nr == HCOMM_RANGES_MAX;
	}
	/* The test is worth nothing if the sets were hardly ever full. */
	CHECK(full > STEPS / 20);
	printf("window: pass: %d steps, %u with a full set\n", STEPS, full);
	return 0;
}
