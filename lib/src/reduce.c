// SPDX-License-Identifier: LGPL-2.1 OR MIT
#include "reduce.h"

#include <string.h>

#include <hcomm/hcomm.h>

/*
 * The loops are written for the compiler to vectorise. The element types have
 * alignment 1, since user buffers may have any; the pragma says what restrict
 * cannot: the destination may be exactly one of the sources.
 */
#if defined(__clang__)
#define IVDEP	_Pragma("clang loop vectorize(assume_safety)")
#else
#define IVDEP	_Pragma("GCC ivdep")
#endif

#define LOOSE	__attribute__((aligned(1), may_alias))
typedef int32_t i32 LOOSE;
typedef uint32_t u32 LOOSE;
typedef int64_t i64 LOOSE;
typedef uint64_t u64 LOOSE;
typedef float f32 LOOSE;
typedef double f64 LOOSE;

/* T: type of the elements, P: plain type of one value, E: value from x and y. */
#define DEFINE_REDUCE(name, T, P, E)					\
static void name(void *dst, const void *a, const void *b, size_t n)	\
{									\
	T *d = dst;							\
	const T *pa = a, *pb = b;					\
	size_t i;							\
									\
	IVDEP								\
	for (i = 0; i < n; i++) {					\
		P x = pa[i], y = pb[i];					\
									\
		d[i] = (T)(E);						\
	}								\
}

/* Signed sums and products go through unsigned, where wrapping is defined. */
DEFINE_REDUCE(sum_i32, u32, uint32_t, x + y)
DEFINE_REDUCE(min_i32, i32, int32_t, x < y ? x : y)
DEFINE_REDUCE(max_i32, i32, int32_t, x > y ? x : y)
DEFINE_REDUCE(prod_i32, u32, uint32_t, x * y)

DEFINE_REDUCE(sum_u64, u64, uint64_t, x + y)
DEFINE_REDUCE(min_i64, i64, int64_t, x < y ? x : y)
DEFINE_REDUCE(max_i64, i64, int64_t, x > y ? x : y)
DEFINE_REDUCE(min_u64, u64, uint64_t, x < y ? x : y)
DEFINE_REDUCE(max_u64, u64, uint64_t, x > y ? x : y)
DEFINE_REDUCE(prod_u64, u64, uint64_t, x * y)

/*
 * Floating point. Which operand's payload a NaN result carries, and its sign,
 * differs between processors and even between the vector loop and its tail;
 * one fixed NaN keeps all ranks bit-identical.
 *
 * Minimum and maximum: where neither is less, the values are equal, and the
 * same bits unless they are zeros of two signs; or-ing (and-ing) the bits
 * gives -0 for the minimum and +0 for the maximum.
 */
#define DEFINE_FLOAT(F, fp, U, uint, NAN_BITS)				\
static inline uint F##_bits(fp x)					\
{									\
	uint u;								\
									\
	memcpy(&u, &x, sizeof(u));					\
	return u;							\
}									\
static inline uint F##_canon(fp x)					\
{									\
	return x != x ? NAN_BITS : F##_bits(x);				\
}									\
static inline uint F##_min(fp x, fp y)					\
{									\
	uint ux = F##_bits(x), uy = F##_bits(y);			\
	uint r = x < y ? ux : y < x ? uy : ux | uy;			\
									\
	return x != x || y != y ? NAN_BITS : r;				\
}									\
static inline uint F##_max(fp x, fp y)					\
{									\
	uint ux = F##_bits(x), uy = F##_bits(y);			\
	uint r = x > y ? ux : y > x ? uy : ux & uy;			\
									\
	return x != x || y != y ? NAN_BITS : r;				\
}									\
DEFINE_FLOAT_LOOP(sum_##F, F, fp, U, F##_canon(x + y))			\
DEFINE_FLOAT_LOOP(min_##F, F, fp, U, F##_min(x, y))			\
DEFINE_FLOAT_LOOP(max_##F, F, fp, U, F##_max(x, y))			\
DEFINE_FLOAT_LOOP(prod_##F, F, fp, U, F##_canon(x * y))

#define DEFINE_FLOAT_LOOP(name, F, fp, U, E)				\
static void name(void *dst, const void *a, const void *b, size_t n)	\
{									\
	U *d = dst;							\
	const F *pa = a, *pb = b;					\
	size_t i;							\
									\
	IVDEP								\
	for (i = 0; i < n; i++) {					\
		fp x = pa[i], y = pb[i];				\
									\
		d[i] = E;						\
	}								\
}

DEFINE_FLOAT(f32, float, u32, uint32_t, UINT32_C(0x7fc00000))
DEFINE_FLOAT(f64, double, u64, uint64_t, UINT64_C(0x7ff8000000000000))

size_t hc_type_size(unsigned int type)
{
	switch (type) {
	case HCOMM_I32:
	case HCOMM_F32:
		return 4;
	case HCOMM_I64:
	case HCOMM_U64:
	case HCOMM_F64:
		return 8;
	default:
		return 0;
	}
}

hc_reduce_fn hc_reduce_get(unsigned int type, unsigned int op)
{
	static const hc_reduce_fn fn[HCOMM_F64 + 1][HCOMM_PROD + 1] = {
		[HCOMM_I32] = { NULL, sum_i32, min_i32, max_i32, prod_i32 },
		[HCOMM_I64] = { NULL, sum_u64, min_i64, max_i64, prod_u64 },
		[HCOMM_U64] = { NULL, sum_u64, min_u64, max_u64, prod_u64 },
		[HCOMM_F32] = { NULL, sum_f32, min_f32, max_f32, prod_f32 },
		[HCOMM_F64] = { NULL, sum_f64, min_f64, max_f64, prod_f64 },
	};

	if (type > HCOMM_F64 || op > HCOMM_PROD)
		return NULL;
	return fn[type][op];
}

void hc_reduce_many(hc_reduce_fn fn, size_t size, void *dst,
		    const void *const *src, size_t nsrc, size_t n)
{
	/* Partial results stay in the first-level cache. */
	_Alignas(64) unsigned char acc[4096];
	size_t step = sizeof(acc) / size, at, i;

	if (nsrc == 1) {
		if (dst != src[0])
			memmove(dst, src[0], n * size);
		return;
	}
	if (nsrc == 2) {
		fn(dst, src[0], src[1], n);
		return;
	}
	for (at = 0; at < n; at += step) {
		size_t m = n - at < step ? n - at : step, off = at * size;

		fn(acc, (const char *)src[0] + off, (const char *)src[1] + off, m);
		for (i = 2; i < nsrc - 1; i++)
			fn(acc, acc, (const char *)src[i] + off, m);
		fn((char *)dst + off, acc, (const char *)src[nsrc - 1] + off, m);
	}
}
