/* SPDX-License-Identifier: GPL-2.0 */
/* For the tests of the pure files: a check, and random numbers from a seed. */
#ifndef UNIT_H
#define UNIT_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "pure.h"

#define CHECK(cond, ...)						\
	do {								\
		if (!(cond)) {						\
			printf("%s:%d: not so: %s", __FILE__, __LINE__,	\
			       #cond);					\
			printf(" " __VA_ARGS__);			\
			printf(" (seed %" PRIu64 ")\n", unit_seed);	\
			exit(1);					\
		}							\
	} while (0)

static u64 unit_seed = 1;
static u64 unit_state = 1;

/* A test takes a seed as its argument, to look for what the usual one misses. */
static inline void unit_init(int argc, char **argv)
{
	if (argc > 1)
		unit_seed = strtoull(argv[1], NULL, 0);
	unit_state = unit_seed;
}

/* splitmix64 */
static inline u64 rnd(void)
{
	u64 z = unit_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static inline u64 rnd_below(u64 n)
{
	return rnd() % n;
}

/* From 0 to 1, neither of them included. */
static inline double rnd_unit(void)
{
	return ((rnd() >> 11) + 0.5) / 9007199254740992.0;
}

/* As many small numbers as large ones. */
static inline u64 rnd_any(void)
{
	return rnd() >> rnd_below(64);
}

#endif /* UNIT_H */
