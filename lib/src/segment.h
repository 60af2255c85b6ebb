/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* How a vector is divided among ranks, and the arithmetic of ranks. Pure. */
#ifndef HC_SEGMENT_H
#define HC_SEGMENT_H

#include <stdint.h>

/* First element of segment @i when @count elements are cut in @parts. */
static inline uint64_t hc_seg_first(uint64_t count, uint32_t parts, uint32_t i)
{
	uint64_t rest = count % parts;

	return count / parts * i + (i < rest ? i : rest);
}

static inline uint64_t hc_seg_count(uint64_t count, uint32_t parts, uint32_t i)
{
	return count / parts + (i < count % parts);
}

/* Largest power of two that is not above @n; @n > 0. */
static inline uint32_t hc_pow2_floor(uint32_t n)
{
	uint32_t p = 1;

	while (p <= n / 2)
		p *= 2;
	return p;
}

/* (rank + by) mod n and (rank - by) mod n, for rank, by < n. */
static inline uint32_t hc_rank_up(uint32_t rank, uint32_t by, uint32_t n)
{
	return rank >= n - by ? rank - (n - by) : rank + by;
}

static inline uint32_t hc_rank_down(uint32_t rank, uint32_t by, uint32_t n)
{
	return rank >= by ? rank - by : rank + (n - by);
}

#endif /* HC_SEGMENT_H */
