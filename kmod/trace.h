/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hcomm

#if !defined(HCOMM_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HCOMM_TRACE_H

#include <linux/tracepoint.h>

#include "batch.h"
#include "link.h"
#include "route.h"
#include "session.h"
#include "txlane.h"

TRACE_EVENT(hcomm_link_event,
	TP_PROTO(struct hcomm_link *link, u8 old, u8 event, u8 new),
	TP_ARGS(link, old, event, new),
	TP_STRUCT__entry(
		__array(char, name, HCOMM_NAME_LEN)
		__field(u8, old)
		__field(u8, event)
		__field(u8, new)
	),
	TP_fast_assign(
		memcpy(__entry->name, link->name, HCOMM_NAME_LEN);
		__entry->old = old;
		__entry->event = event;
		__entry->new = new;
	),
	TP_printk("link=%s state=%u event=%u next=%u", __entry->name,
		  __entry->old, __entry->event, __entry->new)
);

TRACE_EVENT(hcomm_link_send,
	TP_PROTO(struct hcomm_link *link, struct hcomm_batch *b),
	TP_ARGS(link, b),
	TP_STRUCT__entry(
		__array(char, name, HCOMM_NAME_LEN)
		__field(u32, packets)
		__field(u32, bytes)
		__field(u64, inflight)
		__field(u64, cwnd)
	),
	TP_fast_assign(
		memcpy(__entry->name, link->name, HCOMM_NAME_LEN);
		__entry->packets = b->nr_seg;
		__entry->bytes = b->bytes;
		__entry->inflight = link->cc.inflight;
		__entry->cwnd = link->cc.cwnd;
	),
	TP_printk("link=%s packets=%u bytes=%u inflight=%llu cwnd=%llu",
		  __entry->name, __entry->packets, __entry->bytes,
		  __entry->inflight, __entry->cwnd)
);

TRACE_EVENT(hcomm_route_update,
	TP_PROTO(struct hcomm_route *route, struct hcomm_link *old,
		 struct hcomm_link *new),
	TP_ARGS(route, old, new),
	TP_STRUCT__entry(
		__field(u32, node)
		__field(u32, old)
		__field(u32, new)
	),
	TP_fast_assign(
		__entry->node = route->node;
		__entry->old = old ? old->id : 0;
		__entry->new = new ? new->id : 0;
	),
	TP_printk("node=%u link=%u next=%u", __entry->node, __entry->old,
		  __entry->new)
);

TRACE_EVENT(hcomm_session_open,
	TP_PROTO(struct hcomm_session *s),
	TP_ARGS(s),
	TP_STRUCT__entry(
		__field(u32, node)
		__field(u64, inc)
	),
	TP_fast_assign(
		__entry->node = s->node;
		__entry->inc = s->remote_inc;
	),
	TP_printk("node=%u incarnation=%llx", __entry->node, __entry->inc)
);

TRACE_EVENT(hcomm_lane_failed,
	TP_PROTO(struct hcomm_txlane *lane, int err, u32 lost),
	TP_ARGS(lane, err, lost),
	TP_STRUCT__entry(
		__field(u32, node)
		__field(u32, lane)
		__field(int, err)
		__field(u32, lost)
	),
	TP_fast_assign(
		__entry->node = lane->session->node;
		__entry->lane = lane->id;
		__entry->err = err;
		__entry->lost = lost;
	),
	TP_printk("node=%u lane=%u error=%d lost=%u", __entry->node,
		  __entry->lane, __entry->err, __entry->lost)
);

#endif /* HCOMM_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
