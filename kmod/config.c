// SPDX-License-Identifier: GPL-2.0
/* Changes of the configuration that touch more than one object. */
#include "config.h"

#include <linux/netlink.h>
#include <linux/random.h>

#include "link.h"
#include "peer.h"
#include "route.h"
#include "session.h"

/**
 * hcomm_config_add_link - make a link, and the route that comes with the first
 * @hn: namespace; cfg_lock is held
 * @cfg: what is wanted
 * @extack: what is wrong
 *
 * Return: the link or an error, with nothing left behind.
 */
struct hcomm_link *hcomm_config_add_link(struct hcomm_net *hn,
					 struct hcomm_link_config *cfg,
					 struct netlink_ext_ack *extack)
{
	struct hcomm_route *route = NULL;
	struct hcomm_link *link;

	lockdep_assert_held(&hn->cfg_lock);
	if (hcomm_peer_find(hn, cfg->peer) &&
	    !hcomm_route_find(hn, cfg->peer)) {
		route = hcomm_route_create(hn, cfg->peer, true, extack);
		if (IS_ERR(route))
			return ERR_CAST(route);
	}
	link = hcomm_link_create(hn, cfg, extack);
	if (IS_ERR(link) && route)
		hcomm_route_destroy(route);
	return link;
}

/* The last link to a peer takes the automatic route with it. */
void hcomm_config_del_link(struct hcomm_link *link)
{
	struct hcomm_peer *peer = link->peer;
	struct hcomm_net *hn = link->hn;
	struct hcomm_route *route;

	lockdep_assert_held(&hn->cfg_lock);
	/* The link has a reference of the peer; it may be the last but one. */
	refcount_inc(&peer->ref);
	hcomm_link_destroy(link);
	route = hcomm_route_find(hn, peer->node);
	if (route && route->automatic && list_empty(&peer->links))
		hcomm_route_destroy(route);
	hcomm_peer_put(peer);
}

void hcomm_config_del_peer(struct hcomm_peer *peer)
{
	struct hcomm_net *hn = peer->hn;
	struct hcomm_link *link, *next;
	struct hcomm_route *route;

	lockdep_assert_held(&hn->cfg_lock);
	list_for_each_entry_safe(link, next, &peer->links, peer_node)
		hcomm_config_del_link(link);
	route = hcomm_route_find(hn, peer->node);
	if (route)
		hcomm_route_destroy(route);
	hcomm_peer_destroy(peer);
}

void hcomm_config_flush(struct hcomm_net *hn)
{
	struct hcomm_peer *peer, *next;
	struct hcomm_link *link;

	lockdep_assert_held(&hn->cfg_lock);
	/* None goes on while the others are being waited for. */
	list_for_each_entry(peer, &hn->peer_list, list)
		list_for_each_entry(link, &peer->links, peer_node)
			hcomm_link_end(link);
	list_for_each_entry_safe(peer, next, &hn->peer_list, list)
		hcomm_config_del_peer(peer);
}

/* A node reaches itself over a link that needs no network. */
static int add_self(struct hcomm_net *hn, struct netlink_ext_ack *extack)
{
	struct hcomm_link_config cfg = {
		.peer = hn->conf.node, .id = 1, .name = "self",
		.transport = HCOMM_TRANSPORT_LOOP, .metric = 1,
		.admin_up = true,
		.local.sa.sa_family = AF_UNSPEC,
		.remote.sa.sa_family = AF_UNSPEC,
	};
	struct hcomm_peer *peer;
	struct hcomm_link *link;

	peer = hcomm_peer_create(hn, hn->conf.node, "self", extack);
	if (IS_ERR(peer))
		return PTR_ERR(peer);
	link = hcomm_config_add_link(hn, &cfg, extack);
	if (IS_ERR(link)) {
		hcomm_config_del_peer(peer);
		return PTR_ERR(link);
	}
	return 0;
}

/**
 * hcomm_config_set_node - say which node this is
 * @hn: namespace; cfg_lock is held
 * @node: number, not 0
 * @extack: what is wrong
 *
 * Return: 0; -EBUSY while peers are configured under another number.
 */
int hcomm_config_set_node(struct hcomm_net *hn, u32 node,
			  struct netlink_ext_ack *extack)
{
	struct hcomm_peer *peer;
	int err;

	lockdep_assert_held(&hn->cfg_lock);
	if (hn->conf.node == node)
		return 0;
	list_for_each_entry(peer, &hn->peer_list, list)
		if (peer->node != hn->conf.node) {
			NL_SET_ERR_MSG(extack,
				       "delete the peers before the node changes its number");
			return -EBUSY;
		}
	hcomm_config_flush(hn);
	hcomm_session_flush(hn);
	WRITE_ONCE(hn->conf.node, node);
	WRITE_ONCE(hn->incarnation, get_random_u64() | 1);
	err = add_self(hn, extack);
	if (err)
		WRITE_ONCE(hn->conf.node, 0);
	return err;
}
