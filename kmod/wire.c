// SPDX-License-Identifier: GPL-2.0
#include "wire.h"

static u16 get16(const u8 *p)
{
	return p[0] | (u16)p[1] << 8;
}

static u32 get32(const u8 *p)
{
	return get16(p) | (u32)get16(p + 2) << 16;
}

static u64 get64(const u8 *p)
{
	return get32(p) | (u64)get32(p + 4) << 32;
}

static void put16(u8 *p, u16 v)
{
	p[0] = v;
	p[1] = v >> 8;
}

static void put32(u8 *p, u32 v)
{
	put16(p, v);
	put16(p + 2, v >> 16);
}

static void put64(u8 *p, u64 v)
{
	put32(p, v);
	put32(p + 4, v >> 32);
}

/**
 * hcomm_wire_get_link - decode the link header
 * @pkt: packet; its offset is moved behind the header
 * @h: result
 *
 * Return: 0; -EBADMSG if it is cut short or a reserved field is set,
 * -EPROTONOSUPPORT for another version, -ENOKEY for a key that is not known.
 */
int hcomm_wire_get_link(struct hcomm_packet *pkt, struct hcomm_wire_link *h)
{
	u8 buf[HCOMM_WIRE_LINK_LEN];
	const u8 *p;

	if (pkt->end < pkt->off || pkt->end - pkt->off < sizeof(buf))
		return -EBADMSG;
	p = pkt->peek(pkt->ctx, pkt->off, sizeof(buf), buf);
	if (!p)
		return -EBADMSG;
	if (p[0] != HCOMM_WIRE_VERSION)
		return -EPROTONOSUPPORT;
	if (p[2])
		return -ENOKEY;
	if (p[3] || p[1] & ~(HCOMM_LINK_F_CLASS | HCOMM_LINK_F_ACK_NOW))
		return -EBADMSG;
	h->version = p[0];
	h->flags = p[1];
	h->tag = get32(p + 4);
	h->pn = get64(p + 8);
	h->link = get32(p + 16);
	/* Half of the space is more than any sender can use up. */
	if (h->pn >> 62)
		return -EBADMSG;
	pkt->off += sizeof(buf);
	return 0;
}

static int get_beat(const u8 *p, u32 len, struct hcomm_frame *f)
{
	if (len < HCOMM_WIRE_BEAT_LEN)
		return -EBADMSG;
	f->beat.src = get32(p);
	f->beat.dst = get32(p + 4);
	f->beat.inc = get64(p + 8);
	f->beat.my_tag = get32(p + 16);
	f->beat.your_tag = get32(p + 20);
	f->beat.stamp = get64(p + 24);
	f->beat.hold = get32(p + 32);
	f->beat.interval = get32(p + 36);
	if (!f->beat.src || !f->beat.dst || !f->beat.inc || !f->beat.my_tag)
		return -EBADMSG;
	return 0;
}

static int get_ack(const u8 *p, u32 len, struct hcomm_frame *f)
{
	u64 end;
	u16 i;

	if (len < HCOMM_WIRE_ACK_LEN)
		return -EBADMSG;
	end = get64(p);
	f->ack.delay = get32(p + 8);
	f->ack.nr = get16(p + 12);
	if (!f->ack.nr || f->ack.nr > HCOMM_WIRE_ACK_RANGES || end >> 62 ||
	    len < HCOMM_WIRE_ACK_LEN + (u32)f->ack.nr * HCOMM_WIRE_RANGE_LEN)
		return -EBADMSG;
	p += HCOMM_WIRE_ACK_LEN;
	for (i = 0; i < f->ack.nr; i++, p += HCOMM_WIRE_RANGE_LEN) {
		u32 gap = get32(p), n = get32(p + 4);

		/* A gap of nothing would make two ranges of one. */
		if (!n || (i && !gap) || gap > end || n > end - gap)
			return -EBADMSG;
		end -= gap;
		f->ack.r[i].end = end;
		end -= n;
		f->ack.r[i].start = end;
	}
	return 0;
}

