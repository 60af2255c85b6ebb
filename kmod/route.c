// SPDX-License-Identifier: GPL-2.0
#include "route.h"

#include <linux/ktime.h>
#include <linux/netlink.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "link.h"
#include "peer.h"
#include "trace.h"

const struct hcomm_route_upper *hcomm_route_upper;

static const struct rhashtable_params params = {
	.head_offset = offsetof(struct hcomm_route, hash),
	.key_offset = offsetof(struct hcomm_route, node),
	.key_len = sizeof_field(struct hcomm_route, node),
	.automatic_shrinking = true,
};

int hcomm_route_net_init(struct hcomm_net *hn)
{
	return rhashtable_init(&hn->routes, &params);
}

void hcomm_route_net_exit(struct hcomm_net *hn)
{
	rhashtable_destroy(&hn->routes);
}

void hcomm_route_put(struct hcomm_route *route)
{
	if (refcount_dec_and_test(&route->ref))
		kfree_rcu(route, rcu);
}

bool hcomm_route_dead(struct hcomm_route *route)
{
	bool dead;

	spin_lock_bh(&route->hn->route_lock);
	dead = route->dead;
	spin_unlock_bh(&route->hn->route_lock);
	return dead;
}

/* Under rcu_read_lock() or cfg_lock; takes no reference. */
struct hcomm_route *hcomm_route_find(struct hcomm_net *hn, u32 node)
{
	return rhashtable_lookup_fast(&hn->routes, &node, params);
}

struct hcomm_route *hcomm_route_create(struct hcomm_net *hn, u32 node,
				       bool automatic,
				       struct netlink_ext_ack *extack)
{
	struct hcomm_route *route;
	int err;

	lockdep_assert_held(&hn->cfg_lock);
	if (hcomm_route_find(hn, node)) {
		NL_SET_ERR_MSG(extack, "the route is there already");
		return ERR_PTR(-EEXIST);
	}
	route = kzalloc(sizeof(*route), GFP_KERNEL_ACCOUNT);
	if (!route)
		return ERR_PTR(-ENOMEM);
	refcount_set(&route->ref, 1);
	route->hn = hn;
	route->node = node;
	route->automatic = automatic;
	route->changed = ktime_get_ns();
	err = rhashtable_insert_fast(&hn->routes, &route->hash, params);
	if (err) {
		kfree(route);
		return ERR_PTR(err);
	}
	hn->cfg_gen++;
	hcomm_route_update(route, "created");
	return route;
}

static void set_active(struct hcomm_route *route, struct hcomm_link *link)
{
	struct hcomm_link *old;

	lockdep_assert_held(&route->hn->route_lock);
	old = rcu_dereference_protected(route->active, 1);
	if (old)
		atomic_dec(&old->carries);
	if (link)
		atomic_inc(&link->carries);
	rcu_assign_pointer(route->active, link);
	route->changed = ktime_get_ns();
}

void hcomm_route_destroy(struct hcomm_route *route)
{
	struct hcomm_net *hn = route->hn;

	lockdep_assert_held(&hn->cfg_lock);
	hn->cfg_gen++;
	rhashtable_remove_fast(&hn->routes, &route->hash, params);
	spin_lock_bh(&hn->route_lock);
	route->dead = true;
	set_active(route, NULL);
	spin_unlock_bh(&hn->route_lock);
	hcomm_route_upper->gone(hn, route->node);
	hcomm_route_put(route);
}

enum rank { RANK_GOOD, RANK_HELD, RANK_LOSSY, RANK_NONE };

/* A link that was bad is the better of two evils only until its time is over. */
static enum rank rank(struct hcomm_link *link, u64 now)
{
	switch (READ_ONCE(link->state)) {
	case HCOMM_LINK_STATE_UP:
		return hcomm_holddown_left(&link->holddown, now) ? RANK_HELD :
								   RANK_GOOD;
	case HCOMM_LINK_STATE_DEGRADED:
		return RANK_LOSSY;
	default:
		return RANK_NONE;
	}
}

