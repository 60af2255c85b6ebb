/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_PEER_H
#define HCOMM_PEER_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>

#include "net.h"

#include <hcomm/netlink.h>

struct netlink_ext_ack;

/**
 * struct hcomm_peer - a node that this node has links to
 * @hash: in hcomm_net.peers
 * @rcu: to free it
 * @ref: references
 * @hn: namespace
 * @list: in hcomm_net.peer_list, RCU
 * @links: its links by id, RCU; changed under cfg_lock
 * @node: node, not 0
 * @serial: number for the log
 * @name: for people; empty: none
 */
struct hcomm_peer {
	struct rhash_head hash;
	struct rcu_head rcu;
	refcount_t ref;
	struct hcomm_net *hn;
	struct list_head list;
	struct list_head links;
	u32 node;
	u32 serial;
	char name[HCOMM_NAME_LEN];
};

int hcomm_peer_net_init(struct hcomm_net *hn);
void hcomm_peer_net_exit(struct hcomm_net *hn);
struct hcomm_peer *hcomm_peer_create(struct hcomm_net *hn, u32 node,
				     const char *name,
				     struct netlink_ext_ack *extack);
void hcomm_peer_destroy(struct hcomm_peer *peer);
struct hcomm_peer *hcomm_peer_find(struct hcomm_net *hn, u32 node);
struct hcomm_peer *hcomm_peer_find_name(struct hcomm_net *hn,
					const char *name);
void hcomm_peer_put(struct hcomm_peer *peer);

#endif /* HCOMM_PEER_H */