static int get_probe(const u8 *p, u32 len, struct hcomm_frame *f)
{
	if (len < HCOMM_WIRE_PROBE_LEN)
		return -EBADMSG;
	f->probe.id = get32(p);
	f->probe.size = get32(p + 4);
	return 0;
}

static int get_session(const u8 *p, u32 len, struct hcomm_frame *f)
{
	if (len < HCOMM_WIRE_SESSION_LEN)
		return -EBADMSG;
	f->session.src = get32(p);
	f->session.dst = get32(p + 4);
	f->session.hop_limit = p[8];
	f->session.src_inc = get64(p + 12);
	f->session.dst_inc = get64(p + 20);
	if (p[9] || get16(p + 10) || !f->session.src || !f->session.dst ||
	    !f->session.src_inc)
		return -EBADMSG;
	f->payload += HCOMM_WIRE_SESSION_LEN;
	f->payload_len -= HCOMM_WIRE_SESSION_LEN;
	return 0;
}

static int get_hello(const u8 *p, u32 len, struct hcomm_frame *f)
{
	if (len < HCOMM_WIRE_HELLO_LEN)
		return -EBADMSG;
	f->hello.nonce = get64(p);
	f->hello.max_msg = get32(p + 8);
	f->hello.credit = get32(p + 12);
	f->hello.features = get32(p + 16);
	return 0;
}

static int get_data(const u8 *p, u32 len, u8 flags, struct hcomm_frame *f)
{
	struct hcomm_wire_data *d = &f->data;
	u32 head = HCOMM_WIRE_DATA_LEN;

	d->open = flags & HCOMM_FRAME_F_OPEN;
	d->kind = (flags & HCOMM_FRAME_F_KIND) >> 1;
	if (d->open)
		head += HCOMM_WIRE_OPEN_LEN;
	if (len < head || d->kind > HCOMM_KIND_MAX)
		return -EBADMSG;
	d->lane = get32(p);
	d->msg_len = get32(p + 4);
	d->offset = get64(p + 8);
	d->msg_off = get32(p + 16);
	d->len = len - head;
	if (d->open) {
		p += HCOMM_WIRE_DATA_LEN;
		d->src_port = get32(p);
		d->dst_port = get32(p + 4);
		d->peer_lane = get32(p + 8);
		d->type = p[12];
		d->class = p[13];
		if (!d->src_port || !d->dst_port || get16(p + 14))
			return -EBADMSG;
	}
	if (!d->lane || d->msg_off > d->msg_len ||
	    d->len > d->msg_len - d->msg_off)
		return -EBADMSG;
	/* Only an empty message may have an empty piece. */
	if (!d->len && d->msg_len)
		return -EBADMSG;
	if (d->kind != HCOMM_KIND_DATA && d->msg_len)
		return -EBADMSG;
	if (d->offset >> 62 || d->offset < d->msg_off)
		return -EBADMSG;
	f->payload += head;
	f->payload_len -= head;
	return 0;
}

static int get_lane_ack(const u8 *p, u32 len, u8 flags, struct hcomm_frame *f)
{
	struct hcomm_wire_lane_ack *a = &f->lane_ack;
	u64 at;
	u8 i;

	if (len < HCOMM_WIRE_LANE_ACK_LEN)
		return -EBADMSG;
	a->closed = flags & HCOMM_FRAME_F_CLOSED;
	a->lane = get32(p);
	a->nr = p[4];
	a->cum = get64(p + 8);
	if (p[5] || get16(p + 6) || a->cum >> 62 ||
	    a->nr > HCOMM_WIRE_LANE_RANGES ||
	    len < HCOMM_WIRE_LANE_ACK_LEN + (u32)a->nr * HCOMM_WIRE_RANGE_LEN)
		return -EBADMSG;
	at = a->cum;
	p += HCOMM_WIRE_LANE_ACK_LEN;
	for (i = 0; i < a->nr; i++, p += HCOMM_WIRE_RANGE_LEN) {
		u32 gap = get32(p), n = get32(p + 4);

		if (!gap || !n)
			return -EBADMSG;
		at += gap;
		a->r[i].start = at;
		at += n;
		a->r[i].end = at;
	}
	return 0;
}

