// SPDX-License-Identifier: GPL-2.0
#include "link.h"

#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "peer.h"
#include "wire.h"

const struct hcomm_link_upper *hcomm_link_upper;

static const struct rhashtable_params params = {
	.head_offset = offsetof(struct hcomm_link, node),
	.key_offset = offsetof(struct hcomm_link, key),
	.key_len = sizeof_field(struct hcomm_link, key),
	.automatic_shrinking = true,
};

static atomic_t serials;

void hcomm_link_make_key(struct hcomm_link_key *key,
			 const union hcomm_addr *a, u32 id)
{
	memset(key, 0, sizeof(*key));
	key->id = id;
	if (a->sa.sa_family == AF_INET6) {
		key->addr = a->in6.sin6_addr;
		key->port = a->in6.sin6_port;
	} else {
		ipv6_addr_set_v4mapped(a->in.sin_addr.s_addr, &key->addr);
		key->port = a->in.sin_port;
	}
}

/* Under rcu_read_lock(); takes no reference. */
struct hcomm_link *hcomm_link_lookup(struct hcomm_net *hn,
				     const struct hcomm_link_key *key)
{
	return rhashtable_lookup(&hn->links, key, params);
}

int hcomm_link_net_init(struct hcomm_net *hn)
{
	return rhashtable_init(&hn->links, &params);
}

void hcomm_link_net_exit(struct hcomm_net *hn)
{
	rhashtable_destroy(&hn->links);
}

bool hcomm_link_get(struct hcomm_link *link)
{
	return refcount_inc_not_zero(&link->ref);
}

static void link_free(struct rcu_head *rcu)
{
	struct hcomm_link *link = container_of(rcu, struct hcomm_link, rcu);

	pr_debug("link %u destroyed\n", link->serial);
	hcomm_flight_destroy(&link->flight);
	hcomm_peer_put(link->peer);
	kfree(link);
}

void hcomm_link_put(struct hcomm_link *link)
{
	if (refcount_dec_and_test(&link->ref))
		call_rcu(&link->rcu, link_free);
}

static u64 earlier(u64 a, u64 b)
{
	if (!a || !b)
		return a | b;
	return min(a, b);
}

static void check_loss(struct hcomm_link *link, u64 now)
{
	enum hcomm_link_event ev = __HCOMM_LINK_EV_MAX;
	int window;

	spin_lock_bh(&link->lock);
	if (link->state == HCOMM_LINK_STATE_UP) {
		if (hcomm_loss_verdict(&link->loss, now, &window) ==
		    HCOMM_LOSS_BAD)
			ev = HCOMM_LINK_EV_LOSSY;
	} else if (link->state == HCOMM_LINK_STATE_DEGRADED) {
		if (!hcomm_holddown_left(&link->holddown, now) &&
		    hcomm_loss_clean(&link->loss, now))
			ev = HCOMM_LINK_EV_CLEAN;
	}
	spin_unlock_bh(&link->lock);
	if (ev != __HCOMM_LINK_EV_MAX)
		hcomm_link_event(link, ev);
}

static void probe_mtu(struct hcomm_link *link, u32 size, u32 id)
{
	struct hcomm_wire_probe p = { .id = id, .size = size };

	hcomm_link_send_control(link, HCOMM_FRAME_PROBE, &p, size);
}

/* The end of duplicate address detection, for one, is told to nobody. */
static void look_again(struct hcomm_link *link)
{
	if (!READ_ONCE(link->dev_ok) && READ_ONCE(link->admin_up))
		hcomm_link_check_device(link);
}

/* All deadlines of a link in one place; each is looked at when it may be due. */
void hcomm_link_timer(struct hcomm_timer *t)
{
	struct hcomm_link *link = container_of(t, struct hcomm_link, timer);
	u64 now = ktime_get_ns(), next = 0, at;
	bool kick = false, changed = false;
	u32 size = 0, id = 0;
	LIST_HEAD(lost);

	if (READ_ONCE(link->dead))
		return;
	spin_lock(&link->lock);
	if (hcomm_link_usable(link)) {
		next = earlier(next, hcomm_flight_timer(link, now, &lost));
		next = earlier(next, hcomm_pmtu_timer(link, now, &size, &id));
		kick = !list_empty(&lost) || link->flight.probes;
	}
	kick |= test_bit(0, &link->tx_again);
	if (link->ack_at && link->ack_at <= now) {
		link->ack_now = true;
		link->ack_at = 0;
		kick = true;
	}
	if (link->pace_at && link->pace_at <= now) {
		link->pace_at = 0;
		kick = true;
	}
	if (link->hold_at && link->hold_at <= now) {
		link->hold_at = 0;
		changed = true;
	}
	next = earlier(next, link->ack_at);
	next = earlier(next, link->pace_at);
	next = earlier(next, link->hold_at);
	spin_unlock(&link->lock);

	hcomm_flight_finish(NULL, &lost);
	if (size)
		probe_mtu(link, size, id);
	at = hcomm_beat_timer(link, now);
	next = earlier(next, at);
	check_loss(link, now);
	look_again(link);
	if (changed)
		hcomm_link_upper->changed(link);
	if (kick)
		hcomm_link_kick(link);
	if (next)
		hcomm_timer_by(&link->hn->wheel, &link->timer,
			       max(next, now + NSEC_PER_MSEC / 2));
}

