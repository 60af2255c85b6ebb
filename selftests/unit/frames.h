/* SPDX-License-Identifier: GPL-2.0 */
/* What the test, the fuzzer and the seeds of the decoders share. */
#ifndef FRAMES_H
#define FRAMES_H

#include "wire.h"

struct frames_packet {
	const u8 *data;
	u32 len;
};

/* Hands out the very bytes, so that ASan sees every read. */
static inline const void *frames_peek(void *ctx, u32 off, u32 len, void *buf)
{
	const struct frames_packet *p = ctx;

	(void)buf;
	if (off > p->len || len > p->len - off)
		return NULL;
	return p->data + off;
}

/* Encodes a frame without what comes behind its own fields. */
static inline u32 frames_put(u8 *to, const struct hcomm_frame *f)
{
	switch (f->type) {
	case HCOMM_FRAME_BEAT:
	case HCOMM_FRAME_BEAT_REPLY:
		return hcomm_wire_put_beat(to, f->type, &f->beat);
	case HCOMM_FRAME_LINK_ACK:
		return hcomm_wire_put_ack(to, &f->ack);
	case HCOMM_FRAME_PROBE:
	case HCOMM_FRAME_PROBE_REPLY:
	case HCOMM_FRAME_LINK_DOWN:
		return hcomm_wire_put_probe(to, f->type, &f->probe);
	case HCOMM_FRAME_SESSION:
		return hcomm_wire_put_session(to, &f->session);
	case HCOMM_FRAME_HELLO:
	case HCOMM_FRAME_HELLO_REPLY:
		return hcomm_wire_put_hello(to, f->type, &f->hello);
	case HCOMM_FRAME_DATA:
		return hcomm_wire_put_data(to, &f->data);
	case HCOMM_FRAME_LANE_ACK:
		return hcomm_wire_put_lane_ack(to, &f->lane_ack);
	case HCOMM_FRAME_CREDIT:
		return hcomm_wire_put_credit(to, &f->credit);
	case HCOMM_FRAME_RESET:
		return hcomm_wire_put_reset(to, &f->reset);
	}
	return 0;
}

static inline const char *frames_bad_ack(const struct hcomm_wire_ack *a)
{
	u16 i;

	if (!a->nr || a->nr > HCOMM_WIRE_ACK_RANGES)
		return "number of ranges";
	for (i = 0; i < a->nr; i++) {
		if (a->r[i].start >= a->r[i].end || a->r[i].end >> 62)
			return "range";
		if (i && a->r[i].end >= a->r[i - 1].start)
			return "order of ranges";
	}
	return NULL;
}

static inline const char *frames_bad_lane_ack(const struct hcomm_wire_lane_ack *a)
{
	u64 at = a->cum;
	u8 i;

	if (a->nr > HCOMM_WIRE_LANE_RANGES)
		return "number of ranges";
	for (i = 0; i < a->nr; i++) {
		if (a->r[i].start <= at || a->r[i].end <= a->r[i].start)
			return "range";
		at = a->r[i].end;
	}
	return at >> 63 ? "offset" : NULL;
}

static inline const char *frames_bad_data(const struct hcomm_wire_data *d)
{
	if (!d->lane || d->kind > HCOMM_KIND_MAX || d->offset >> 62)
		return "field";
	if ((u64)d->msg_off + d->len > d->msg_len || d->msg_off > d->offset)
		return "piece";
	if (!d->len && d->msg_len)
		return "empty piece";
	if (d->kind != HCOMM_KIND_DATA && d->msg_len)
		return "length";
	if (d->open && (!d->src_port || !d->dst_port))
		return "port";
	return NULL;
}

/* What a decoder promises of a frame that it accepts; NULL: all is well. */
static inline const char *frames_bad(const struct hcomm_packet *pkt,
				     const struct hcomm_frame *f)
{
	/* The frame ends where the next one begins. */
	if (f->payload + f->payload_len != pkt->off || pkt->off > pkt->end)
		return "payload";
	switch (f->type) {
	case HCOMM_FRAME_LINK_ACK:
		return frames_bad_ack(&f->ack);
	case HCOMM_FRAME_LANE_ACK:
		return frames_bad_lane_ack(&f->lane_ack);
	case HCOMM_FRAME_DATA:
		if (f->data.len != f->payload_len)
			return "length of the payload";
		return frames_bad_data(&f->data);
	case HCOMM_FRAME_BEAT:
	case HCOMM_FRAME_BEAT_REPLY:
		return f->beat.src && f->beat.dst && f->beat.inc &&
		       f->beat.my_tag ? NULL : "heartbeat";
	case HCOMM_FRAME_SESSION:
		return f->session.src && f->session.dst && f->session.src_inc ?
		       NULL : "session";
	}
	return NULL;
}

/* Encoded again and decoded again, a frame is the same frame. */
static inline bool frames_stable(const struct hcomm_frame *f)
{
	static u8 first[HCOMM_WIRE_PEEK + HCOMM_WIRE_MAX_BODY];
	static u8 second[HCOMM_WIRE_PEEK];
	u32 head = frames_put(first, f), more = 0;
	struct frames_packet bytes = { first, 0 };
	struct hcomm_packet p = {
		.peek = frames_peek, .ctx = &bytes,
		.in_session = f->type >= HCOMM_FRAME_HELLO,
	};
	struct hcomm_frame again;

	if (f->type == HCOMM_FRAME_DATA)
		more = f->data.len;
	p.end = head + more;
	bytes.len = head + more;
	return hcomm_wire_next(&p, &again) == 1 && again.type == f->type &&
	       frames_put(second, &again) == head &&
	       !memcmp(first, second, head);
}

#endif /* FRAMES_H */
