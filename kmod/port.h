/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_PORT_H
#define HCOMM_PORT_H

#include <linux/refcount.h>
#include <linux/rhashtable-types.h>

#include "net.h"

struct hcomm_rxlane;
struct hcomm_port;

/**
 * struct hcomm_port_ops - an endpoint behind a port
 * @open: a lane to this port begins. Takes it (0), refuses it (-ECONNREFUSED)
 *	or has no room now (-EAGAIN: the sender tries again). The session's
 *	lock is held.
 */
struct hcomm_port_ops {
	int (*open)(struct hcomm_port *port, struct hcomm_rxlane *lane);
};

/**
 * struct hcomm_port - a port in use
 * @hash: in hcomm_net.ports
 * @nr: number
 * @ops: who has it
 * @owner: for @ops
 */
struct hcomm_port {
	struct rhash_head hash;
	u32 nr;
	const struct hcomm_port_ops *ops;
	void *owner;
};

int hcomm_port_net_init(struct hcomm_net *hn);
void hcomm_port_net_exit(struct hcomm_net *hn);
int hcomm_port_take(struct hcomm_net *hn, struct hcomm_port *port, u32 nr);
void hcomm_port_release(struct hcomm_net *hn, struct hcomm_port *port);
struct hcomm_port *hcomm_port_find(struct hcomm_net *hn, u32 nr);

#endif /* HCOMM_PORT_H */