static int get_credit(const u8 *p, u32 len, struct hcomm_frame *f)
{
	if (len < HCOMM_WIRE_CREDIT_LEN)
		return -EBADMSG;
	f->credit.lane = get32(p);
	f->credit.offset = get64(p + 8);
	f->credit.msgs = get64(p + 16);
	return get32(p + 4) ? -EBADMSG : 0;
}

static int get_reset(const u8 *p, u32 len, u8 flags, struct hcomm_frame *f)
{
	if (len < HCOMM_WIRE_RESET_LEN)
		return -EBADMSG;
	f->reset.lane = get32(p);
	f->reset.code = get16(p + 4);
	f->reset.offset = get64(p + 8);
	f->reset.receiver = flags & HCOMM_FRAME_F_RECEIVER;
	return get16(p + 6) ? -EBADMSG : 0;
}

static int get_body(struct hcomm_packet *pkt, const u8 *p, u32 len, u8 flags,
		    struct hcomm_frame *f)
{
	bool session = f->type >= HCOMM_FRAME_HELLO;

	/* A link frame inside a session, or the reverse, is never meant. */
	if (session != pkt->in_session)
		return -EBADMSG;
	switch (f->type) {
	case HCOMM_FRAME_BEAT:
	case HCOMM_FRAME_BEAT_REPLY:
		return get_beat(p, len, f);
	case HCOMM_FRAME_LINK_ACK:
		return get_ack(p, len, f);
	case HCOMM_FRAME_PROBE:
	case HCOMM_FRAME_PROBE_REPLY:
	case HCOMM_FRAME_LINK_DOWN:
		return get_probe(p, len, f);
	case HCOMM_FRAME_SESSION:
		return get_session(p, len, f);
	case HCOMM_FRAME_HELLO:
	case HCOMM_FRAME_HELLO_REPLY:
		return get_hello(p, len, f);
	case HCOMM_FRAME_DATA:
		return get_data(p, len, flags, f);
	case HCOMM_FRAME_LANE_ACK:
		return get_lane_ack(p, len, flags, f);
	case HCOMM_FRAME_CREDIT:
		return get_credit(p, len, f);
	case HCOMM_FRAME_RESET:
		return get_reset(p, len, flags, f);
	default:
		return flags & HCOMM_FRAME_F_MUST ? -EOPNOTSUPP : -EAGAIN;
	}
}

/**
 * hcomm_wire_next - decode the next frame
 * @pkt: packet; its offset is moved behind the frame
 * @f: result
 *
 * Frames of an unknown type are skipped unless they say that they must be
 * understood. Every length, count and offset in @f was checked against the
 * packet.
 *
 * Return: 1 for a frame, 0 at the end, -EBADMSG for a malformed packet,
 * -EOPNOTSUPP for an unknown frame that must be understood.
 */
