/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_COST_H
#define HCOMM_COST_H

#include "pure.h"

#define HCOMM_COST_ONE		1024	/* 1 in all figures of this file */
#define HCOMM_COST_NEVER	U32_MAX	/* a path that must not be used */

enum hcomm_cost_known {
	HCOMM_COST_LATENCY = 1,
	HCOMM_COST_LOAD = 2,
	HCOMM_COST_LOSS = 4,
};

/**
 * struct hcomm_cost_weights - what counts how much, in 1/1024
 * @latency: of the latency compared with the best candidate's
 * @load: of the utilisation
 * @loss: of the loss
 */
struct hcomm_cost_weights {
	u32 latency;
	u32 load;
	u32 loss;
};

/**
 * struct hcomm_cost_in - what is known of a candidate
 * @known: enum hcomm_cost_known: figures that are there and not stale
 * @usable: false: its cost is HCOMM_COST_NEVER
 * @latency: hcomm_cost_latency() of this candidate, ns
 * @best_latency: the smallest one of all candidates, ns
 * @load: fullest link of the path, in 1/1024 of its capacity
 * @loss_ppm: loss in parts per million: the middle of the interval
 * @upper_ppm: the loss is below this
 * @threshold_ppm: loss that is too much, not 0
 */
struct hcomm_cost_in {
	u32 known;
	bool usable;
	u64 latency;
	u64 best_latency;
	u32 load;
	u32 loss_ppm;
	u32 upper_ppm;
	u32 threshold_ppm;
};

u64 hcomm_cost_latency(u64 rtt_min, u64 rtt_smoothed);
u32 hcomm_cost_phi(u32 load);
u32 hcomm_cost_psi(u32 loss_ppm, u32 upper_ppm, u32 threshold_ppm);
u32 hcomm_cost_common(const struct hcomm_cost_in *in, u32 nr);
u32 hcomm_cost(const struct hcomm_cost_in *in,
	       const struct hcomm_cost_weights *weights, u32 terms);
u32 hcomm_cost_smooth(u32 smoothed, u32 cost, u32 ms);
bool hcomm_cost_better(u32 cost, u32 current_cost);

#endif /* HCOMM_COST_H */