static u32 free_id(struct hcomm_peer *peer)
{
	struct hcomm_link *link;
	u32 id = 1;

	/* The list is in order of ids. */
	list_for_each_entry(link, &peer->links, peer_node) {
		if (link->id > id)
			break;
		id = link->id + 1;
	}
	return id;
}

static int check_config(struct hcomm_net *hn, struct hcomm_peer *peer,
			struct hcomm_link_config *cfg,
			struct netlink_ext_ack *extack)
{
	struct hcomm_link *link;
	struct hcomm_peer *p;

	if (!cfg->id)
		cfg->id = free_id(peer);
	if (cfg->id > U16_MAX) {
		NL_SET_ERR_MSG(extack, "link id is above 65535");
		return -ERANGE;
	}
	if (!cfg->name[0])
		snprintf(cfg->name, sizeof(cfg->name), "%u.%u", peer->node,
			 cfg->id);
	list_for_each_entry(p, &hn->peer_list, list)
		list_for_each_entry(link, &p->links, peer_node) {
			if (p == peer && link->id == cfg->id) {
				NL_SET_ERR_MSG(extack,
					       "the peer has a link with this id already");
				return -EEXIST;
			}
			if (!strcmp(link->name, cfg->name)) {
				NL_SET_ERR_MSG(extack,
					       "another link has this name");
				return -EEXIST;
			}
		}
	if (atomic_read(&hn->nr_links) >= READ_ONCE(hn->conf.max_links)) {
		NL_SET_ERR_MSG(extack, "too many links (system max-links)");
		return -ENOSPC;
	}
	return 0;
}

static struct hcomm_link *alloc_link(struct hcomm_net *hn,
				     struct hcomm_peer *peer,
				     const struct hcomm_link_config *cfg)
{
	u64 now = ktime_get_ns();
	struct hcomm_link *link;
	int i;

	link = kzalloc(sizeof(*link), GFP_KERNEL_ACCOUNT);
	if (!link)
		return NULL;
	if (hcomm_flight_create(&link->flight)) {
		kfree(link);
		return NULL;
	}
	refcount_set(&link->ref, 1);
	refcount_inc(&peer->ref);
	link->hn = hn;
	link->peer = peer;
	link->id = cfg->id;
	strscpy(link->name, cfg->name, sizeof(link->name));
	link->local = cfg->local;
	link->remote = cfg->remote;
	link->ifindex = cfg->ifindex;
	link->metric = cfg->metric;
	link->loss_ppm = cfg->loss_ppm;
	link->gso_mode = cfg->gso_mode;
	link->gso_on = cfg->gso_mode != HCOMM_GSO_OFF;
	link->gso_reason = link->gso_on ? "" : "set off by the administrator";
	hcomm_link_make_key(&link->key, &cfg->remote, cfg->id);
	spin_lock_init(&link->lock);
	spin_lock_init(&link->tx_lock);
	spin_lock_init(&link->ready_lock);
	INIT_LIST_HEAD(&link->pings);
	for (i = 0; i < __HCOMM_CLASS_MAX; i++)
		INIT_LIST_HEAD(&link->ready[i]);
	hcomm_timer_init(&link->timer, hcomm_link_timer);
	link->state = HCOMM_LINK_STATE_DOWN;
	link->reason = "created";
	link->since = now;
	do {
		link->my_tag = get_random_u32();
	} while (!link->my_tag);
	link->mtu = HCOMM_PMTU_BASE;
	hcomm_rtt_init(&link->rtt);
	hcomm_cc_init(&link->cc, link->mtu, 10);
	hcomm_ranges_init(&link->rx_pns);
	hcomm_loss_init(&link->loss, hcomm_link_loss_ppm(link), now);
	hcomm_holddown_init(&link->holddown,
			    (u64)hn->conf.holddown_ms * NSEC_PER_MSEC);
	link->serial = atomic_inc_return(&serials);
	pr_debug("link %u created: %s\n", link->serial, link->name);
	return link;
}

static void add_to_peer(struct hcomm_link *link)
{
	struct list_head *at = &link->peer->links;
	struct hcomm_link *other;

	list_for_each_entry(other, &link->peer->links, peer_node)
		if (other->id < link->id)
			at = &other->peer_node;
	link->hn->cfg_gen++;
	list_add_rcu(&link->peer_node, at);
}

/**
 * hcomm_link_create - make a link to a peer
 * @hn: namespace; cfg_lock is held
 * @cfg: what is wanted; id and name are filled in if not given
 * @extack: what is wrong
 *
 * Return: the link, known to its peer and being probed, or an error.
 */