int hcomm_wire_next(struct hcomm_packet *pkt, struct hcomm_frame *f)
{
	u8 buf[HCOMM_WIRE_PEEK];

	for (;;) {
		u32 left = pkt->end - pkt->off, body, n;
		u8 type, flags;
		const u8 *p;
		int err;

		if (!left)
			return 0;
		n = min_t(u32, left, HCOMM_WIRE_FRAME_LEN);
		p = pkt->peek(pkt->ctx, pkt->off, n, buf);
		if (!p)
			return -EBADMSG;
		/* Once: somebody may write to the packet meanwhile. */
		type = p[0];
		if (type == HCOMM_FRAME_PAD) {
			pkt->off = pkt->end;
			return 0;
		}
		if (n < HCOMM_WIRE_FRAME_LEN)
			return -EBADMSG;
		flags = p[1];
		body = get16(p + 2);
		if (body > left - HCOMM_WIRE_FRAME_LEN)
			return -EBADMSG;
		n = min_t(u32, body + HCOMM_WIRE_FRAME_LEN, sizeof(buf));
		/* Only acknowledgements are long: do not copy payload. */
		if (type != HCOMM_FRAME_LINK_ACK &&
		    type != HCOMM_FRAME_LANE_ACK)
			n = min_t(u32, n, 64);
		p = pkt->peek(pkt->ctx, pkt->off, n, buf);
		if (!p)
			return -EBADMSG;
		f->type = type;
		f->payload = pkt->off + HCOMM_WIRE_FRAME_LEN;
		f->payload_len = body;
		err = get_body(pkt, p + HCOMM_WIRE_FRAME_LEN, body, flags, f);
		pkt->off += HCOMM_WIRE_FRAME_LEN + body;
		if (err == -EAGAIN)
			continue;
		return err ? err : 1;
	}
}

enum {
	AT_SESSION = HCOMM_WIRE_LINK_LEN,
	AT_DATA = AT_SESSION + HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_SESSION_LEN,
	AT_BODY = AT_DATA + HCOMM_WIRE_FRAME_LEN,
};

/**
 * hcomm_wire_step - from the headers of a packet to those of the next in a run
 * @p: HCOMM_WIRE_PLAIN_LEN bytes
 * @bytes: payload of the packet
 */
void hcomm_wire_step(u8 *p, u32 bytes)
{
	put64(p + 8, get64(p + 8) + 1);
	put64(p + AT_BODY + 8, get64(p + AT_BODY + 8) + bytes);
	put32(p + AT_BODY + 16, get32(p + AT_BODY + 16) + bytes);
}

/* Says in the headers of a packet how many bytes of payload follow them. */
void hcomm_wire_plain_len(u8 *p, u32 payload)
{
	put16(p + AT_SESSION + 2, HCOMM_WIRE_SESSION_LEN +
	      HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_DATA_LEN + payload);
	put16(p + AT_DATA + 2, HCOMM_WIRE_DATA_LEN + payload);
}

void hcomm_wire_put_pn(u8 *p, u64 pn)
{
	put64(p + 8, pn);
}

/* A full packet with one piece of a lane and no more; 0: it is not. */
static u32 plain_payload(const u8 *p, u32 len)
{
	if (len <= HCOMM_WIRE_PLAIN_LEN || p[AT_SESSION] != HCOMM_FRAME_SESSION ||
	    get16(p + AT_SESSION + 2) != len - AT_SESSION - HCOMM_WIRE_FRAME_LEN)
		return 0;
	if (p[AT_DATA] != HCOMM_FRAME_DATA ||
	    p[AT_DATA + 1] != HCOMM_KIND_DATA << 1 ||
	    get16(p + AT_DATA + 2) != len - AT_DATA - HCOMM_WIRE_FRAME_LEN)
		return 0;
	return len - HCOMM_WIRE_PLAIN_LEN;
}

/* memcmp() of some kernels goes byte by byte. */
static bool same_head(const u8 *a, const u8 *b)
{
	u64 x, y, diff = 0;
	u32 i;

	for (i = 0; i + 8 <= HCOMM_WIRE_PLAIN_LEN; i += 8) {
		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		diff |= x ^ y;
	}
	for (; i < HCOMM_WIRE_PLAIN_LEN; i++)
		diff |= a[i] ^ b[i];
	return !diff;
}

/**
 * hcomm_wire_run - find packets in a row that carry a message on
 * @pkt: @off and @end are those of the first packet; @stride and @run are set
 * @max: full packets that follow each other without a gap, the first included
 *
 * One decision is then enough for all of them: nothing is taken on trust, each
 * header is compared with what it must be.
 *
 * Return: packets in the run, 1 at least.
 */
