/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_WIRE_H
#define HCOMM_WIRE_H

#include "pure.h"

/*
 * One packet is a link header and frames. Link frames are handled hop by hop;
 * one HCOMM_FRAME_SESSION frame, always the last, carries the session header
 * and session frames, which are handled end to end. Everything is
 * little-endian. Documentation/wire-protocol.md describes each field.
 */
enum hcomm_wire_const {
	HCOMM_WIRE_VERSION = 1,
	HCOMM_WIRE_LINK_LEN = 20,
	HCOMM_WIRE_FRAME_LEN = 4,
	HCOMM_WIRE_SESSION_LEN = 28,
	HCOMM_WIRE_BEAT_LEN = 40,
	HCOMM_WIRE_ACK_LEN = 16,
	HCOMM_WIRE_PROBE_LEN = 8,
	HCOMM_WIRE_HELLO_LEN = 24,
	HCOMM_WIRE_DATA_LEN = 20,
	HCOMM_WIRE_OPEN_LEN = 16,
	HCOMM_WIRE_LANE_ACK_LEN = 16,
	HCOMM_WIRE_CREDIT_LEN = 24,
	HCOMM_WIRE_RESET_LEN = 16,
	HCOMM_WIRE_RANGE_LEN = 8,
	HCOMM_WIRE_ACK_RANGES = 16,
	HCOMM_WIRE_LANE_RANGES = 16,
	HCOMM_WIRE_MAX_BODY = 65535,
	/* Headers of a packet with one piece of an open lane and no more. */
	HCOMM_WIRE_PLAIN_LEN = HCOMM_WIRE_LINK_LEN + HCOMM_WIRE_FRAME_LEN +
			       HCOMM_WIRE_SESSION_LEN + HCOMM_WIRE_FRAME_LEN +
			       HCOMM_WIRE_DATA_LEN,
	/* The longest frame up to its payload; what a decoder looks at. */
	HCOMM_WIRE_PEEK = HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_ACK_LEN +
			  HCOMM_WIRE_ACK_RANGES * HCOMM_WIRE_RANGE_LEN,
	HCOMM_HOP_LIMIT = 8,
};

enum hcomm_frame_type {
	HCOMM_FRAME_PAD = 0x00,		/* the rest of the packet is padding */
	HCOMM_FRAME_BEAT = 0x01,
	HCOMM_FRAME_BEAT_REPLY = 0x02,
	HCOMM_FRAME_LINK_ACK = 0x03,
	HCOMM_FRAME_PROBE = 0x04,
	HCOMM_FRAME_PROBE_REPLY = 0x05,
	HCOMM_FRAME_LINK_DOWN = 0x06,
	HCOMM_FRAME_SESSION = 0x40,
	HCOMM_FRAME_HELLO = 0x41,
	HCOMM_FRAME_HELLO_REPLY = 0x42,
	HCOMM_FRAME_DATA = 0x43,
	HCOMM_FRAME_LANE_ACK = 0x44,
	HCOMM_FRAME_CREDIT = 0x45,
	HCOMM_FRAME_RESET = 0x46,
	/* Kept: forwarded congestion, too big, one-sided operations, grants. */
	HCOMM_FRAME_CONGESTION = 0x48,
	HCOMM_FRAME_TOO_BIG = 0x49,
	HCOMM_FRAME_ONE_SIDED_FIRST = 0x50,
	HCOMM_FRAME_ONE_SIDED_LAST = 0x5f,
	HCOMM_FRAME_GRANT = 0x60,
};

enum hcomm_frame_flags {
	HCOMM_FRAME_F_OPEN = 0x01,	/* DATA: the open extension follows */
	HCOMM_FRAME_F_KIND = 0x0e,	/* DATA: enum hcomm_msg_kind << 1 */
	HCOMM_FRAME_F_CLOSED = 0x01,	/* LANE_ACK: the lane is finished */
	HCOMM_FRAME_F_RECEIVER = 0x01,	/* RESET: sent by the lane's receiver */
	HCOMM_FRAME_F_MUST = 0x80,	/* refuse the packet if unknown */
};

enum hcomm_link_flags {
	HCOMM_LINK_F_CLASS = 0x07,
	HCOMM_LINK_F_ACK_NOW = 0x80,	/* the sender waits for this ack */
};

