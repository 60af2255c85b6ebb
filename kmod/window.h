/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_WINDOW_H
#define HCOMM_WINDOW_H

#include "pure.h"

enum { HCOMM_RANGES_MAX = 32 };

/* Half open: start is in, end is not. */
struct hcomm_range {
	u64 start;
	u64 end;
};

/**
 * struct hcomm_ranges - a bounded set of numbers
 * @nr: ranges in use, HCOMM_RANGES_MAX at most between two calls
 * @floor: what lies below it was forgotten
 * @r: the ranges: in order, apart by one number at least
 */
struct hcomm_ranges {
	u16 nr;
	u64 floor;
	struct hcomm_range r[HCOMM_RANGES_MAX + 1];
};

void hcomm_ranges_init(struct hcomm_ranges *s);
int hcomm_ranges_add(struct hcomm_ranges *s, u64 start, u64 end);
void hcomm_ranges_add_widen(struct hcomm_ranges *s, u64 start, u64 end);
void hcomm_ranges_add_forget(struct hcomm_ranges *s, u64 start, u64 end);
u64 hcomm_ranges_floor(const struct hcomm_ranges *s);
int hcomm_ranges_del(struct hcomm_ranges *s, u64 start, u64 end);
void hcomm_ranges_del_forget(struct hcomm_ranges *s, u64 start, u64 end);
bool hcomm_ranges_has(const struct hcomm_ranges *s, u64 start, u64 end);
bool hcomm_ranges_first(const struct hcomm_ranges *s, struct hcomm_range *r);
bool hcomm_ranges_next_gap(const struct hcomm_ranges *s, u64 from, u64 to,
			   struct hcomm_range *gap);

#endif /* HCOMM_WINDOW_H */
