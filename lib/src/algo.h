/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Which algorithm a collective takes. Pure: the same on all ranks. */
#ifndef HC_ALGO_H
#define HC_ALGO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * p ranks, S bytes:
 * oneshot	each sends all to each; 1 step, (p-1)S sent per rank
 * doubling	recursive doubling; log2 p (+2) steps, S log2 p
 * twoshot	each owns a segment: direct reduce-scatter, direct all-gather;
 *		2 steps, 2S(p-1)/p
 * halving	recursive halving, then doubling (Rabenseifner); 2 log2 p (+2)
 * ring		2(p-1) steps, pipelined; 2S(p-1)/p, only to the neighbour
 */
enum hc_reduce_algo {
	HC_REDUCE_ONESHOT,
	HC_REDUCE_DOUBLING,
	HC_REDUCE_TWOSHOT,
	HC_REDUCE_HALVING,
	HC_REDUCE_RING,
	HC_REDUCE_ALGOS,
};

/*
 * tree		binomial tree, carried by the check of all with all; log2 p steps
 * chain	from rank to rank in pieces; S sent per rank
 */
enum hc_bcast_algo {
	HC_BCAST_TREE,
	HC_BCAST_CHAIN,
	HC_BCAST_ALGOS,
};

/* Bit masks of allowed algorithms. */
struct hc_algos {
	uint32_t reduce;
	uint32_t bcast;
};

#define HC_ALGOS_ALL { (1u << HC_REDUCE_ALGOS) - 1, (1u << HC_BCAST_ALGOS) - 1 }

/*
 * Read HCOMM_ALGO: [FUNCTION:]NAME[,NAME...][;...], with ^ before the first
 * name for "all but these"; without a function it is for each function that
 * has an algorithm of one of the names. False: @text says what is wrong.
 */
bool hc_algos_parse(struct hc_algos *algos, const char *env, char *text, size_t len);

unsigned int hc_reduce_choose(uint32_t allowed, uint32_t nranks, uint64_t bytes,
			      bool ordered);
unsigned int hc_bcast_choose(uint32_t allowed, uint32_t nranks, uint64_t bytes);

#endif /* HC_ALGO_H */
