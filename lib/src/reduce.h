/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Element-wise arithmetic. Pure. */
#ifndef HC_REDUCE_H
#define HC_REDUCE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of one element; 0: no such type. */
size_t hc_type_size(unsigned int type);

/* dst[i] = a[i] op b[i]; no alignment needed; @dst may be @a or @b. */
typedef void (*hc_reduce_fn)(void *dst, const void *a, const void *b, size_t n);

/* NULL: no such type or operation. */
hc_reduce_fn hc_reduce_get(unsigned int type, unsigned int op);

/*
 * dst = ((src[0] op src[1]) op src[2]) ..., @n elements of @size bytes, in one
 * pass over memory. @dst may be any of the sources, @nsrc >= 1.
 */
void hc_reduce_many(hc_reduce_fn fn, size_t size, void *dst,
		    const void *const *src, size_t nsrc, size_t n);

#endif /* HC_REDUCE_H */