/* Whether to leave @cur for @link. Among the held, nobody moves. */
static bool better(struct hcomm_route *route, struct hcomm_link *link,
		   struct hcomm_link *cur, u64 now)
{
	enum rank a = rank(link, now), b = cur ? rank(cur, now) : RANK_NONE;

	if (a == RANK_NONE)
		return false;
	if (b == RANK_NONE)
		return true;
	if (route->pinned_link) {
		if (link->id == route->pinned_link && a != RANK_NONE)
			return true;
		if (cur->id == route->pinned_link)
			return false;
	}
	if (a != b)
		return a < b;
	return a == RANK_GOOD && link->metric < cur->metric;
}

static void account(struct hcomm_route *route, struct hcomm_link *from,
		    struct hcomm_link *to, u64 now)
{
	struct hcomm_net *hn = route->hn;

	if (!from || !to)
		return;
	if (rank(from, now) > rank(to, now)) {
		route->failovers++;
		from->failovers++;
		hcomm_count(hn, failovers);
	} else {
		route->failbacks++;
		to->failbacks++;
		hcomm_count(hn, failbacks);
	}
}

/**
 * hcomm_route_update - choose the link again
 * @route: route
 * @reason: for the event, if the choice changes
 *
 * A link that is lost is left at once; a better one is taken when its
 * hold-down is over.
 */
void hcomm_route_update(struct hcomm_route *route, const char *reason)
{
	struct hcomm_net *hn = route->hn;
	struct hcomm_link *link, *cur, *best;
	u64 now = ktime_get_ns();
	struct hcomm_peer *peer;
	bool moved = false;

	rcu_read_lock();
	peer = hcomm_peer_find(hn, route->node);
	spin_lock_bh(&hn->route_lock);
	if (route->dead) {
		spin_unlock_bh(&hn->route_lock);
		rcu_read_unlock();
		return;
	}
	cur = rcu_dereference_protected(route->active, 1);
	best = cur && !READ_ONCE(cur->dead) ? cur : NULL;
	if (peer)
		list_for_each_entry_rcu(link, &peer->links, peer_node)
			if (!READ_ONCE(link->dead) && link != best &&
			    better(route, link, best, now))
				best = link;
	if (best && rank(best, now) == RANK_NONE)
		best = NULL;
	/* What was left last is kept in mind until something carries again. */
	if (best != cur && best) {
		account(route, cur, best, now);
		set_active(route, best);
		moved = true;
	} else if (cur && READ_ONCE(cur->dead)) {
		set_active(route, NULL);
	}
	spin_unlock_bh(&hn->route_lock);
	trace_hcomm_route_update(route, cur, best);
	hcomm_route_upper->changed(hn, route->node);
	if (moved)
		hcomm_route_upper->event(route, reason);
	rcu_read_unlock();
}

/* State or hold-down of a link changed: look at the route to its peer. */
void hcomm_route_link_changed(struct hcomm_link *link)
{
	struct hcomm_route *route;

	rcu_read_lock();
	route = hcomm_route_find(link->hn, link->peer->node);
	if (route)
		hcomm_route_update(route, READ_ONCE(link->reason));
	rcu_read_unlock();
}

/* For people: why a candidate is not in use; "" if it is. */
const char *hcomm_route_why_not(struct hcomm_route *route,
				struct hcomm_link *link)
{
	struct hcomm_link *cur = rcu_dereference(route->active);
	u64 now = ktime_get_ns();

	if (cur == link && hcomm_link_usable(link))
		return "";
	switch (rank(link, now)) {
	case RANK_NONE:
		return READ_ONCE(link->reason);
	case RANK_HELD:
		return "held down after it was lost";
	case RANK_LOSSY:
		return "loss above the threshold";
	case RANK_GOOD:
		break;
	}
	if (cur && cur->id == route->pinned_link)
		return "another link is pinned";
	return cur && link->metric > cur->metric ? "higher metric" :
						   "as good as the active one";
}
