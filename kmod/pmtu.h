/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_PMTU_H
#define HCOMM_PMTU_H

#include <linux/types.h>

struct hcomm_link;
struct hcomm_wire_probe;

enum hcomm_pmtu_const {
	/* 1280 bytes of IPv6 less its header and that of UDP. */
	HCOMM_PMTU_BASE = 1232,
	HCOMM_PMTU_TRIES = 3,
	HCOMM_PMTU_STEP = 16,
	HCOMM_PMTU_RAISE_S = 600,
	HCOMM_PMTU_BLACK_HOLE = 3,
};

/**
 * struct hcomm_pmtu - search for the path MTU (RFC 8899), under link.lock
 * @good: largest packet that was answered
 * @bad: smallest packet that was not, or device limit + 1
 * @size: packet being probed, 0: none
 * @id: of the probe
 * @tries: of this size
 * @at: when to send or repeat, 0: nothing to do
 * @timeouts: probe timeouts in a row with full packets in flight
 */
struct hcomm_pmtu {
	u32 good;
	u32 bad;
	u32 size;
	u32 id;
	u32 tries;
	u64 at;
	u32 timeouts;
};

void hcomm_pmtu_start(struct hcomm_link *link, u64 now);
u64 hcomm_pmtu_timer(struct hcomm_link *link, u64 now, u32 *size, u32 *id);
void hcomm_pmtu_reply(struct hcomm_link *link, const struct hcomm_wire_probe *p,
		      u64 now);
void hcomm_pmtu_black_hole(struct hcomm_link *link, u64 now);
void hcomm_pmtu_too_big(struct hcomm_link *link, u64 now);

#endif /* HCOMM_PMTU_H */