enum hcomm_msg_kind {
	HCOMM_KIND_DATA,
	HCOMM_KIND_FIN,			/* nothing follows on this lane */
	HCOMM_KIND_CONNECT,
	HCOMM_KIND_ACCEPT,
	HCOMM_KIND_MAX = HCOMM_KIND_ACCEPT,
};

/**
 * struct hcomm_wire_link - link header, hop by hop
 * @version: HCOMM_WIRE_VERSION
 * @flags: enum hcomm_link_flags
 * @tag: agreed by the heartbeats of both ends; 0 before that
 * @pn: packet number, never used twice under one tag
 * @link: number of the link, the same at both ends
 */
struct hcomm_wire_link {
	u8 version;
	u8 flags;
	u32 tag;
	u64 pn;
	u32 link;
};

/**
 * struct hcomm_wire_session - session header, end to end
 * @src: source node
 * @dst: destination node
 * @hop_limit: forwarders left
 * @src_inc: incarnation of the source
 * @dst_inc: incarnation of the destination, 0 while it is not known
 */
struct hcomm_wire_session {
	u32 src;
	u32 dst;
	u8 hop_limit;
	u64 src_inc;
	u64 dst_inc;
};

/**
 * struct hcomm_wire_beat - heartbeat and its reply
 * @src: sender's node
 * @dst: node that the sender takes this link to lead to
 * @inc: sender's incarnation
 * @my_tag: the sender's half of the tag
 * @your_tag: the receiver's half as the sender knows it, 0: not known
 * @stamp: sender's clock (BEAT) or the echoed one (REPLY), ns
 * @hold: REPLY: ns between arrival of the heartbeat and the reply
 * @interval: BEAT: ms between heartbeats
 */
struct hcomm_wire_beat {
	u32 src;
	u32 dst;
	u64 inc;
	u32 my_tag;
	u32 your_tag;
	u64 stamp;
	u32 hold;
	u32 interval;
};

struct hcomm_wire_range {
	u64 start;
	u64 end;
};

/**
 * struct hcomm_wire_ack - packets of this link that arrived
 * @delay: us between arrival of the largest and this acknowledgement
 * @nr: ranges, the highest first; the largest packet is r[0].end - 1
 * @r: half-open ranges of packet numbers
 */
struct hcomm_wire_ack {
	u32 delay;
	u16 nr;
	struct hcomm_wire_range r[HCOMM_WIRE_ACK_RANGES];
};

/**
 * struct hcomm_wire_probe - path MTU probe or ping; or word that a link is down
 * @id: chosen by the prober and echoed; LINK_DOWN: number of the link
 * @size: bytes of the whole packet that carried the probe; LINK_DOWN: 0
 */
struct hcomm_wire_probe {
	u32 id;
	u32 size;
};

/**
 * struct hcomm_wire_hello - start of a session
 * @nonce: random; a reply echoes it
 * @max_msg: longest message that the sender of the frame takes, bytes
 * @credit: bytes that a new lane may send before the first CREDIT
 * @features: 0, kept
 */
struct hcomm_wire_hello {
	u64 nonce;
	u32 max_msg;
	u32 credit;
	u32 features;
};

/**
 * struct hcomm_wire_data - a piece of a message
 * @lane: number of the sender's lane
 * @kind: enum hcomm_msg_kind
 * @open: the fields from @src_port on are there
 * @msg_len: length of the whole message
 * @offset: of the piece in the lane
 * @msg_off: of the piece in its message
 * @len: bytes of payload
 * @src_port: sender's port
 * @dst_port: receiver's port
 * @peer_lane: the receiver's lane that this one answers, 0: none
 * @type: SOCK_*
 * @class: enum hcomm_class
 */
struct hcomm_wire_data {
	u32 lane;
	u8 kind;
	bool open;
	u32 msg_len;
	u64 offset;
	u32 msg_off;
	u32 len;
	u32 src_port;
	u32 dst_port;
	u32 peer_lane;
	u8 type;
	u8 class;
};

struct hcomm_wire_lane_ack {
	u32 lane;
	bool closed;
	u8 nr;
	u64 cum;
	struct hcomm_wire_range r[HCOMM_WIRE_LANE_RANGES];
};

