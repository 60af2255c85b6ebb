/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_TRANSPORT_H
#define HCOMM_TRANSPORT_H

#include <linux/bvec.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/types.h>

struct hcomm_link;
struct hcomm_net;
struct hcomm_sent;
struct netlink_ext_ack;

enum hcomm_batch_const {
	HCOMM_BATCH_SEGS = 60,		/* UDP_MAX_SEGMENTS is 64 on 6.1 */
	HCOMM_BATCH_BYTES = 64000,
	HCOMM_BATCH_BV = 320,
	HCOMM_BATCH_ARENA = 24576,
};

/* Either family; what sendmsg() and bind() take. */
union hcomm_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/**
 * struct hcomm_batch_seg - one packet of a batch
 * @bv: its first bio_vec
 * @nr_bv: how many
 * @len: bytes
 */
struct hcomm_batch_seg {
	u16 bv;
	u16 nr_bv;
	u32 len;
};

/**
 * struct hcomm_batch - packets that one call hands to a transport
 * @class: enum hcomm_class of the most urgent content
 * @nr_seg: packets; all but the last have the length of the first
 * @nr_bv: pieces of all packets
 * @used: bytes of @arena in use
 * @bytes: bytes of all packets
 * @room: bytes left in the packet being built
 * @sent: what each packet carries, NULL if nobody waits for its fate
 * @seg_pn: their packet numbers
 * @seg: the packets
 * @bv: pieces: headers in @arena and pages of messages
 * @arena: headers
 *
 * One per CPU, used with bottom halves off.
 */
struct hcomm_batch {
	u8 class;
	u16 nr_seg;
	u16 nr_bv;
	u32 used;
	u32 bytes;
	u32 room;
	struct hcomm_sent *sent[HCOMM_BATCH_SEGS];
	u64 seg_pn[HCOMM_BATCH_SEGS];
	struct hcomm_batch_seg seg[HCOMM_BATCH_SEGS];
	struct bio_vec bv[HCOMM_BATCH_BV];
	u8 *arena;
};

/**
 * struct hcomm_transport - what carries the packets of a link
 * @name: as in netlink and in the tools
 * @type: enum hcomm_transport_type of the uapi
 * @reliable: it has its own retransmission and congestion control
 * @attach: makes or joins what the link sends and receives through; cfg_lock
 *	held, may sleep; says in extack what is wrong
 * @detach: undoes @attach; when it returns nothing is received for the link
 * @send: sends a batch; bottom halves off. -EAGAIN: queues are full, try again
 *	later; -EMSGSIZE: larger than the device takes; -EIO: cannot send a
 *	batch, only single packets; others: the link is unusable
 * @max_packet: the longest packet that the device takes, headers below hcomm
 *	not counted
 * @room: optional: whether there is room for data; when there is again the
 *	transport calls hcomm_link_kick()
 */
struct hcomm_transport {
	const char *name;
	u8 type;
	bool reliable;
	int (*attach)(struct hcomm_link *link, struct netlink_ext_ack *extack);
	void (*detach)(struct hcomm_link *link);
	int (*send)(struct hcomm_link *link, struct hcomm_batch *b);
	u32 (*max_packet)(struct hcomm_link *link);
	bool (*room)(struct hcomm_link *link);
};

int hcomm_transport_register(const struct hcomm_transport *t);
void hcomm_transport_unregister(const struct hcomm_transport *t);
const struct hcomm_transport *hcomm_transport_find(u8 type);

#endif /* HCOMM_TRANSPORT_H */
