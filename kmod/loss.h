/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_LOSS_H
#define HCOMM_LOSS_H

#include "pure.h"

enum hcomm_loss_const {
	HCOMM_LOSS_TICK_MS = 200,
	HCOMM_LOSS_TICKS = 150,		/* 30 s */
	HCOMM_LOSS_WINDOWS = 3,		/* 1 s, 5 s, 30 s */
	HCOMM_LOSS_MIN_EVENTS = 5,
	HCOMM_HOLDDOWN_MAX_S = 300,
	HCOMM_HOLDDOWN_FORGIVE_S = 600,
};

enum hcomm_loss_verdict {
	HCOMM_LOSS_UNKNOWN,	/* too few packets to say */
	HCOMM_LOSS_GOOD,
	HCOMM_LOSS_BAD,
};

/* Packets whose fate is known, lost ones, and runs of lost ones. */
struct hcomm_loss_count {
	u32 sent;
	u32 lost;
	u32 events;
};

/**
 * struct hcomm_loss - what was lost on a link, and whether that is too much
 * @ppm: threshold, parts per million
 * @pos: place in @ring of the tick that is being counted
 * @tick_end: when that tick ends, ns
 * @last_lost: packet number that was lost last
 * @clean: packets that arrived since then
 * @sum: of each window, the present tick included
 * @ring: ticks
 */
struct hcomm_loss {
	u32 ppm;
	u32 pos;
	u64 tick_end;
	u64 last_lost;
	u64 clean;
	struct hcomm_loss_count sum[HCOMM_LOSS_WINDOWS];
	struct hcomm_loss_count ring[HCOMM_LOSS_TICKS];
};

/**
 * struct hcomm_loss_stat - a window, for people
 * @window_ms: its length
 * @sent: packets whose fate is known
 * @lost: how many of them were lost
 * @events: in how many runs
 * @lower_ppm: the loss is above this (z = 4.5)
 * @upper_ppm: the loss is below this (z = 3)
 */
struct hcomm_loss_stat {
	u32 window_ms;
	u32 sent;
	u32 lost;
	u32 events;
	u32 lower_ppm;
	u32 upper_ppm;
};

void hcomm_loss_init(struct hcomm_loss *l, u32 ppm, u64 now);
void hcomm_loss_reset(struct hcomm_loss *l, u64 now);
void hcomm_loss_set_threshold(struct hcomm_loss *l, u32 ppm);
void hcomm_loss_acked(struct hcomm_loss *l, u64 now, u32 n);
void hcomm_loss_lost(struct hcomm_loss *l, u64 now, u64 pn);
void hcomm_loss_spurious(struct hcomm_loss *l, u64 now, u32 n);
enum hcomm_loss_verdict hcomm_loss_verdict(struct hcomm_loss *l, u64 now,
					   int *window);
bool hcomm_loss_clean(struct hcomm_loss *l, u64 now);
void hcomm_loss_window(struct hcomm_loss *l, u64 now, int window,
		       struct hcomm_loss_stat *out);

/**
 * struct hcomm_holddown - how long a link that was bad is not preferred
 * @base: the first time, ns
 * @period: the present one, ns
 * @until: it ends, ns
 * @last_bad: when the link was bad last, ns; 0: never
 * @clean_since: since when it has been good again, ns
 */
struct hcomm_holddown {
	u64 base;
	u64 period;
	u64 until;
	u64 last_bad;
	u64 clean_since;
};

void hcomm_holddown_init(struct hcomm_holddown *h, u64 base);
void hcomm_holddown_bad(struct hcomm_holddown *h, u64 now);
void hcomm_holddown_good(struct hcomm_holddown *h, u64 now);
u64 hcomm_holddown_left(const struct hcomm_holddown *h, u64 now);

#endif /* HCOMM_LOSS_H */