struct hcomm_link *hcomm_link_create(struct hcomm_net *hn,
				     struct hcomm_link_config *cfg,
				     struct netlink_ext_ack *extack)
{
	const struct hcomm_transport *transport;
	struct hcomm_peer *peer;
	struct hcomm_link *link;
	int err;

	lockdep_assert_held(&hn->cfg_lock);
	peer = hcomm_peer_find(hn, cfg->peer);
	if (!peer) {
		NL_SET_ERR_MSG(extack, "no such peer");
		return ERR_PTR(-ENOENT);
	}
	transport = hcomm_transport_find(cfg->transport);
	if (!transport) {
		NL_SET_ERR_MSG(extack, "this transport is not available");
		return ERR_PTR(-EPROTONOSUPPORT);
	}
	err = check_config(hn, peer, cfg, extack);
	if (err)
		return ERR_PTR(err);
	link = alloc_link(hn, peer, cfg);
	if (!link)
		return ERR_PTR(-ENOMEM);
	link->transport = transport;
	err = transport->attach(link, extack);
	if (err)
		goto err_put;
	err = rhashtable_lookup_insert_fast(&hn->links, &link->node, params);
	if (err) {
		if (err == -EEXIST)
			NL_SET_ERR_MSG(extack,
				       "another link has this remote address, port and id");
		goto err_detach;
	}
	add_to_peer(link);
	atomic_inc(&hn->nr_links);
	hcomm_link_admin(link, cfg->admin_up);
	return link;

err_detach:
	transport->detach(link);
err_put:
	hcomm_link_put(link);
	return ERR_PTR(err);
}

/* Nothing is sent on the link any more. */
void hcomm_link_end(struct hcomm_link *link)
{
	WRITE_ONCE(link->dead, true);
	hcomm_link_event(link, HCOMM_LINK_EV_ADMIN_DOWN);
}

/* Takes the link out of everything; cfg_lock is held. */
void hcomm_link_destroy(struct hcomm_link *link)
{
	struct hcomm_net *hn = link->hn;
	LIST_HEAD(lost);

	lockdep_assert_held(&hn->cfg_lock);
	hcomm_link_end(link);
	/* A link that was down already may still be a route's last choice. */
	hcomm_link_upper->changed(link);
	hn->cfg_gen++;
	rhashtable_remove_fast(&hn->links, &link->node, params);
	list_del_rcu(&link->peer_node);
	atomic_dec(&hn->nr_links);
	link->transport->detach(link);
	/* Whoever found it before is done after this. */
	hcomm_link_wait(link);
	hcomm_timer_cancel(&hn->wheel, &link->timer);
	hcomm_link_ready_flush(link);
	spin_lock_bh(&link->lock);
	hcomm_flight_abandon(link, &lost);
	spin_unlock_bh(&link->lock);
	hcomm_flight_finish(NULL, &lost);
	hcomm_link_put(link);
}

/* Runs over the links of a namespace that use a device. */
static void check_links(struct net *net, int ifindex)
{
	struct hcomm_net *hn = hcomm_net(net);
	struct hcomm_peer *peer;
	struct hcomm_link *link;

	rcu_read_lock();
	list_for_each_entry_rcu(peer, &hn->peer_list, list)
		list_for_each_entry_rcu(link, &peer->links, peer_node)
			if (link->ifindex == ifindex)
				hcomm_link_check_device(link);
	rcu_read_unlock();
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_GOING_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_UNREGISTER:
		check_links(dev_net(dev), dev->ifindex);
		break;
	}
	return NOTIFY_DONE;
}

static int inetaddr_event(struct notifier_block *nb, unsigned long event,
			  void *ptr)
{
	const struct in_ifaddr *ifa = ptr;

	check_links(dev_net(ifa->ifa_dev->dev), ifa->ifa_dev->dev->ifindex);
	return NOTIFY_DONE;
}

static int inet6addr_event(struct notifier_block *nb, unsigned long event,
			   void *ptr)
{
	const struct inet6_ifaddr *ifa = ptr;

	check_links(dev_net(ifa->idev->dev), ifa->idev->dev->ifindex);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = netdev_event };
static struct notifier_block inetaddr_nb = { .notifier_call = inetaddr_event };
static struct notifier_block inet6addr_nb = {
	.notifier_call = inet6addr_event,
};

int hcomm_link_init(void)
{
	int err;

	err = register_netdevice_notifier(&netdev_nb);
	if (err)
		return err;
	err = register_inetaddr_notifier(&inetaddr_nb);
	if (err)
		goto err_netdev;
	err = register_inet6addr_notifier(&inet6addr_nb);
	if (err)
		goto err_inetaddr;
	return 0;

err_inetaddr:
	unregister_inetaddr_notifier(&inetaddr_nb);
err_netdev:
	unregister_netdevice_notifier(&netdev_nb);
	return err;
}

void hcomm_link_exit(void)
{
	unregister_inet6addr_notifier(&inet6addr_nb);
	unregister_inetaddr_notifier(&inetaddr_nb);
	unregister_netdevice_notifier(&netdev_nb);
}
