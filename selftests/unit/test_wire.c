// SPDX-License-Identifier: GPL-2.0
/* What is encoded is decoded; what is cut short or mutated is never misread. */
#include "unit.h"
#include "wire.h"

static u8 buf[4096];

static const void *peek(void *ctx, u32 off, u32 len, void *to)
{
	CHECK(off + len <= *(u32 *)ctx, "read beyond the packet");
	memcpy(to, buf + off, len);
	return to;
}

static u32 put_session(u32 at)
{
	struct hcomm_wire_session s = {
		.src = 1, .dst = 2, .hop_limit = 8, .src_inc = 3, .dst_inc = 4,
	};
	struct hcomm_wire_data d = {
		.lane = 9, .kind = HCOMM_KIND_DATA, .open = true,
		.msg_len = 1000, .offset = 5000, .msg_off = 100, .len = 50,
		.src_port = 7, .dst_port = 8, .peer_lane = 6, .type = 5,
		.class = 2,
	};
	struct hcomm_wire_lane_ack a = {
		.lane = 11, .nr = 2, .cum = 100,
		.r = { { 110, 120 }, { 130, 131 } },
	};
	struct hcomm_wire_credit c = { .lane = 12, .offset = 1ull << 40,
				       .msgs = 77 };
	struct hcomm_wire_reset r = { .lane = 13, .receiver = true,
				      .code = 104, .offset = 55 };
	u32 begin = at;

	at += hcomm_wire_put_session(buf + at, &s);
	at += hcomm_wire_put_data(buf + at, &d);
	memset(buf + at, 0xab, d.len);
	at += d.len;
	at += hcomm_wire_put_lane_ack(buf + at, &a);
	at += hcomm_wire_put_credit(buf + at, &c);
	at += hcomm_wire_put_reset(buf + at, &r);
	hcomm_wire_session_done(buf + begin, at - begin);
	return at;
}

static u32 build(void)
{
	struct hcomm_wire_link h = { .flags = 2 | HCOMM_LINK_F_ACK_NOW,
				     .tag = 0x12345678, .pn = 1ull << 33,
				     .link = 3 };
	struct hcomm_wire_ack a = {
		.delay = 99, .nr = 3,
		.r = { { 90, 100 }, { 50, 60 }, { 0, 1 } },
	};
	struct hcomm_wire_beat b = { .src = 1, .dst = 2, .inc = 5, .my_tag = 6,
				     .your_tag = 7, .stamp = 8, .hold = 9,
				     .interval = 200 };
	u32 at = hcomm_wire_put_link(buf, &h);

	at += hcomm_wire_put_ack(buf + at, &a);
	at += hcomm_wire_put_beat(buf + at, HCOMM_FRAME_BEAT, &b);
	return put_session(at);
}

static void link_frames(struct hcomm_packet *p)
{
	struct hcomm_wire_link h;
	struct hcomm_frame f;

	CHECK(!hcomm_wire_get_link(p, &h));
	CHECK(h.tag == 0x12345678 && h.pn == 1ull << 33 && h.link == 3 &&
	      h.flags == (2 | HCOMM_LINK_F_ACK_NOW));
	CHECK(hcomm_wire_next(p, &f) == 1 && f.type == HCOMM_FRAME_LINK_ACK);
	CHECK(f.ack.nr == 3 && f.ack.delay == 99);
	CHECK(f.ack.r[0].start == 90 && f.ack.r[0].end == 100 &&
	      f.ack.r[1].start == 50 && f.ack.r[1].end == 60 &&
	      f.ack.r[2].start == 0 && f.ack.r[2].end == 1);
	CHECK(hcomm_wire_next(p, &f) == 1 && f.type == HCOMM_FRAME_BEAT);
	CHECK(f.beat.src == 1 && f.beat.dst == 2 && f.beat.inc == 5 &&
	      f.beat.my_tag == 6 && f.beat.your_tag == 7 &&
	      f.beat.stamp == 8 && f.beat.hold == 9 && f.beat.interval == 200);
	CHECK(hcomm_wire_next(p, &f) == 1 && f.type == HCOMM_FRAME_SESSION);
	CHECK(f.session.src == 1 && f.session.dst == 2 &&
	      f.session.src_inc == 3 && f.session.dst_inc == 4 &&
	      f.session.hop_limit == 8);
	CHECK(!hcomm_wire_next(p, &f));
	p->off = f.payload;
	p->end = f.payload + f.payload_len;
	p->in_session = true;
}

