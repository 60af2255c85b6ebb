/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_ROUTE_H
#define HCOMM_ROUTE_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>

#include "net.h"

struct hcomm_link;
struct netlink_ext_ack;

/**
 * struct hcomm_route - how to reach a node
 * @hash: in hcomm_net.routes
 * @rcu: to free it
 * @ref: references
 * @hn: namespace
 * @node: destination
 * @dead: deleted; nothing is reached this way any more
 * @automatic: made with the first link to a peer, goes with the last
 * @pinned_link: link id that the administrator chose, 0: none
 * @active: link in use, RCU; changed under route_lock; counted in
 *	hcomm_link.carries
 * @failovers: times that a better link had to be left
 * @failbacks: times that a better link was taken again
 * @changed: when @active changed, ns
 */
struct hcomm_route {
	struct rhash_head hash;
	struct rcu_head rcu;
	refcount_t ref;
	struct hcomm_net *hn;
	u32 node;
	bool dead;
	bool automatic;
	u32 pinned_link;
	struct hcomm_link __rcu *active;
	u32 failovers;
	u32 failbacks;
	u64 changed;
};

/**
 * struct hcomm_route_upper - what the session hands down
 * @changed: the way to a node changed; no lock held
 * @gone: the last route to a node was deleted; no lock held
 * @event: tell user space
 */
struct hcomm_route_upper {
	void (*changed)(struct hcomm_net *hn, u32 node);
	void (*gone)(struct hcomm_net *hn, u32 node);
	void (*event)(struct hcomm_route *route, const char *reason);
};

extern const struct hcomm_route_upper *hcomm_route_upper;

int hcomm_route_net_init(struct hcomm_net *hn);
void hcomm_route_net_exit(struct hcomm_net *hn);
struct hcomm_route *hcomm_route_create(struct hcomm_net *hn, u32 node,
				       bool automatic,
				       struct netlink_ext_ack *extack);
void hcomm_route_destroy(struct hcomm_route *route);
struct hcomm_route *hcomm_route_find(struct hcomm_net *hn, u32 node);
bool hcomm_route_dead(struct hcomm_route *route);
void hcomm_route_put(struct hcomm_route *route);
void hcomm_route_update(struct hcomm_route *route, const char *reason);
void hcomm_route_link_changed(struct hcomm_link *link);
const char *hcomm_route_why_not(struct hcomm_route *route,
				struct hcomm_link *link);

#endif /* HCOMM_ROUTE_H */
