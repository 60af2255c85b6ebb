// SPDX-License-Identifier: GPL-2.0
/* What is encoded is decoded; what is cut short, wrong or mutated is refused and never misread. */
#include "frames.h"
#include "unit.h"

static u8 buf[1 << 17];
static const u8 zeros[64];

static u8 rnd_type(void)
{
	static const u8 types[] = {
		HCOMM_FRAME_BEAT, HCOMM_FRAME_BEAT_REPLY, HCOMM_FRAME_LINK_ACK,
		HCOMM_FRAME_PROBE, HCOMM_FRAME_PROBE_REPLY,
		HCOMM_FRAME_SESSION, HCOMM_FRAME_HELLO,
		HCOMM_FRAME_HELLO_REPLY, HCOMM_FRAME_DATA,
		HCOMM_FRAME_LANE_ACK, HCOMM_FRAME_CREDIT, HCOMM_FRAME_RESET,
	};

	return types[rnd_below(ARRAY_SIZE(types))];
}

static u32 rnd_u32(void)
{
	return rnd_any() >> 32;
}

static u32 nonzero(void)
{
	u32 v = rnd_u32();

	return v ? v : 1;
}

static void fill_ack(struct hcomm_wire_ack *a)
{
	u64 end = 0;
	int i;

	a->delay = rnd_u32();
	a->nr = 1 + rnd_below(HCOMM_WIRE_ACK_RANGES);
	/* From below, so that there is room for all of them. */
	for (i = a->nr - 1; i >= 0; i--) {
		end += i + 1 < a->nr ? nonzero() : rnd_u32();
		a->r[i].start = end;
		end += nonzero();
		a->r[i].end = end;
	}
}

static void fill_lane_ack(struct hcomm_wire_lane_ack *a)
{
	u64 at = rnd_any() >> 2;
	u32 i;

	a->lane = rnd_u32();
	a->closed = rnd_below(2);
	a->nr = rnd_below(HCOMM_WIRE_LANE_RANGES + 1);
	a->cum = at;
	for (i = 0; i < a->nr; i++) {
		at += nonzero();
		a->r[i].start = at;
		at += nonzero();
		a->r[i].end = at;
	}
}

static void fill_data(struct hcomm_wire_data *d)
{
	d->lane = nonzero();
	d->kind = rnd_below(HCOMM_KIND_MAX + 1);
	d->open = rnd_below(2);
	if (d->kind == HCOMM_KIND_DATA)
		d->msg_len = rnd_u32();
	if (d->msg_len) {
		d->msg_off = rnd_below(d->msg_len);
		d->len = 1 + rnd_below(min_t(u32, d->msg_len - d->msg_off,
					     65000));
	}
	d->offset = d->msg_off + (rnd_any() >> 3);
	if (!d->open)
		return;
	d->src_port = nonzero();
	d->dst_port = nonzero();
	d->peer_lane = rnd_u32();
	d->type = rnd();
	d->class = rnd();
}

static void fill(struct hcomm_frame *f)
{
	memset(f, 0, sizeof(*f));
	f->type = rnd_type();
	switch (f->type) {
	case HCOMM_FRAME_BEAT:
	case HCOMM_FRAME_BEAT_REPLY:
		f->beat = (struct hcomm_wire_beat){
			nonzero(), nonzero(), 1 + (rnd_any() >> 1), nonzero(),
			rnd_u32(), rnd_any(), rnd_u32(), rnd_u32() };
		break;
	case HCOMM_FRAME_LINK_ACK:
		fill_ack(&f->ack);
		break;
	case HCOMM_FRAME_PROBE:
	case HCOMM_FRAME_PROBE_REPLY:
	case HCOMM_FRAME_LINK_DOWN:
		f->probe.id = rnd_u32();
		f->probe.size = rnd_u32();
		break;
	case HCOMM_FRAME_SESSION:
		f->session.src = nonzero();
		f->session.dst = nonzero();
		f->session.hop_limit = rnd();
		f->session.src_inc = 1 + (rnd_any() >> 1);
		f->session.dst_inc = rnd_any();
		break;
	case HCOMM_FRAME_HELLO:
	case HCOMM_FRAME_HELLO_REPLY:
		f->hello.nonce = rnd_any();
		f->hello.max_msg = rnd_u32();
		f->hello.credit = rnd_u32();
		f->hello.features = rnd_u32();
		break;
	case HCOMM_FRAME_DATA:
		fill_data(&f->data);
		break;
	case HCOMM_FRAME_LANE_ACK:
		fill_lane_ack(&f->lane_ack);
		break;
	case HCOMM_FRAME_CREDIT:
		f->credit.lane = rnd_u32();
		f->credit.offset = rnd_any();
		f->credit.msgs = rnd_any();
		break;
	case HCOMM_FRAME_RESET:
		f->reset.lane = rnd_u32();
		f->reset.receiver = rnd_below(2);
		f->reset.code = rnd();
		f->reset.offset = rnd_any();
		break;
	}
}

