// SPDX-License-Identifier: GPL-2.0
#include "peer.h"

#include <linux/netlink.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/string.h>

static const struct rhashtable_params params = {
	.head_offset = offsetof(struct hcomm_peer, hash),
	.key_offset = offsetof(struct hcomm_peer, node),
	.key_len = sizeof_field(struct hcomm_peer, node),
	.automatic_shrinking = true,
};

static atomic_t serials;

int hcomm_peer_net_init(struct hcomm_net *hn)
{
	INIT_LIST_HEAD(&hn->peer_list);
	return rhashtable_init(&hn->peers, &params);
}

void hcomm_peer_net_exit(struct hcomm_net *hn)
{
	WARN_ON(!list_empty(&hn->peer_list));
	rhashtable_destroy(&hn->peers);
}

static void peer_free(struct rcu_head *rcu)
{
	struct hcomm_peer *peer = container_of(rcu, struct hcomm_peer, rcu);

	pr_debug("peer %u destroyed\n", peer->serial);
	kfree(peer);
}

void hcomm_peer_put(struct hcomm_peer *peer)
{
	if (refcount_dec_and_test(&peer->ref))
		call_rcu(&peer->rcu, peer_free);
}

/* Under rcu_read_lock() or cfg_lock; takes no reference. */
struct hcomm_peer *hcomm_peer_find(struct hcomm_net *hn, u32 node)
{
	return rhashtable_lookup_fast(&hn->peers, &node, params);
}

struct hcomm_peer *hcomm_peer_find_name(struct hcomm_net *hn, const char *name)
{
	struct hcomm_peer *peer;

	lockdep_assert_held(&hn->cfg_lock);
	list_for_each_entry(peer, &hn->peer_list, list)
		if (peer->name[0] && !strcmp(peer->name, name))
			return peer;
	return NULL;
}

struct hcomm_peer *hcomm_peer_create(struct hcomm_net *hn, u32 node,
				     const char *name,
				     struct netlink_ext_ack *extack)
{
	struct hcomm_peer *peer;
	int err;

	lockdep_assert_held(&hn->cfg_lock);
	if (!hn->conf.node) {
		NL_SET_ERR_MSG(extack, "set the number of this node first");
		return ERR_PTR(-ENOTCONN);
	}
	if (hcomm_peer_find(hn, node)) {
		NL_SET_ERR_MSG(extack, "the peer is there already");
		return ERR_PTR(-EEXIST);
	}
	if (name && name[0] && hcomm_peer_find_name(hn, name)) {
		NL_SET_ERR_MSG(extack, "another peer has this name");
		return ERR_PTR(-EEXIST);
	}
	if (atomic_read(&hn->nr_peers) >= HCOMM_MAX_PEERS) {
		NL_SET_ERR_MSG(extack, "too many peers");
		return ERR_PTR(-ENOSPC);
	}
	peer = kzalloc(sizeof(*peer), GFP_KERNEL_ACCOUNT);
	if (!peer)
		return ERR_PTR(-ENOMEM);
	refcount_set(&peer->ref, 1);
	peer->hn = hn;
	peer->node = node;
	INIT_LIST_HEAD(&peer->links);
	peer->serial = atomic_inc_return(&serials);
	if (name)
		strscpy(peer->name, name, sizeof(peer->name));
	err = rhashtable_insert_fast(&hn->peers, &peer->hash, params);
	if (err) {
		kfree(peer);
		return ERR_PTR(err);
	}
	hn->cfg_gen++;
	list_add_tail_rcu(&peer->list, &hn->peer_list);
	atomic_inc(&hn->nr_peers);
	pr_debug("peer %u created: node %u\n", peer->serial, node);
	return peer;
}

/* Its links were destroyed before. */
void hcomm_peer_destroy(struct hcomm_peer *peer)
{
	struct hcomm_net *hn = peer->hn;

	lockdep_assert_held(&hn->cfg_lock);
	WARN_ON(!list_empty(&peer->links));
	hn->cfg_gen++;
	rhashtable_remove_fast(&hn->peers, &peer->hash, params);
	list_del_rcu(&peer->list);
	atomic_dec(&hn->nr_peers);
	hcomm_peer_put(peer);
}
