// SPDX-License-Identifier: GPL-2.0
/* Writes one packet of each kind of frame into a directory, for the fuzzer to begin with. */
#include "frames.h"
#include "unit.h"

static const char *dir;
static u8 buf[4096];
static int nr;

static u32 begin(void)
{
	struct hcomm_wire_link h = {
		.flags = nr % 8, .tag = rnd(), .pn = rnd_any() >> 2,
		.link = 1 + nr,
	};

	return hcomm_wire_put_link(buf, &h);
}

static void save(u32 len)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/seed-%02d", dir, nr++);
	f = fopen(path, "w");
	if (!f || fwrite(buf, len, 1, f) != 1 || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void link_frames(void)
{
	struct hcomm_frame f[5] = {
		{ .type = HCOMM_FRAME_BEAT,
		  .beat = { 1, 2, rnd(), 3, 0, rnd(), 0, 200 } },
		{ .type = HCOMM_FRAME_BEAT_REPLY,
		  .beat = { 2, 1, rnd(), 4, 3, rnd(), 5000, 0 } },
		{ .type = HCOMM_FRAME_PROBE, .probe = { 7, 1400 } },
		{ .type = HCOMM_FRAME_PROBE_REPLY, .probe = { 7, 1400 } },
		{ .type = HCOMM_FRAME_LINK_ACK,
		  .ack = { 25, 3, { { 90, 100 }, { 50, 60 }, { 0, 1 } } } },
	};
	u32 i, at = begin();

	for (i = 0; i < ARRAY_SIZE(f); i++)
		save(begin() + frames_put(buf + HCOMM_WIRE_LINK_LEN, &f[i]));
	for (i = 0; i < ARRAY_SIZE(f); i++)
		at += frames_put(buf + at, &f[i]);
	/* Padding, as a probe of the path's size has it. */
	memset(buf + at, 0, 500);
	save(at + 500);
}

static u32 session(const struct hcomm_frame *f, u32 n)
{
	struct hcomm_wire_session s = { 1, 2, 8, rnd(), rnd() };
	u32 from = begin(), at = from, i;

	at += hcomm_wire_put_session(buf + at, &s);
	for (i = 0; i < n; i++) {
		at += frames_put(buf + at, &f[i]);
		if (f[i].type != HCOMM_FRAME_DATA)
			continue;
		memset(buf + at, 0x55, f[i].data.len);
		at += f[i].data.len;
	}
	hcomm_wire_session_done(buf + from, at - from);
	return at;
}

static void session_frames(void)
{
	static const struct hcomm_frame f[] = {
		{ .type = HCOMM_FRAME_HELLO, .hello = { 99, 1 << 20, 65536, 0 } },
		{ .type = HCOMM_FRAME_HELLO_REPLY,
		  .hello = { 99, 1 << 20, 65536, 0 } },
		{ .type = HCOMM_FRAME_DATA,
		  .data = { .lane = 1, .open = true, .msg_len = 300, .len = 100,
			    .src_port = 5000, .dst_port = 7, .type = 5 } },
		{ .type = HCOMM_FRAME_DATA,
		  .data = { .lane = 1, .msg_len = 300, .offset = 100,
			    .msg_off = 100, .len = 200 } },
		{ .type = HCOMM_FRAME_DATA,
		  .data = { .lane = 1, .offset = 300 } },
		{ .type = HCOMM_FRAME_DATA,
		  .data = { .lane = 2, .kind = HCOMM_KIND_CONNECT, .open = true,
			    .src_port = 9, .dst_port = 7, .type = 1 } },
		{ .type = HCOMM_FRAME_DATA,
		  .data = { .lane = 3, .kind = HCOMM_KIND_ACCEPT, .open = true,
			    .src_port = 7, .dst_port = 9, .peer_lane = 2 } },
		{ .type = HCOMM_FRAME_DATA,
		  .data = { .lane = 1, .kind = HCOMM_KIND_FIN, .offset = 301 } },
		{ .type = HCOMM_FRAME_LANE_ACK,
		  .lane_ack = { 1, false, 2, 50, { { 60, 70 }, { 80, 81 } } } },
		{ .type = HCOMM_FRAME_LANE_ACK, .lane_ack = { .lane = 1,
		  .closed = true } },
		{ .type = HCOMM_FRAME_CREDIT, .credit = { 1, 1 << 20, 512 } },
		{ .type = HCOMM_FRAME_RESET, .reset = { 1, true, 104, 50 } },
		{ .type = HCOMM_FRAME_RESET, .reset = { 1, false, 110, 0 } },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(f); i++)
		save(session(&f[i], 1));
	save(session(f, ARRAY_SIZE(f)));
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "Usage: seeds DIRECTORY\n");
		return 2;
	}
	dir = argv[1];
	link_frames();
	session_frames();
	return 0;
}