static int decode_one(const u8 *bytes, u32 len, bool session,
		      struct hcomm_frame *f)
{
	/* In a block of its own, so that ASan sees the end. */
	u8 *copy = malloc(len ? len : 1);
	struct frames_packet ctx = { copy, len };
	struct hcomm_packet p = { .peek = frames_peek, .ctx = &ctx, .end = len,
				  .in_session = session };
	int err;

	memcpy(copy, bytes, len);
	memset(f, 0, sizeof(*f));
	err = hcomm_wire_next(&p, f);
	CHECK(p.off <= len);
	if (err == 1)
		CHECK(!frames_bad(&p, f), "%s", frames_bad(&p, f));
	free(copy);
	return err;
}

/* Every field of every frame survives; every shorter packet is refused. */
static void round_trip(void)
{
	struct hcomm_frame f, got;
	u32 len, cut, more = 0, head = HCOMM_WIRE_FRAME_LEN;
	bool session;

	fill(&f);
	session = f.type >= HCOMM_FRAME_HELLO;
	len = frames_put(buf, &f);
	if (f.type == HCOMM_FRAME_DATA)
		more = f.data.len;
	if (f.type == HCOMM_FRAME_DATA || f.type == HCOMM_FRAME_SESSION)
		head = len;
	memset(buf + len, 0xa5, more);
	len += more;
	CHECK(len <= (u32)HCOMM_WIRE_PEEK + more);
	CHECK(decode_one(buf, len, session, &got) == 1, "type %#x", f.type);
	CHECK(got.payload == head && got.payload + got.payload_len == len);
	got.payload = 0;
	got.payload_len = 0;
	CHECK(!memcmp(&f, &got, sizeof(f)), "type %#x", f.type);
	CHECK(decode_one(buf, len, !session, &got) == -EBADMSG);
	for (cut = 1; cut < min_t(u32, len, 400); cut++)
		CHECK(decode_one(buf, len - cut, session, &got) == -EBADMSG);
	CHECK(decode_one(buf, 0, session, &got) == 0);
}

/* On every machine the same bytes. */
static void golden(void)
{
	static const u8 want[] = {
		/* link header: version, flags, tag, packet number, link */
		0x01, 0x82, 0, 0, 0x78, 0x56, 0x34, 0x12,
		0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
		0x04, 0x03, 0x02, 0x01,
		/* acknowledgement of 5..9 and 1..2, 300 us later */
		0x03, 0, 32, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0x2c, 0x01, 0, 0,
		2, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0,
		/* session header: length, nodes, hops, incarnations */
		0x40, 0x80, 71, 0, 1, 0, 0, 0, 2, 0, 0, 0, 8, 0, 0, 0,
		3, 0, 0, 0, 0, 0, 0, 0x80, 4, 0, 0, 0, 0, 0, 0, 0,
		/* data: a message of 3 bytes on the new lane 5, ports 6, 7 */
		0x43, 0x01, 39, 0, 5, 0, 0, 0, 3, 0, 0, 0,
		0x00, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		6, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 5, 2, 0, 0, 'a', 'b', 'c',
	};
	struct hcomm_wire_link h = { .flags = HCOMM_LINK_F_ACK_NOW | 2,
				     .tag = 0x12345678,
				     .pn = 0x0102030405060708ULL,
				     .link = 0x01020304 };
	struct hcomm_wire_ack a = { .delay = 300, .nr = 2,
				    .r = { { 5, 10 }, { 1, 3 } } };
	struct hcomm_wire_session s = { 1, 2, 8, 0x8000000000000003ULL, 4 };
	struct hcomm_wire_data d = {
		.lane = 5, .open = true, .msg_len = 3, .offset = 256, .len = 3,
		.src_port = 6, .dst_port = 7, .peer_lane = 8, .type = 5,
		.class = 2,
	};
	u32 at, from;

	at = hcomm_wire_put_link(buf, &h);
	at += hcomm_wire_put_ack(buf + at, &a);
	from = at;
	at += hcomm_wire_put_session(buf + at, &s);
	at += hcomm_wire_put_data(buf + at, &d);
	memcpy(buf + at, "abc", 3);
	at += 3;
	hcomm_wire_session_done(buf + from, at - from);
	for (from = 0; from < min_t(u32, at, sizeof(want)); from++)
		CHECK(buf[from] == want[from], "byte %u is %#x", from,
		      buf[from]);
	CHECK(at == sizeof(want), "%u bytes", at);
}