u32 hcomm_wire_run(struct hcomm_packet *pkt, u32 max)
{
	u32 len = pkt->end - pkt->off, part, msg_len, n;
	u8 want[HCOMM_WIRE_PLAIN_LEN], buf[HCOMM_WIRE_PLAIN_LEN];
	const u8 *p;

	pkt->stride = len;
	pkt->run = 1;
	if (max < 2)
		return 1;
	p = pkt->peek(pkt->ctx, pkt->off, sizeof(want), want);
	if (!p)
		return 1;
	if (p != want)
		memcpy(want, p, sizeof(want));
	part = plain_payload(want, len);
	if (!part)
		return 1;
	msg_len = get32(want + AT_BODY + 4);
	for (n = 1; n < max; n++) {
		hcomm_wire_step(want, part);
		/* What is behind the end of its message goes on with nothing. */
		if ((u64)get32(want + AT_BODY + 16) + part > msg_len)
			break;
		p = pkt->peek(pkt->ctx, pkt->off + n * len, sizeof(buf), buf);
		if (!p || !same_head(p, want))
			break;
	}
	pkt->run = n;
	return n;
}

u32 hcomm_wire_put_link(u8 *p, const struct hcomm_wire_link *h)
{
	p[0] = HCOMM_WIRE_VERSION;
	p[1] = h->flags;
	put16(p + 2, 0);
	put32(p + 4, h->tag);
	put64(p + 8, h->pn);
	put32(p + 16, h->link);
	return HCOMM_WIRE_LINK_LEN;
}

static u8 *put_frame(u8 *p, u8 type, u8 flags, u32 len)
{
	p[0] = type;
	p[1] = flags;
	put16(p + 2, len);
	return p + HCOMM_WIRE_FRAME_LEN;
}

u32 hcomm_wire_put_beat(u8 *p, u8 type, const struct hcomm_wire_beat *b)
{
	p = put_frame(p, type, 0, HCOMM_WIRE_BEAT_LEN);
	put32(p, b->src);
	put32(p + 4, b->dst);
	put64(p + 8, b->inc);
	put32(p + 16, b->my_tag);
	put32(p + 20, b->your_tag);
	put64(p + 24, b->stamp);
	put32(p + 32, b->hold);
	put32(p + 36, b->interval);
	return HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_BEAT_LEN;
}

u32 hcomm_wire_put_ack(u8 *p, const struct hcomm_wire_ack *a)
{
	u32 len = HCOMM_WIRE_ACK_LEN + a->nr * HCOMM_WIRE_RANGE_LEN;
	u64 end = a->r[0].end;
	u16 i;

	p = put_frame(p, HCOMM_FRAME_LINK_ACK, 0, len);
	put64(p, end);
	put32(p + 8, a->delay);
	put16(p + 12, a->nr);
	put16(p + 14, 0);
	p += HCOMM_WIRE_ACK_LEN;
	for (i = 0; i < a->nr; i++, p += HCOMM_WIRE_RANGE_LEN) {
		put32(p, end - a->r[i].end);
		put32(p + 4, a->r[i].end - a->r[i].start);
		end = a->r[i].start;
	}
	return HCOMM_WIRE_FRAME_LEN + len;
}

u32 hcomm_wire_put_probe(u8 *p, u8 type, const struct hcomm_wire_probe *b)
{
	p = put_frame(p, type, 0, HCOMM_WIRE_PROBE_LEN);
	put32(p, b->id);
	put32(p + 4, b->size);
	return HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_PROBE_LEN;
}