/**
 * struct hcomm_wire_credit - how far a lane may send
 * @lane: number of the lane
 * @offset: absolute limit of offsets, exclusive
 * @msgs: absolute limit of messages since the lane began
 */
struct hcomm_wire_credit {
	u32 lane;
	u64 offset;
	u64 msgs;
};

/**
 * struct hcomm_wire_reset - a lane is given up
 * @lane: number of the lane
 * @receiver: sent by the receiver of the lane
 * @code: errno as on Linux
 * @offset: receiver: everything below was delivered
 */
struct hcomm_wire_reset {
	u32 lane;
	bool receiver;
	u16 code;
	u64 offset;
};

/**
 * struct hcomm_frame - a decoded frame
 * @type: enum hcomm_frame_type
 * @payload: offset of the payload in the packet (DATA), or of what follows
 *	the session header (SESSION)
 * @payload_len: its length
 */
struct hcomm_frame {
	u8 type;
	u32 payload;
	u32 payload_len;
	union {
		struct hcomm_wire_beat beat;
		struct hcomm_wire_ack ack;
		struct hcomm_wire_probe probe;
		struct hcomm_wire_session session;
		struct hcomm_wire_hello hello;
		struct hcomm_wire_data data;
		struct hcomm_wire_lane_ack lane_ack;
		struct hcomm_wire_credit credit;
		struct hcomm_wire_reset reset;
	};
};

/**
 * struct hcomm_packet - a packet being decoded
 * @peek: copies @len bytes at @off to @buf, or returns a pointer to them;
 *	NULL if they are not there
 * @ctx: for @peek
 * @off: next byte
 * @end: first byte behind the packet
 * @in_session: session frames are expected
 * @stride: bytes from one packet of a run to the next
 * @run: packets in a row that go on where the one before left off: the same
 *	headers but for packet number and offsets; see hcomm_wire_run()
 */
struct hcomm_packet {
	const void *(*peek)(void *ctx, u32 off, u32 len, void *buf);
	void *ctx;
	u32 off;
	u32 end;
	bool in_session;
	u32 stride;
	u32 run;
};

int hcomm_wire_get_link(struct hcomm_packet *pkt, struct hcomm_wire_link *h);
int hcomm_wire_next(struct hcomm_packet *pkt, struct hcomm_frame *f);
u32 hcomm_wire_run(struct hcomm_packet *pkt, u32 max);
void hcomm_wire_step(u8 *p, u32 bytes);
void hcomm_wire_plain_len(u8 *p, u32 payload);
void hcomm_wire_put_pn(u8 *p, u64 pn);

u32 hcomm_wire_put_link(u8 *p, const struct hcomm_wire_link *h);
u32 hcomm_wire_put_beat(u8 *p, u8 type, const struct hcomm_wire_beat *b);
u32 hcomm_wire_put_ack(u8 *p, const struct hcomm_wire_ack *a);
u32 hcomm_wire_put_probe(u8 *p, u8 type, const struct hcomm_wire_probe *b);
u32 hcomm_wire_put_session(u8 *p, const struct hcomm_wire_session *s);
void hcomm_wire_session_done(u8 *p, u32 len);
u32 hcomm_wire_put_hello(u8 *p, u8 type, const struct hcomm_wire_hello *h);
u32 hcomm_wire_put_data(u8 *p, const struct hcomm_wire_data *d);
u32 hcomm_wire_put_lane_ack(u8 *p, const struct hcomm_wire_lane_ack *a);
u32 hcomm_wire_put_credit(u8 *p, const struct hcomm_wire_credit *c);
u32 hcomm_wire_put_reset(u8 *p, const struct hcomm_wire_reset *r);

/* What a message takes of its lane's offsets: an empty one takes one. */
static inline u32 hcomm_wire_span(u32 msg_len)
{
	return msg_len ? msg_len : 1;
}

static inline u32 hcomm_wire_ack_size(u32 nr)
{
	return HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_ACK_LEN +
	       nr * HCOMM_WIRE_RANGE_LEN;
}

static inline u32 hcomm_wire_lane_ack_size(u32 nr)
{
	return HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_LANE_ACK_LEN +
	       nr * HCOMM_WIRE_RANGE_LEN;
}

#endif /* HCOMM_WIRE_H */
