// SPDX-License-Identifier: GPL-2.0
#include "window.h"

void hcomm_ranges_init(struct hcomm_ranges *s)
{
	s->nr = 0;
	s->floor = 0;
}

static void remove_at(struct hcomm_ranges *s, u16 i, u16 n)
{
	memmove(&s->r[i], &s->r[i + n], (s->nr - i - n) * sizeof(s->r[0]));
	s->nr -= n;
}

static void insert_at(struct hcomm_ranges *s, u16 i, u64 start, u64 end)
{
	memmove(&s->r[i + 1], &s->r[i], (s->nr - i) * sizeof(s->r[0]));
	s->r[i].start = start;
	s->r[i].end = end;
	s->nr++;
}

/* First range that ends at or behind @at. Most often it is the last one. */
static u16 find(const struct hcomm_ranges *s, u64 at)
{
	u16 lo = 0, hi = s->nr;

	if (hi && s->r[hi - 1].end < at)
		return hi;
	while (lo < hi) {
		u16 mid = (lo + hi) / 2;

		if (s->r[mid].end < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* May leave one range more than the set holds: the caller has to see to it. */
static void add(struct hcomm_ranges *s, u64 start, u64 end)
{
	u16 i, j;

	if (start >= end)
		return;
	i = find(s, start);
	for (j = i; j < s->nr && s->r[j].start <= end; j++)
		;
	if (i == j) {
		insert_at(s, i, start, end);
		return;
	}
	s->r[i].start = min(s->r[i].start, start);
	s->r[i].end = max(s->r[j - 1].end, end);
	remove_at(s, i + 1, j - i - 1);
}

static void forget_lowest(struct hcomm_ranges *s)
{
	if (s->nr <= HCOMM_RANGES_MAX)
		return;
	s->floor = s->r[0].end;
	remove_at(s, 0, 1);
}

/**
 * hcomm_ranges_add - add [@start, @end)
 * @s: set
 * @start: first number
 * @end: behind the last; nothing is added if it is not above @start
 *
 * Return: 0; -ENOSPC if the set is full, and left as it was.
 */
int hcomm_ranges_add(struct hcomm_ranges *s, u64 start, u64 end)
{
	add(s, start, end);
	if (s->nr <= HCOMM_RANGES_MAX)
		return 0;
	/* It touched no other, or there would be no more ranges than before. */
	remove_at(s, find(s, end), 1);
	return -ENOSPC;
}

/**
 * hcomm_ranges_add_widen - add, and close the smallest gap if the set is full
 * @s: set
 * @start: first number
 * @end: behind the last
 *
 * For what is to be sent again: too much does no harm, too little does.
 */
void hcomm_ranges_add_widen(struct hcomm_ranges *s, u64 start, u64 end)
{
	u64 gap, best = U64_MAX;
	u16 i, at = 0;

	add(s, start, end);
	if (s->nr <= HCOMM_RANGES_MAX)
		return;
	for (i = 0; i + 1 < s->nr; i++) {
		gap = s->r[i + 1].start - s->r[i].end;
		if (gap < best) {
			best = gap;
			at = i;
		}
	}
	s->r[at].end = s->r[at + 1].end;
	remove_at(s, at + 1, 1);
}

/**
 * hcomm_ranges_add_forget - add, and forget the lowest range if the set is full
 * @s: set
 * @start: first number
 * @end: behind the last
 *
 * For what has arrived: what lies below hcomm_ranges_floor() counts as having
 * arrived as well.
 */
void hcomm_ranges_add_forget(struct hcomm_ranges *s, u64 start, u64 end)
{
	add(s, max(start, s->floor), end);
	forget_lowest(s);
}

/* Below this the set does not know; 0 while nothing was forgotten. */
u64 hcomm_ranges_floor(const struct hcomm_ranges *s)
{
	return s->floor;
}

/* May leave one range more than the set holds. */
static void del(struct hcomm_ranges *s, u64 start, u64 end)
{
	u16 i, j;

	if (start >= end)
		return;
	i = find(s, start);
	if (i < s->nr && s->r[i].start < start && s->r[i].end > end) {
		insert_at(s, i + 1, end, s->r[i].end);
		s->r[i].end = start;
		return;
	}
	if (i < s->nr && s->r[i].start < start)
		s->r[i++].end = start;
	for (j = i; j < s->nr && s->r[j].end <= end; j++)
		;
	if (j < s->nr && s->r[j].start < end)
		s->r[j].start = end;
	remove_at(s, i, j - i);
}

/**
 * hcomm_ranges_del - take [@start, @end) out
 * @s: set
 * @start: first number
 * @end: behind the last
 *
 * Return: 0; -ENOSPC if a range would have to be split in a full set, which is
 * left as it was.
 */
int hcomm_ranges_del(struct hcomm_ranges *s, u64 start, u64 end)
{
	del(s, start, end);
	if (s->nr <= HCOMM_RANGES_MAX)
		return 0;
	/* A full set was split: together again. */
	add(s, start, end);
	return -ENOSPC;
}

/**
 * hcomm_ranges_del_forget - take out, and forget the lowest range if need be
 * @s: set
 * @start: first number
 * @end: behind the last
 *
 * The counterpart of hcomm_ranges_add_forget(): what was taken out is out.
 */
void hcomm_ranges_del_forget(struct hcomm_ranges *s, u64 start, u64 end)
{
	del(s, start, end);
	forget_lowest(s);
}

/* Whether all of [@start, @end), which is not empty, is in the set. */
bool hcomm_ranges_has(const struct hcomm_ranges *s, u64 start, u64 end)
{
	u16 i = find(s, start + 1);

	return i < s->nr && s->r[i].start <= start && s->r[i].end >= end;
}

bool hcomm_ranges_first(const struct hcomm_ranges *s, struct hcomm_range *r)
{
	if (!s->nr)
		return false;
	*r = s->r[0];
	return true;
}

/**
 * hcomm_ranges_next_gap - first part of [@from, @to) that is not in the set
 * @s: set
 * @from: first number
 * @to: behind the last
 * @gap: result
 *
 * Return: false if all of it is in the set.
 */
bool hcomm_ranges_next_gap(const struct hcomm_ranges *s, u64 from, u64 to,
			   struct hcomm_range *gap)
{
	u16 i = find(s, from);

	if (i < s->nr && s->r[i].start <= from)
		from = s->r[i++].end;
	if (from >= to)
		return false;
	gap->start = from;
	gap->end = i < s->nr && s->r[i].start < to ? s->r[i].start : to;
	return true;
}
