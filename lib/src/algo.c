// SPDX-License-Identifier: LGPL-2.1 OR MIT
#include "algo.h"

#include <stdio.h>
#include <string.h>

#define KIB	1024u

struct names {
	const char *function;
	const char *alias;
	const char *const *name;
	unsigned int n;
};

static const char *const reduce_name[HC_REDUCE_ALGOS] = {
	[HC_REDUCE_ONESHOT] = "oneshot",
	[HC_REDUCE_DOUBLING] = "doubling",
	[HC_REDUCE_TWOSHOT] = "twoshot",
	[HC_REDUCE_HALVING] = "halving",
	[HC_REDUCE_RING] = "ring",
};

static const char *const bcast_name[HC_BCAST_ALGOS] = {
	[HC_BCAST_TREE] = "tree",
	[HC_BCAST_CHAIN] = "chain",
};

static const struct names functions[] = {
	{ "all_reduce", "allreduce", reduce_name, HC_REDUCE_ALGOS },
	{ "broadcast", "bcast", bcast_name, HC_BCAST_ALGOS },
};

#define NFUNCTIONS	(sizeof(functions) / sizeof(functions[0]))

static bool word_is(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(word, name, len);
}

/* One "[FUNCTION:]LIST" of @len bytes. */
static bool parse_part(uint32_t mask[NFUNCTIONS], const char *part, size_t len,
		       char *text, size_t text_len)
{
	const char *end = part + len, *colon = memchr(part, ':', len);
	uint32_t found[NFUNCTIONS] = { 0 };
	bool wanted[NFUNCTIONS], except = false;
	unsigned int f, i;

	for (f = 0; f < NFUNCTIONS; f++)
		wanted[f] = !colon ||
			    word_is(part, (size_t)(colon - part), functions[f].function) ||
			    word_is(part, (size_t)(colon - part), functions[f].alias);
	if (colon) {
		bool any = false;

		for (f = 0; f < NFUNCTIONS; f++)
			any |= wanted[f];
		if (!any) {
			snprintf(text, text_len, "HCOMM_ALGO: unknown function \"%.*s\"",
				 (int)(colon - part), part);
			return false;
		}
		part = colon + 1;
	}
	if (part < end && *part == '^') {
		except = true;
		part++;
	}
	for (;;) {
		const char *comma = memchr(part, ',', (size_t)(end - part));
		size_t n = (size_t)((comma ? comma : end) - part);
		bool known = false;

		for (f = 0; f < NFUNCTIONS; f++) {
			if (!wanted[f])
				continue;
			for (i = 0; i < functions[f].n; i++) {
				if (!word_is(part, n, functions[f].name[i]))
					continue;
				found[f] |= 1u << i;
				known = true;
			}
		}
		if (!known) {
			snprintf(text, text_len, "HCOMM_ALGO: unknown algorithm \"%.*s\"",
				 (int)n, part);
			return false;
		}
		if (!comma)
			break;
		part = comma + 1;
	}
	for (f = 0; f < NFUNCTIONS; f++) {
		if (!found[f])
			continue;
		mask[f] = except ? mask[f] & ~found[f] : found[f];
		if (!mask[f]) {
			snprintf(text, text_len, "HCOMM_ALGO: no algorithm is left for %s",
				 functions[f].function);
			return false;
		}
	}
	return true;
}

bool hc_algos_parse(struct hc_algos *algos, const char *env, char *text, size_t len)
{
	static const struct hc_algos all = HC_ALGOS_ALL;
	uint32_t mask[NFUNCTIONS] = { all.reduce, all.bcast };

	*algos = all;
	if (!env || !*env)
		return true;
	for (;;) {
		const char *semi = strchr(env, ';');
		size_t n = semi ? (size_t)(semi - env) : strlen(env);

		if (!parse_part(mask, env, n, text, len))
			return false;
		if (!semi)
			break;
		env = semi + 1;
	}
	algos->reduce = mask[0];
	algos->bcast = mask[1];
	return true;
}

static unsigned int first_allowed(uint32_t allowed, const unsigned char *order,
				  unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (allowed & 1u << order[i])
			return order[i];
	return order[0];
}

/* Rows of preference; a forbidden algorithm gives way to the next. */
unsigned int hc_reduce_choose(uint32_t allowed, uint32_t nranks, uint64_t bytes,
			      bool ordered)
{
	static const unsigned char tiny[] = {
		HC_REDUCE_ONESHOT, HC_REDUCE_DOUBLING, HC_REDUCE_HALVING,
		HC_REDUCE_TWOSHOT, HC_REDUCE_RING,
	};
	static const unsigned char small[] = {
		HC_REDUCE_DOUBLING, HC_REDUCE_HALVING, HC_REDUCE_ONESHOT,
		HC_REDUCE_TWOSHOT, HC_REDUCE_RING,
	};
	static const unsigned char medium[] = {
		HC_REDUCE_HALVING, HC_REDUCE_TWOSHOT, HC_REDUCE_RING,
		HC_REDUCE_DOUBLING, HC_REDUCE_ONESHOT,
	};
	static const unsigned char direct[] = {
		HC_REDUCE_TWOSHOT, HC_REDUCE_HALVING, HC_REDUCE_RING,
		HC_REDUCE_DOUBLING, HC_REDUCE_ONESHOT,
	};
	static const unsigned char large[] = {
		HC_REDUCE_RING, HC_REDUCE_HALVING, HC_REDUCE_TWOSHOT,
		HC_REDUCE_DOUBLING, HC_REDUCE_ONESHOT,
	};
	const unsigned char *row;

	if (ordered) {
		/* Only these two add in the order of the ranks. */
		if (bytes <= 16 * KIB)
			row = tiny;
		else
			row = direct;
		allowed &= 1u << HC_REDUCE_ONESHOT | 1u << HC_REDUCE_TWOSHOT;
		if (!allowed)
			allowed = 1u << HC_REDUCE_ONESHOT | 1u << HC_REDUCE_TWOSHOT;
	} else if (nranks <= 4 && bytes <= 16 * KIB) {
		row = tiny;
	} else if (bytes <= 8 * KIB) {
		row = small;
	} else if (nranks <= 16) {
		/* Two steps, and the links of a full mesh all at once. */
		row = direct;
	} else if (bytes / nranks < 16 * KIB) {
		row = medium;
	} else {
		row = large;
	}
	return first_allowed(allowed, row, HC_REDUCE_ALGOS);
}

unsigned int hc_bcast_choose(uint32_t allowed, uint32_t nranks, uint64_t bytes)
{
	static const unsigned char tree[] = { HC_BCAST_TREE, HC_BCAST_CHAIN };
	static const unsigned char chain[] = { HC_BCAST_CHAIN, HC_BCAST_TREE };

	/* With two ranks the tree is one edge, and pipelined just as well. */
	if (nranks == 2 || bytes <= 64 * KIB || bytes / nranks < 16 * KIB)
		return first_allowed(allowed, tree, HC_BCAST_ALGOS);
	return first_allowed(allowed, chain, HC_BCAST_ALGOS);
}