static void link_header(void)
{
	/* Byte, value, error. */
	static const int wrong[][3] = {
		{ 0, 0, -EPROTONOSUPPORT }, { 0, 2, -EPROTONOSUPPORT },
		{ 1, 0x08, -EBADMSG }, { 1, 0x40, -EBADMSG },
		{ 2, 1, -ENOKEY }, { 3, 1, -EBADMSG }, { 15, 0x40, -EBADMSG },
		{ 15, 0x80, -EBADMSG },
	};
	struct hcomm_wire_link h, got;
	struct frames_packet ctx = { buf, HCOMM_WIRE_LINK_LEN };
	struct hcomm_packet p;
	u32 i;

	for (i = 0; i < 1000; i++) {
		h = (struct hcomm_wire_link){
			HCOMM_WIRE_VERSION, rnd() & 0x87, rnd_u32(),
			rnd_any() >> 2, rnd_u32() };
		hcomm_wire_put_link(buf, &h);
		p = (struct hcomm_packet){ .peek = frames_peek, .ctx = &ctx,
					   .end = ctx.len };
		CHECK(!hcomm_wire_get_link(&p, &got));
		CHECK(p.off == ctx.len && h.flags == got.flags &&
		      h.tag == got.tag && h.pn == got.pn && h.link == got.link);
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		hcomm_wire_put_link(buf, &h);
		buf[wrong[i][0]] = wrong[i][1];
		p.off = 0;
		CHECK(hcomm_wire_get_link(&p, &got) == wrong[i][2], "case %u",
		      i);
	}
	hcomm_wire_put_link(buf, &h);
	for (i = 0; i < ctx.len; i++) {
		p.off = 0;
		p.end = i;
		CHECK(hcomm_wire_get_link(&p, &got) == -EBADMSG);
	}
}

/* One thing wrong in each, at an offset of the frame's body. */
struct wrong {
	const char *what;
	struct hcomm_frame f;
	u32 at;
	u32 n;
	u8 bytes[8];
};

#define ACK { .type = HCOMM_FRAME_LINK_ACK, \
	      .ack = { 0, 2, { { 5, 10 }, { 1, 3 } } } }
#define LANE_ACK { .type = HCOMM_FRAME_LANE_ACK, \
		   .lane_ack = { 1, false, 2, 5, { { 7, 8 }, { 9, 10 } } } }
#define BEAT { .type = HCOMM_FRAME_BEAT, .beat = { 1, 2, 3, 4, 5, 6, 7, 8 } }
#define SESSION { .type = HCOMM_FRAME_SESSION, .session = { 1, 2, 3, 4, 5 } }
#define CREDIT { .type = HCOMM_FRAME_CREDIT, .credit = { 1, 2, 3 } }
#define RESET { .type = HCOMM_FRAME_RESET, .reset = { 1, false, 2, 3 } }
#define DATA { .type = HCOMM_FRAME_DATA, \
	       .data = { .lane = 1, .open = true, .msg_len = 10, .offset = 20, \
			 .msg_off = 4, .len = 6, .src_port = 1, .dst_port = 1 } }
#define EMPTY { .type = HCOMM_FRAME_DATA, .data = { .lane = 1 } }

