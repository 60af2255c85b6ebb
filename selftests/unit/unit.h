/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_H
#define UNIT_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "pure.h"

#define CHECK(cond, ...)						\
	do {								\
		if (!(cond)) {						\
			printf("%s:%d: %s: ", __FILE__, __LINE__, #cond); \
			printf("" __VA_ARGS__);				\
			printf("\n");					\
			exit(1);					\
		}							\
	} while (0)

static u64 rnd_state = 88172645463325252ull;

static inline u64 rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return rnd_state;
}

static inline u64 rnd_below(u64 n)
{
	return rnd() % n;
}

#endif /* UNIT_H */