u32 hcomm_wire_put_session(u8 *p, const struct hcomm_wire_session *s)
{
	p = put_frame(p, HCOMM_FRAME_SESSION, HCOMM_FRAME_F_MUST,
		      HCOMM_WIRE_SESSION_LEN);
	put32(p, s->src);
	put32(p + 4, s->dst);
	p[8] = s->hop_limit;
	p[9] = 0;
	put16(p + 10, 0);
	put64(p + 12, s->src_inc);
	put64(p + 20, s->dst_inc);
	return HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_SESSION_LEN;
}

/* Says how long the session frame at @p became: header and all frames. */
void hcomm_wire_session_done(u8 *p, u32 len)
{
	put16(p + 2, len - HCOMM_WIRE_FRAME_LEN);
}

u32 hcomm_wire_put_hello(u8 *p, u8 type, const struct hcomm_wire_hello *h)
{
	p = put_frame(p, type, 0, HCOMM_WIRE_HELLO_LEN);
	put64(p, h->nonce);
	put32(p + 8, h->max_msg);
	put32(p + 12, h->credit);
	put32(p + 16, h->features);
	put32(p + 20, 0);
	return HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_HELLO_LEN;
}

/* Writes the frame up to its payload of d->len bytes, which must follow. */
u32 hcomm_wire_put_data(u8 *p, const struct hcomm_wire_data *d)
{
	u32 head = HCOMM_WIRE_DATA_LEN;
	u8 flags = d->kind << 1;

	if (d->open) {
		head += HCOMM_WIRE_OPEN_LEN;
		flags |= HCOMM_FRAME_F_OPEN;
	}
	p = put_frame(p, HCOMM_FRAME_DATA, flags, head + d->len);
	put32(p, d->lane);
	put32(p + 4, d->msg_len);
	put64(p + 8, d->offset);
	put32(p + 16, d->msg_off);
	if (d->open) {
		p += HCOMM_WIRE_DATA_LEN;
		put32(p, d->src_port);
		put32(p + 4, d->dst_port);
		put32(p + 8, d->peer_lane);
		p[12] = d->type;
		p[13] = d->class;
		put16(p + 14, 0);
	}
	return HCOMM_WIRE_FRAME_LEN + head;
}

u32 hcomm_wire_put_lane_ack(u8 *p, const struct hcomm_wire_lane_ack *a)
{
	u32 len = HCOMM_WIRE_LANE_ACK_LEN + a->nr * HCOMM_WIRE_RANGE_LEN;
	u64 at = a->cum;
	u8 i;

	p = put_frame(p, HCOMM_FRAME_LANE_ACK,
		      a->closed ? HCOMM_FRAME_F_CLOSED : 0, len);
	put32(p, a->lane);
	p[4] = a->nr;
	p[5] = 0;
	put16(p + 6, 0);
	put64(p + 8, a->cum);
	p += HCOMM_WIRE_LANE_ACK_LEN;
	for (i = 0; i < a->nr; i++, p += HCOMM_WIRE_RANGE_LEN) {
		put32(p, a->r[i].start - at);
		put32(p + 4, a->r[i].end - a->r[i].start);
		at = a->r[i].end;
	}
	return HCOMM_WIRE_FRAME_LEN + len;
}

u32 hcomm_wire_put_credit(u8 *p, const struct hcomm_wire_credit *c)
{
	p = put_frame(p, HCOMM_FRAME_CREDIT, 0, HCOMM_WIRE_CREDIT_LEN);
	put32(p, c->lane);
	put32(p + 4, 0);
	put64(p + 8, c->offset);
	put64(p + 16, c->msgs);
	return HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_CREDIT_LEN;
}

u32 hcomm_wire_put_reset(u8 *p, const struct hcomm_wire_reset *r)
{
	p = put_frame(p, HCOMM_FRAME_RESET,
		      r->receiver ? HCOMM_FRAME_F_RECEIVER : 0,
		      HCOMM_WIRE_RESET_LEN);
	put32(p, r->lane);
	put16(p + 4, r->code);
	put16(p + 6, 0);
	put64(p + 8, r->offset);
	return HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_RESET_LEN;
}