static const struct wrong wrong[] = {
	{ "ack: no range", ACK, 12, 2, { 0, 0 } },
	{ "ack: more ranges than bytes", ACK, 12, 2, { 3, 0 } },
	{ "ack: too many ranges", ACK, 12, 2, { 33, 0 } },
	{ "ack: ranges without end", ACK, 12, 2, { 0xff, 0xff } },
	{ "ack: number out of bounds", ACK, 0, 8, { 0, 0, 0, 0, 0, 0, 0, 0x40 } },
	{ "ack: empty range", ACK, 20, 4, { 0 } },
	{ "ack: no gap", ACK, 24, 4, { 0 } },
	{ "ack: gap below 0", ACK, 24, 4, { 6 } },
	{ "ack: range below 0", ACK, 28, 4, { 4 } },
	{ "lane ack: reserved byte", LANE_ACK, 5, 1, { 1 } },
	{ "lane ack: reserved bytes", LANE_ACK, 6, 2, { 0, 1 } },
	{ "lane ack: more ranges than bytes", LANE_ACK, 4, 1, { 3 } },
	{ "lane ack: too many ranges", LANE_ACK, 4, 1, { 17 } },
	{ "lane ack: out of bounds", LANE_ACK, 15, 1, { 0x40 } },
	{ "lane ack: no gap", LANE_ACK, 16, 4, { 0 } },
	{ "lane ack: empty range", LANE_ACK, 28, 4, { 0 } },
	{ "beat: no source", BEAT, 0, 4, { 0 } },
	{ "beat: no destination", BEAT, 4, 4, { 0 } },
	{ "beat: no incarnation", BEAT, 8, 8, { 0 } },
	{ "beat: no tag", BEAT, 16, 4, { 0 } },
	{ "session: no source", SESSION, 0, 4, { 0 } },
	{ "session: no destination", SESSION, 4, 4, { 0 } },
	{ "session: no incarnation", SESSION, 12, 8, { 0 } },
	{ "session: reserved byte", SESSION, 9, 1, { 1 } },
	{ "session: reserved bytes", SESSION, 10, 2, { 0, 1 } },
	{ "credit: reserved bytes", CREDIT, 4, 4, { 0, 0, 0, 1 } },
	{ "reset: reserved bytes", RESET, 6, 2, { 0, 1 } },
	{ "data: no lane", DATA, 0, 4, { 0 } },
	{ "data: piece beyond the message", DATA, 4, 4, { 9 } },
	{ "data: message that ends before", DATA, 4, 4, { 3 } },
	{ "data: message of 0 bytes", DATA, 4, 4, { 0 } },
	{ "data: begins before the lane", DATA, 8, 8, { 3 } },
	{ "data: offset out of bounds", DATA, 15, 1, { 0x40 } },
	{ "data: place beyond the message", DATA, 16, 4, { 5 } },
	{ "data: place without end", DATA, 16, 4, { 0xff, 0xff, 0xff, 0xff } },
	{ "data: no source port", DATA, 20, 4, { 0 } },
	{ "data: no destination port", DATA, 24, 4, { 0 } },
	{ "data: reserved bytes", DATA, 34, 2, { 0, 1 } },
	{ "data: empty piece", EMPTY, 4, 4, { 1 } },
};

/* One range more than there is room for, all of them well formed. */
static void too_many(bool session, u32 max, u32 count_at, u32 ranges_at)
{
	struct hcomm_frame ack = ACK, lane_ack = LANE_ACK, got;
	u8 *body = buf + HCOMM_WIRE_FRAME_LEN;
	u32 n, i;

	frames_put(buf, session ? &lane_ack : &ack);
	body[1] = 1;
	for (i = 0; i <= max; i++) {
		memcpy(body + ranges_at + 8 * i, zeros, 8);
		body[ranges_at + 8 * i] = 1;
		body[ranges_at + 8 * i + 4] = 1;
	}
	for (n = max; n <= max + 1; n++) {
		body[count_at] = n;
		buf[2] = (ranges_at + 8 * n) & 0xff;
		buf[3] = (ranges_at + 8 * n) >> 8;
		CHECK(decode_one(buf, HCOMM_WIRE_FRAME_LEN + ranges_at + 8 * n,
				 session, &got) == (n > max ? -EBADMSG : 1));
	}
}