static void round_trip(void)
{
	u32 len = build();
	struct hcomm_packet p = { .peek = peek, .ctx = &len, .end = len };
	struct hcomm_frame f;

	link_frames(&p);
	CHECK(hcomm_wire_next(&p, &f) == 1 && f.type == HCOMM_FRAME_DATA);
	CHECK(f.data.lane == 9 && f.data.open && f.data.msg_len == 1000 &&
	      f.data.offset == 5000 && f.data.msg_off == 100 &&
	      f.data.len == 50 && f.data.src_port == 7 &&
	      f.data.dst_port == 8 && f.data.peer_lane == 6 &&
	      f.data.type == 5 && f.data.class == 2);
	CHECK(f.payload_len == 50 && buf[f.payload] == 0xab &&
	      buf[f.payload + 49] == 0xab);
	CHECK(hcomm_wire_next(&p, &f) == 1 && f.type == HCOMM_FRAME_LANE_ACK);
	CHECK(f.lane_ack.lane == 11 && f.lane_ack.nr == 2 &&
	      f.lane_ack.cum == 100 && f.lane_ack.r[0].start == 110 &&
	      f.lane_ack.r[0].end == 120 && f.lane_ack.r[1].start == 130 &&
	      f.lane_ack.r[1].end == 131 && !f.lane_ack.closed);
	CHECK(hcomm_wire_next(&p, &f) == 1 && f.type == HCOMM_FRAME_CREDIT);
	CHECK(f.credit.lane == 12 && f.credit.offset == 1ull << 40 &&
	      f.credit.msgs == 77);
	CHECK(hcomm_wire_next(&p, &f) == 1 && f.type == HCOMM_FRAME_RESET);
	CHECK(f.reset.lane == 13 && f.reset.receiver && f.reset.code == 104 &&
	      f.reset.offset == 55);
	CHECK(!hcomm_wire_next(&p, &f));
}

/* Decodes all there is; peek() fails the test on any read beyond the end. */
static void decode(u32 len)
{
	struct hcomm_packet p = { .peek = peek, .ctx = &len, .end = len };
	struct hcomm_wire_link h;
	struct hcomm_frame f;
	int n = 0;

	if (hcomm_wire_get_link(&p, &h))
		return;
	while (hcomm_wire_next(&p, &f) > 0 && n++ < 5000) {
		CHECK(f.payload + f.payload_len <= len);
		if (f.type != HCOMM_FRAME_SESSION)
			continue;
		p.off = f.payload;
		p.end = f.payload + f.payload_len;
		p.in_session = true;
	}
	CHECK(n < 5000);
}

static void mutated(void)
{
	u32 len = build(), i, k;
	u8 good[sizeof(buf)];

	memcpy(good, buf, sizeof(buf));
	for (i = 0; i <= len; i++)
		decode(i);
	for (i = 0; i < 300000; i++) {
		memcpy(buf, good, len);
		for (k = rnd_below(4) + 1; k; k--)
			buf[rnd_below(len)] = rnd();
		decode(rnd_below(8) ? len : rnd_below(len));
	}
}

static void refused(void)
{
	u32 len = build();
	struct hcomm_packet p = { .peek = peek, .ctx = &len, .end = len };
	struct hcomm_wire_link h;
	struct hcomm_frame f;

	buf[0] = 2;
	CHECK(hcomm_wire_get_link(&p, &h) == -EPROTONOSUPPORT);
	build();
	buf[2] = 1;
	CHECK(hcomm_wire_get_link(&p, &h) == -ENOKEY);
	build();
	buf[3] = 1;
	CHECK(hcomm_wire_get_link(&p, &h) == -EBADMSG);
	/* Unknown frames are skipped, or refuse the packet by their flag. */
	memset(buf, 0, sizeof(buf));
	len = 28;
	p = (struct hcomm_packet){ .peek = peek, .ctx = &len, .off = 20,
				   .end = len };
	buf[20] = 0x3f;
	buf[22] = 4;
	CHECK(hcomm_wire_next(&p, &f) == 0);
	p.off = 20;
	buf[21] = HCOMM_FRAME_F_MUST;
	CHECK(hcomm_wire_next(&p, &f) == -EOPNOTSUPP);
}

int main(void)
{
	round_trip();
	mutated();
	refused();
	printf("wire: pass\n");
	return 0;
}
