/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_PING_H
#define HCOMM_PING_H

#include <linux/types.h>

struct hcomm_link;

/* Ids of path MTU probes are below this. */
enum { HCOMM_PING_ID = 1 << 30 };

int hcomm_ping_link(struct hcomm_link *link, u32 size, u32 timeout_ms,
		    u64 *rtt);
void hcomm_ping_reply(struct hcomm_link *link, u32 id, u64 now);

#endif /* HCOMM_PING_H */