static void refused(void)
{
	struct hcomm_frame got;
	u32 i, len;
	u8 kind;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		const struct wrong *w = &wrong[i];
		bool session = w->f.type >= HCOMM_FRAME_HELLO;

		len = frames_put(buf, &w->f);
		if (w->f.type == HCOMM_FRAME_DATA)
			len += w->f.data.len;
		CHECK(decode_one(buf, len, session, &got) == 1, "%s", w->what);
		memcpy(buf + HCOMM_WIRE_FRAME_LEN + w->at, w->bytes, w->n);
		CHECK(decode_one(buf, len, session, &got) == -EBADMSG, "%s",
		      w->what);
	}
	too_many(false, HCOMM_WIRE_ACK_RANGES, 12, HCOMM_WIRE_ACK_LEN);
	too_many(true, HCOMM_WIRE_LANE_RANGES, 4, HCOMM_WIRE_LANE_ACK_LEN);
	/* A kind that there is not; one that carries no bytes, with bytes. */
	for (kind = 1; kind < 8; kind++) {
		len = frames_put(buf, &(struct hcomm_frame)EMPTY);
		buf[1] = kind << 1;
		CHECK(decode_one(buf, len, true, &got) ==
		      (kind <= HCOMM_KIND_MAX ? 1 : -EBADMSG));
		len = frames_put(buf, &(struct hcomm_frame)DATA) + 6;
		buf[1] |= kind << 1;
		CHECK(decode_one(buf, len, true, &got) == -EBADMSG);
	}
}

/* Frames from a later version are skipped, or refuse the packet by a flag. */
static void unknown(void)
{
	struct hcomm_frame probe = { .type = HCOMM_FRAME_PROBE,
				     .probe = { 1, 2 } };
	struct hcomm_frame reset = RESET, f;
	u32 type, len;

	for (type = 1; type < 256; type++) {
		bool session = type >= HCOMM_FRAME_HELLO;

		if (type <= HCOMM_FRAME_LINK_DOWN ||
		    (type >= HCOMM_FRAME_SESSION && type <= HCOMM_FRAME_RESET))
			continue;
		memcpy(buf, zeros, sizeof(zeros));
		buf[0] = type;
		buf[2] = 5;
		len = 9 + frames_put(buf + 9, session ? &reset : &probe);
		CHECK(decode_one(buf, len, session, &f) == 1 && f.type ==
		      (session ? HCOMM_FRAME_RESET : HCOMM_FRAME_PROBE));
		CHECK(decode_one(buf, 9, session, &f) == 0);
		CHECK(decode_one(buf, 8, session, &f) == -EBADMSG);
		buf[1] = HCOMM_FRAME_F_MUST;
		CHECK(decode_one(buf, len, session, &f) == -EOPNOTSUPP);
	}
	/* Padding ends the packet. */
	memcpy(buf, zeros, sizeof(zeros));
	for (len = 0; len < sizeof(zeros); len++)
		CHECK(decode_one(buf, len, false, &f) == 0);
}

static void walk(struct hcomm_packet *p, u32 *frames)
{
	struct hcomm_frame f;

	while (hcomm_wire_next(p, &f) > 0) {
		++*frames;
		CHECK(!frames_bad(p, &f), "%s", frames_bad(p, &f));
		CHECK(frames_stable(&f));
		if (f.type == HCOMM_FRAME_SESSION) {
			struct hcomm_packet in = *p;

			in.off = f.payload;
			in.end = f.payload + f.payload_len;
			in.in_session = true;
			walk(&in, frames);
		}
	}
}

/* Packets of several frames with some bytes changed, some cut short. */
static void mutated(u32 *frames)
{
	struct hcomm_frame f;
	struct frames_packet ctx;
	struct hcomm_packet p = { .peek = frames_peek, .ctx = &ctx };
	struct hcomm_wire_session s = { 1, 2, 3, 4, 5 };
	u32 len = 0, session = 0, i, n;
	u8 *copy;

	while (len < 1200) {
		fill(&f);
		if (f.type == HCOMM_FRAME_SESSION ||
		    (f.type == HCOMM_FRAME_DATA && f.data.len > 300))
			continue;
		if (!session && f.type >= HCOMM_FRAME_HELLO) {
			session = len + 1;
			len += hcomm_wire_put_session(buf + len, &s);
		}
		if (session && f.type < HCOMM_FRAME_HELLO)
			continue;
		len += frames_put(buf + len, &f);
		if (f.type == HCOMM_FRAME_DATA)
			len += f.data.len;
	}
	if (session)
		hcomm_wire_session_done(buf + session - 1, len - session + 1);
	for (i = 0; i < 40; i++) {
		n = rnd_below(4) ? len : rnd_below(len + 1);
		copy = malloc(n + 1);
		memcpy(copy, buf, n);
		ctx = (struct frames_packet){ copy, n };
		p.off = 0;
		p.end = n;
		if (n)
			for (n = rnd_below(4); n; n--)
				copy[rnd_below(ctx.len)] = rnd_below(3) ?
							   rnd() : rnd() & 3;
		walk(&p, frames);
		free(copy);
	}
}

