/* SPDX-License-Identifier: GPL-2.0 */
/* What the files without kernel interfaces need, in the kernel and outside. */
#ifndef HCOMM_PURE_H
#define HCOMM_PURE_H

#ifdef __KERNEL__

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#else

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define min_t(t, a, b)	((t)(a) < (t)(b) ? (t)(a) : (t)(b))
#define max_t(t, a, b)	((t)(a) > (t)(b) ? (t)(a) : (t)(b))
#define clamp_t(t, v, lo, hi)	min_t(t, max_t(t, v, lo), hi)
#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define U64_MAX		UINT64_MAX
#define U32_MAX		UINT32_MAX

#ifdef HCOMM_PURE_NO_DIV
/* Only compiled, to see that nothing else divides 64-bit numbers. */
u64 div_u64(u64 a, u32 b);
u64 div64_u64(u64 a, u64 b);
#else
static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}
#endif

#endif /* __KERNEL__ */

#define HCOMM_NS_PER_US	1000ULL
#define HCOMM_NS_PER_MS	1000000ULL
#define HCOMM_NS_PER_S	1000000000ULL

#endif /* HCOMM_PURE_H */
