/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_TRANSPORT_H
#define HCOMM_TRANSPORT_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/types.h>

struct hcomm_batch;
struct hcomm_link;
struct hcomm_net;
struct netlink_ext_ack;

/* Either family; what sendmsg() and bind() take. */
union hcomm_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
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
 * @max_batch: bytes of the longest batch, 0: HCOMM_BATCH_BYTES
 * @max_packet: the longest packet that the device takes, headers below hcomm
 *	not counted
 * @room: optional: whether there is room for data; when there is again the
 *	transport calls hcomm_link_kick()
 */
struct hcomm_transport {
	const char *name;
	u8 type;
	bool reliable;
	u32 max_batch;
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