/* Packets that carry a message on, as they lie in a batch; returns how many. */
static u32 train(u8 *to, u32 part, u32 msg_len, u32 off, u32 max, u32 *stride)
{
	struct hcomm_wire_link l = {
		.flags = rnd_below(8), .tag = rnd(), .pn = rnd() >> 8,
		.link = rnd(),
	};
	struct hcomm_wire_session s = { 1, 2, 3, rnd(), rnd() };
	struct hcomm_wire_data d = {
		.lane = 7, .msg_len = msg_len, .offset = off + (rnd() >> 4),
		.msg_off = off, .len = part,
	};
	u32 n, len;
	u8 *p = to;

	for (n = 0; n < max && d.msg_off + part <= msg_len; n++) {
		u8 *session = p + hcomm_wire_put_link(p, &l);
		u8 *data = session + hcomm_wire_put_session(session, &s);

		len = data + hcomm_wire_put_data(data, &d) + part - session;
		hcomm_wire_session_done(session, len);
		*stride = session + len - p;
		p += *stride;
		l.pn++;
		d.offset += part;
		d.msg_off += part;
	}
	return n;
}

static u32 found(const u8 *data, u32 len, u32 stride)
{
	struct frames_packet ctx = { data, len };
	struct hcomm_packet p = {
		.peek = frames_peek, .ctx = &ctx, .end = stride,
	};
	u32 n = hcomm_wire_run(&p, len / stride);

	CHECK(p.run == n && p.stride == stride, "%u %u", n, p.run);
	return n;
}

/*
 * A run ends at the packet of which one bit of the headers is not what it must
 * be, and nowhere else; what it covers decodes as one piece.
 */
static void runs(void)
{
	u32 part = 1 + rnd_below(200), msg_len = part * (1 + rnd_below(20)) +
		   rnd_below(part), off = part * rnd_below(4);
	u32 stride = 0, n, at, bit;
	u8 *copy;

	if (off + part > msg_len)
		off = 0;
	n = train(buf, part, msg_len, off, 16, &stride);
	CHECK(stride == part + HCOMM_WIRE_PLAIN_LEN, "%u %u", stride, part);
	/* Exactly as much memory, so that ASan sees every read. */
	copy = malloc(n * stride);
	memcpy(copy, buf, n * stride);
	CHECK(found(copy, n * stride, stride) == n, "%u", n);
	for (at = 1; at < n; at++) {
		u32 byte = at * stride + rnd_below(HCOMM_WIRE_PLAIN_LEN);

		bit = 1 << rnd_below(8);
		copy[byte] ^= bit;
		CHECK(found(copy, n * stride, stride) == at, "byte %u", byte);
		copy[byte] ^= bit;
		/* The payload is nobody's business here. */
		byte = at * stride + HCOMM_WIRE_PLAIN_LEN + rnd_below(part);
		copy[byte] ^= bit;
		CHECK(found(copy, n * stride, stride) == n, "byte %u", byte);
	}
	free(copy);
}

/* A sender may claim a run beyond the end of its message. */
static void run_beyond(void)
{
	u32 stride = 0, n = train(buf, 100, 1000, 0, 10, &stride), i;

	/* msg_len is 818 now: eight whole parts. */
	for (i = 0; i < n; i++)
		memcpy(buf + i * stride + HCOMM_WIRE_PLAIN_LEN - 16,
		       "\x32\x03\0\0", 4);
	CHECK(found(buf, n * stride, stride) == 8, "%u",
	      found(buf, n * stride, stride));
}

int main(int argc, char **argv)
{
	u32 i, frames = 0;

	unit_init(argc, argv);
	golden();
	link_header();
	refused();
	unknown();
	for (i = 0; i < 5000; i++)
		round_trip();
	for (i = 0; i < 5000; i++)
		runs();
	run_beyond();
	for (i = 0; i < 2000; i++)
		mutated(&frames);
	CHECK(frames > 100000, "%u", frames);
	printf("wire: pass: %zu malformed frames refused, %u frames of mutated packets\n",
	       ARRAY_SIZE(wrong), frames);
	return 0;
}
