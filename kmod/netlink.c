// SPDX-License-Identifier: GPL-2.0
/* Generic netlink: what user space asks for, and what it is told. */
#include "netlink.h"

#include <linux/module.h>
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "compat.h"
#include "config.h"
#include "link.h"
#include "netlink_gen.h"
#include "nl_put.h"
#include "peer.h"
#include "ping.h"
#include "route.h"
#include "sock.h"

static struct genl_family family;

static struct hcomm_net *net_of(struct genl_info *info)
{
	return hcomm_net(genl_info_net(info));
}

static int refuse(struct genl_info *info, int attr, const char *why, int err)
{
	if (attr && info->attrs[attr])
		NL_SET_BAD_ATTR(info->extack, info->attrs[attr]);
	/* The texts are constants; extack keeps the pointer. */
	if (info->extack)
		info->extack->_msg = why;
	return err;
}

/* A name that is given is not empty. */
static int get_name(struct genl_info *info, int attr, char *name)
{
	name[0] = 0;
	if (!info->attrs[attr])
		return 0;
	nla_strscpy(name, info->attrs[attr], HCOMM_NAME_LEN);
	return name[0] ? 0 : refuse(info, attr, "the name is empty", -EINVAL);
}

/* The objects say what is wrong, not with which attribute. */
static void mark(struct genl_info *info, int attr)
{
	if (info->attrs[attr])
		NL_SET_BAD_ATTR(info->extack, info->attrs[attr]);
}

static u32 get_u32(struct genl_info *info, int attr, u32 def)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : def;
}

/* A change of the configuration: one at a time, none when the end is near. */
static int begin(struct hcomm_net *hn)
{
	mutex_lock(&hn->cfg_lock);
	if (!hn->dying)
		return 0;
	mutex_unlock(&hn->cfg_lock);
	return -ENETDOWN;
}

static struct sk_buff *reply_new(struct genl_info *info, u8 cmd, void **head)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);

	if (!skb)
		return NULL;
	*head = genlmsg_put_reply(skb, info, &family, 0, cmd);
	if (!*head) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

static int reply_send(struct sk_buff *skb, void *head, int err,
		      struct genl_info *info)
{
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);
}

static void *dump_head(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				 cb->nlh->nlmsg_seq, &family, NLM_F_MULTI, cmd);

	/* Sockets come and go all the time; the rest is configuration. */
	if (head && cmd != HCOMM_CMD_SOCKET_GET) {
		cb->seq = hcomm_net(sock_net(skb->sk))->cfg_gen;
		genl_dump_check_consistent(cb, head);
	}
	return head;
}

/* What does not fit even alone must not look like the end. */
static int dump_end(struct sk_buff *skb, bool all)
{
	return skb->len || all ? skb->len : -EMSGSIZE;
}

/* Ends one object of a dump; false: it did not fit and comes next time. */
static bool dump_tail(struct sk_buff *skb, void *head, int err)
{
	if (err) {
		genlmsg_cancel(skb, head);
		return false;
	}
	genlmsg_end(skb, head);
	return true;
}

/* system */

int hcomm_nl_system_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct sk_buff *msg;
	void *head;

	msg = reply_new(info, HCOMM_CMD_SYSTEM_GET, &head);
	if (!msg)
		return -ENOMEM;
	return reply_send(msg, head, hcomm_nl_put_system(msg, hn), info);
}

static void set(struct genl_info *info, int attr, u32 *field)
{
	if (info->attrs[attr])
		WRITE_ONCE(*field, nla_get_u32(info->attrs[attr]));
}

static void holddown_changed(struct hcomm_net *hn)
{
	u64 base = (u64)hn->conf.holddown_ms * NSEC_PER_MSEC;
	struct hcomm_peer *peer;
	struct hcomm_link *link;

	list_for_each_entry(peer, &hn->peer_list, list)
		list_for_each_entry(link, &peer->links, peer_node) {
			spin_lock_bh(&link->lock);
			link->holddown.base = base;
			link->holddown.period = base;
			hcomm_loss_set_threshold(&link->loss,
						 hcomm_link_loss_ppm(link));
			spin_unlock_bh(&link->lock);
		}
}

int hcomm_nl_system_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_conf *c = &hn->conf;
	int err;

	err = begin(hn);
	if (err)
		return err;
	if (info->attrs[HCOMM_A_SYSTEM_NODE]) {
		u32 node = nla_get_u32(info->attrs[HCOMM_A_SYSTEM_NODE]);

		if (node)
			err = hcomm_config_set_node(hn, node, info->extack);
		else
			err = refuse(info, HCOMM_A_SYSTEM_NODE,
				     "node 0 means none", -EINVAL);
		if (err) {
			mark(info, HCOMM_A_SYSTEM_NODE);
			goto out;
		}
	}
	set(info, HCOMM_A_SYSTEM_HEARTBEAT_INTV, &c->heartbeat_ms);
	set(info, HCOMM_A_SYSTEM_RETRY_TIMEOUT, &c->retry_ms);
	set(info, HCOMM_A_SYSTEM_SESSION_TIMEOUT, &c->session_timeout_ms);
	set(info, HCOMM_A_SYSTEM_SNDBUF, &c->sndbuf);
	set(info, HCOMM_A_SYSTEM_RCVBUF, &c->rcvbuf);
	set(info, HCOMM_A_SYSTEM_TX_QUEUE_SIZE, &c->tx_queue);
	set(info, HCOMM_A_SYSTEM_LOSS_THRESHOLD, &c->loss_ppm);
	set(info, HCOMM_A_SYSTEM_HOLDDOWN, &c->holddown_ms);
	set(info, HCOMM_A_SYSTEM_MAX_LINKS, &c->max_links);
	set(info, HCOMM_A_SYSTEM_MAX_SESSIONS, &c->max_sessions);
	set(info, HCOMM_A_SYSTEM_MAX_LANES, &c->max_lanes);
	set(info, HCOMM_A_SYSTEM_PORT, &c->port);
	if (info->attrs[HCOMM_A_SYSTEM_HOLDDOWN] ||
	    info->attrs[HCOMM_A_SYSTEM_LOSS_THRESHOLD])
		holddown_changed(hn);
out:
	mutex_unlock(&hn->cfg_lock);
	return err;
}

/* peer */

static struct hcomm_peer *want_peer(struct genl_info *info, int attr)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_peer *peer;

	lockdep_assert_held(&hn->cfg_lock);
	if (GENL_REQ_ATTR_CHECK(info, attr))
		return ERR_PTR(-EINVAL);
	peer = hcomm_peer_find(hn, nla_get_u32(info->attrs[attr]));
	if (peer)
		return peer;
	return ERR_PTR(refuse(info, attr, "no such peer", -ENOENT));
}

int hcomm_nl_peer_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	char name[HCOMM_NAME_LEN] = "";
	struct hcomm_peer *peer;
	u32 node;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, HCOMM_A_PEER_NODE))
		return -EINVAL;
	node = nla_get_u32(info->attrs[HCOMM_A_PEER_NODE]);
	if (!node)
		return refuse(info, HCOMM_A_PEER_NODE, "node 0 means none",
			      -EINVAL);
	err = get_name(info, HCOMM_A_PEER_NAME, name);
	if (!err)
		err = begin(hn);
	if (err)
		return err;
	if (node == hn->conf.node) {
		err = refuse(info, HCOMM_A_PEER_NODE,
			     "this node is not a peer of its own", -EINVAL);
	} else {
		peer = hcomm_peer_create(hn, node, name, info->extack);
		err = PTR_ERR_OR_ZERO(peer);
		if (err == -EEXIST && !hcomm_peer_find(hn, node))
			mark(info, HCOMM_A_PEER_NAME);
		else if (err)
			mark(info, HCOMM_A_PEER_NODE);
	}
	mutex_unlock(&hn->cfg_lock);
	return err;
}

static bool is_self(struct hcomm_net *hn, const struct hcomm_peer *peer)
{
	return peer->node == hn->conf.node;
}

int hcomm_nl_peer_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_peer *peer;
	int err;

	err = begin(hn);
	if (err)
		return err;
	peer = want_peer(info, HCOMM_A_PEER_NODE);
	if (IS_ERR(peer))
		err = PTR_ERR(peer);
	else if (is_self(hn, peer))
		err = refuse(info, HCOMM_A_PEER_NODE,
			     "a node always reaches itself", -EBUSY);
	else
		hcomm_config_del_peer(peer);
	mutex_unlock(&hn->cfg_lock);
	return err;
}

int hcomm_nl_peer_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_peer *peer, *other;
	char name[HCOMM_NAME_LEN] = "";
	int err;

	if (GENL_REQ_ATTR_CHECK(info, HCOMM_A_PEER_NAME))
		return -EINVAL;
	err = get_name(info, HCOMM_A_PEER_NAME, name);
	if (!err)
		err = begin(hn);
	if (err)
		return err;
	peer = want_peer(info, HCOMM_A_PEER_NODE);
	if (IS_ERR(peer)) {
		err = PTR_ERR(peer);
		goto out;
	}
	other = name[0] ? hcomm_peer_find_name(hn, name) : NULL;
	if (other && other != peer)
		err = refuse(info, HCOMM_A_PEER_NAME,
			     "another peer has this name", -EEXIST);
	else
		memcpy(peer->name, name, sizeof(name));
out:
	mutex_unlock(&hn->cfg_lock);
	return err;
}

int hcomm_nl_peer_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_peer *peer;
	struct sk_buff *msg;
	void *head;
	int err;

	msg = reply_new(info, HCOMM_CMD_PEER_GET, &head);
	if (!msg)
		return -ENOMEM;
	mutex_lock(&hn->cfg_lock);
	peer = want_peer(info, HCOMM_A_PEER_NODE);
	err = IS_ERR(peer) ? PTR_ERR(peer) : hcomm_nl_put_peer(msg, peer);
	mutex_unlock(&hn->cfg_lock);
	return reply_send(msg, head, err, info);
}

int hcomm_nl_peer_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct hcomm_net *hn = hcomm_net(sock_net(skb->sk));
	struct hcomm_peer *peer;
	long n = 0;
	bool all = false;
	void *head;

	mutex_lock(&hn->cfg_lock);
	list_for_each_entry(peer, &hn->peer_list, list) {
		if (n++ < cb->args[0])
			continue;
		head = dump_head(skb, cb, HCOMM_CMD_PEER_GET);
		if (!head || !dump_tail(skb, head,
					hcomm_nl_put_peer(skb, peer)))
			goto out;
		cb->args[0] = n;
	}
	all = true;
out:
	mutex_unlock(&hn->cfg_lock);
	return dump_end(skb, all);
}

/* link */

/* Named by name, or by peer and id. */
static struct hcomm_link *want_link(struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct nlattr *name = info->attrs[HCOMM_A_LINK_NAME];
	u32 id = get_u32(info, HCOMM_A_LINK_ID, 0);
	struct hcomm_peer *peer;
	struct hcomm_link *link;

	lockdep_assert_held(&hn->cfg_lock);
	if (info->attrs[HCOMM_A_LINK_PEER]) {
		peer = want_peer(info, HCOMM_A_LINK_PEER);
		if (IS_ERR(peer))
			return ERR_CAST(peer);
		list_for_each_entry(link, &peer->links, peer_node)
			if (link->id == id)
				return link;
		return ERR_PTR(refuse(info, HCOMM_A_LINK_ID,
				      "the peer has no link with this id",
				      -ENOENT));
	}
	if (!name)
		return ERR_PTR(refuse(info, 0,
				      "say which link: name, or peer and id",
				      -EINVAL));
	list_for_each_entry(peer, &hn->peer_list, list)
		list_for_each_entry(link, &peer->links, peer_node)
			if (!nla_strcmp(name, link->name))
				return link;
	return ERR_PTR(refuse(info, HCOMM_A_LINK_NAME, "no such link",
			      -ENOENT));
}

static int get_addr(struct genl_info *info, int attr, int port_attr,
		    u16 def_port, int ifindex, union hcomm_addr *a)
{
	struct nlattr *nla = info->attrs[attr];
	__be16 port = htons(info->attrs[port_attr] ?
			    nla_get_u16(info->attrs[port_attr]) : def_port);

	switch (nla_len(nla)) {
	case sizeof(struct in_addr):
		a->in.sin_family = AF_INET;
		a->in.sin_addr.s_addr = nla_get_in_addr(nla);
		a->in.sin_port = port;
		if (ipv4_is_zeronet(a->in.sin_addr.s_addr) ||
		    ipv4_is_multicast(a->in.sin_addr.s_addr) ||
		    ipv4_is_lbcast(a->in.sin_addr.s_addr))
			return refuse(info, attr, "not the address of a host",
				      -EINVAL);
		return 0;
	case sizeof(struct in6_addr):
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_addr = nla_get_in6_addr(nla);
		a->in6.sin6_port = port;
		if (ipv6_addr_any(&a->in6.sin6_addr) ||
		    ipv6_addr_is_multicast(&a->in6.sin6_addr) ||
		    ipv6_addr_v4mapped(&a->in6.sin6_addr))
			return refuse(info, attr, "not the address of a host",
				      -EINVAL);
		if (ipv6_addr_type(&a->in6.sin6_addr) & IPV6_ADDR_LINKLOCAL)
			a->in6.sin6_scope_id = ifindex;
		return 0;
	}
	return refuse(info, attr, "neither an IPv4 nor an IPv6 address",
		      -EINVAL);
}

static bool same_addr(const union hcomm_addr *a, const union hcomm_addr *b)
{
	struct hcomm_link_key x, y;

	hcomm_link_make_key(&x, a, 0);
	hcomm_link_make_key(&y, b, 0);
	return !memcmp(&x, &y, sizeof(x));
}

static int get_config(struct genl_info *info, struct hcomm_link_config *cfg)
{
	struct hcomm_net *hn = net_of(info);
	int err;

	cfg->peer = nla_get_u32(info->attrs[HCOMM_A_LINK_PEER]);
	cfg->id = get_u32(info, HCOMM_A_LINK_ID, 0);
	cfg->transport = get_u32(info, HCOMM_A_LINK_TRANSPORT,
				 HCOMM_TRANSPORT_UDP);
	cfg->metric = get_u32(info, HCOMM_A_LINK_METRIC, 100);
	cfg->loss_ppm = get_u32(info, HCOMM_A_LINK_LOSS_THRESHOLD, 0);
	cfg->gso_mode = get_u32(info, HCOMM_A_LINK_GSO, HCOMM_GSO_AUTO);
	cfg->admin_up = get_u32(info, HCOMM_A_LINK_ADMIN, 1);
	err = get_name(info, HCOMM_A_LINK_NAME, cfg->name);
	if (err)
		return err;
	if (cfg->transport == HCOMM_TRANSPORT_LOOP)
		return refuse(info, HCOMM_A_LINK_TRANSPORT,
			      "loop links are made with the node", -EINVAL);
	if (GENL_REQ_ATTR_CHECK(info, HCOMM_A_LINK_LOCAL_ADDR) ||
	    GENL_REQ_ATTR_CHECK(info, HCOMM_A_LINK_REMOTE_ADDR) ||
	    GENL_REQ_ATTR_CHECK(info, HCOMM_A_LINK_IFINDEX))
		return -EINVAL;
	cfg->ifindex = nla_get_u32(info->attrs[HCOMM_A_LINK_IFINDEX]);
	err = get_addr(info, HCOMM_A_LINK_LOCAL_ADDR, HCOMM_A_LINK_LOCAL_PORT,
		       hn->conf.port, cfg->ifindex, &cfg->local);
	if (err)
		return err;
	err = get_addr(info, HCOMM_A_LINK_REMOTE_ADDR, HCOMM_A_LINK_REMOTE_PORT,
		       hn->conf.port, cfg->ifindex, &cfg->remote);
	if (err)
		return err;
	if (cfg->local.sa.sa_family != cfg->remote.sa.sa_family)
		return refuse(info, HCOMM_A_LINK_REMOTE_ADDR,
			      "local and remote address are of two families",
			      -EAFNOSUPPORT);
	if (same_addr(&cfg->local, &cfg->remote))
		return refuse(info, HCOMM_A_LINK_REMOTE_ADDR,
			      "a link to itself", -EINVAL);
	return 0;
}

static bool id_is_there(struct hcomm_net *hn,
			const struct hcomm_link_config *cfg)
{
	struct hcomm_peer *peer = hcomm_peer_find(hn, cfg->peer);
	struct hcomm_link *link;

	if (peer)
		list_for_each_entry(link, &peer->links, peer_node)
			if (link->id == cfg->id)
				return true;
	return false;
}

static void blame(struct genl_info *info, const struct hcomm_link_config *cfg,
		  int err)
{
	struct hcomm_net *hn = net_of(info);
	int attr;

	switch (err) {
	case -ENOENT:
		attr = HCOMM_A_LINK_PEER;
		break;
	case -EPROTONOSUPPORT:
		attr = HCOMM_A_LINK_TRANSPORT;
		break;
	case -EADDRNOTAVAIL:
	case -EADDRINUSE:
		attr = HCOMM_A_LINK_LOCAL_ADDR;
		break;
	case -EEXIST:
		attr = id_is_there(hn, cfg) ? HCOMM_A_LINK_ID :
					      HCOMM_A_LINK_NAME;
		break;
	default:
		return;
	}
	mark(info, attr);
}

int hcomm_nl_link_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_link_config cfg = {};
	struct net_device *dev;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, HCOMM_A_LINK_PEER))
		return -EINVAL;
	err = get_config(info, &cfg);
	if (err)
		return err;
	rcu_read_lock();
	dev = dev_get_by_index_rcu(genl_info_net(info), cfg.ifindex);
	rcu_read_unlock();
	if (!dev)
		return refuse(info, HCOMM_A_LINK_IFINDEX, "no such device",
			      -ENODEV);
	err = begin(hn);
	if (err)
		return err;
	if (cfg.peer == hn->conf.node) {
		err = refuse(info, HCOMM_A_LINK_PEER,
			     "a link to this node itself", -EINVAL);
	} else {
		err = PTR_ERR_OR_ZERO(hcomm_config_add_link(hn, &cfg,
							    info->extack));
		blame(info, &cfg, err);
	}
	mutex_unlock(&hn->cfg_lock);
	return err;
}

int hcomm_nl_link_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_link *link;
	int err;

	err = begin(hn);
	if (err)
		return err;
	link = want_link(info);
	if (IS_ERR(link))
		err = PTR_ERR(link);
	else if (is_self(hn, link->peer))
		err = refuse(info, HCOMM_A_LINK_NAME,
			     "a node always reaches itself", -EBUSY);
	else
		hcomm_config_del_link(link);
	mutex_unlock(&hn->cfg_lock);
	return err;
}

static void set_gso(struct hcomm_link *link, u8 mode)
{
	spin_lock_bh(&link->lock);
	link->gso_mode = mode;
	link->gso_on = mode != HCOMM_GSO_OFF;
	link->gso_reason = link->gso_on ? "" : "set off by the administrator";
	spin_unlock_bh(&link->lock);
}

int hcomm_nl_link_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_link *link;
	u32 ppm;
	int err;

	err = begin(hn);
	if (err)
		return err;
	link = want_link(info);
	if (IS_ERR(link)) {
		err = PTR_ERR(link);
		goto out;
	}
	if (info->attrs[HCOMM_A_LINK_METRIC])
		WRITE_ONCE(link->metric,
			   nla_get_u32(info->attrs[HCOMM_A_LINK_METRIC]));
	if (info->attrs[HCOMM_A_LINK_LOSS_THRESHOLD]) {
		ppm = get_u32(info, HCOMM_A_LINK_LOSS_THRESHOLD, 0);
		WRITE_ONCE(link->loss_ppm, ppm);
		spin_lock_bh(&link->lock);
		hcomm_loss_set_threshold(&link->loss,
					 hcomm_link_loss_ppm(link));
		spin_unlock_bh(&link->lock);
	}
	if (info->attrs[HCOMM_A_LINK_GSO])
		set_gso(link, nla_get_u32(info->attrs[HCOMM_A_LINK_GSO]));
	if (info->attrs[HCOMM_A_LINK_ADMIN])
		hcomm_link_admin(link, get_u32(info, HCOMM_A_LINK_ADMIN, 1));
	hcomm_route_link_changed(link);
out:
	mutex_unlock(&hn->cfg_lock);
	return err;
}

int hcomm_nl_link_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_link *link;
	struct sk_buff *msg;
	void *head;
	int err;

	msg = reply_new(info, HCOMM_CMD_LINK_GET, &head);
	if (!msg)
		return -ENOMEM;
	mutex_lock(&hn->cfg_lock);
	link = want_link(info);
	err = IS_ERR(link) ? PTR_ERR(link) : hcomm_nl_put_link(msg, link);
	mutex_unlock(&hn->cfg_lock);
	return reply_send(msg, head, err, info);
}

int hcomm_nl_link_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *filter =
		genl_dumpit_info(cb)->HCOMM_DUMP_ATTRS[HCOMM_A_LINK_PEER];
	u32 want = filter ? nla_get_u32(filter) : 0;
	struct hcomm_net *hn = hcomm_net(sock_net(skb->sk));
	struct hcomm_peer *peer;
	struct hcomm_link *link;
	long n = 0;
	bool all = false;
	void *head;

	mutex_lock(&hn->cfg_lock);
	list_for_each_entry(peer, &hn->peer_list, list)
		list_for_each_entry(link, &peer->links, peer_node) {
			if (n++ < cb->args[0] || (want && peer->node != want))
				continue;
			head = dump_head(skb, cb, HCOMM_CMD_LINK_GET);
			if (!head || !dump_tail(skb, head,
						hcomm_nl_put_link(skb, link)))
				goto out;
			cb->args[0] = n;
		}
	all = true;
out:
	mutex_unlock(&hn->cfg_lock);
	return dump_end(skb, all);
}

/* route */

static struct hcomm_route *want_route(struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_route *route;

	lockdep_assert_held(&hn->cfg_lock);
	if (GENL_REQ_ATTR_CHECK(info, HCOMM_A_ROUTE_NODE))
		return ERR_PTR(-EINVAL);
	route = hcomm_route_find(hn, nla_get_u32(info->attrs[HCOMM_A_ROUTE_NODE]));
	if (route)
		return route;
	return ERR_PTR(refuse(info, HCOMM_A_ROUTE_NODE, "no route to this node",
			      -ENOENT));
}

static int pin(struct genl_info *info, struct hcomm_route *route)
{
	u32 id = get_u32(info, HCOMM_A_ROUTE_PINNED_LINK, 0);
	struct hcomm_peer *peer = hcomm_peer_find(route->hn, route->node);
	struct hcomm_link *link;
	bool found = !id;

	if (!info->attrs[HCOMM_A_ROUTE_PINNED_LINK])
		return 0;
	if (peer)
		list_for_each_entry(link, &peer->links, peer_node)
			found |= link->id == id;
	if (!found)
		return refuse(info, HCOMM_A_ROUTE_PINNED_LINK,
			      "the peer has no link with this id", -ENOENT);
	WRITE_ONCE(route->pinned_link, id);
	return 0;
}

int hcomm_nl_route_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_route *route;
	int err;

	err = begin(hn);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, HCOMM_A_ROUTE_NODE)) {
		err = -EINVAL;
	} else if (!hcomm_peer_find(hn, get_u32(info, HCOMM_A_ROUTE_NODE, 0))) {
		err = refuse(info, HCOMM_A_ROUTE_NODE,
			     "only peers can be reached: no such peer",
			     -ENOENT);
	} else {
		route = hcomm_route_create(hn, get_u32(info, HCOMM_A_ROUTE_NODE,
						       0), false, info->extack);
		err = PTR_ERR_OR_ZERO(route);
		if (!err)
			err = pin(info, route);
		if (err && !IS_ERR(route))
			hcomm_route_destroy(route);
		else if (err)
			mark(info, HCOMM_A_ROUTE_NODE);
	}
	mutex_unlock(&hn->cfg_lock);
	return err;
}

int hcomm_nl_route_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_route *route;
	int err;

	err = begin(hn);
	if (err)
		return err;
	route = want_route(info);
	if (IS_ERR(route))
		err = PTR_ERR(route);
	else if (route->node == hn->conf.node)
		err = refuse(info, HCOMM_A_ROUTE_NODE,
			     "a node always reaches itself", -EBUSY);
	else
		hcomm_route_destroy(route);
	mutex_unlock(&hn->cfg_lock);
	return err;
}

int hcomm_nl_route_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_route *route;
	int err;

	err = begin(hn);
	if (err)
		return err;
	route = want_route(info);
	if (IS_ERR(route)) {
		err = PTR_ERR(route);
		goto out;
	}
	err = pin(info, route);
	if (err)
		goto out;
	hcomm_route_update(route, "pinned by the administrator");
out:
	mutex_unlock(&hn->cfg_lock);
	return err;
}

int hcomm_nl_route_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	struct hcomm_route *route;
	struct sk_buff *msg;
	void *head;
	int err;

	msg = reply_new(info, HCOMM_CMD_ROUTE_GET, &head);
	if (!msg)
		return -ENOMEM;
	mutex_lock(&hn->cfg_lock);
	route = want_route(info);
	err = IS_ERR(route) ? PTR_ERR(route) : hcomm_nl_put_route(msg, route);
	mutex_unlock(&hn->cfg_lock);
	return reply_send(msg, head, err, info);
}

/* Routes lead to peers, so that the order of peers is theirs as well. */
int hcomm_nl_route_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct hcomm_net *hn = hcomm_net(sock_net(skb->sk));
	struct hcomm_route *route;
	struct hcomm_peer *peer;
	long n = 0;
	bool all = false;
	void *head;

	mutex_lock(&hn->cfg_lock);
	list_for_each_entry(peer, &hn->peer_list, list) {
		if (n++ < cb->args[0])
			continue;
		route = hcomm_route_find(hn, peer->node);
		if (route) {
			head = dump_head(skb, cb, HCOMM_CMD_ROUTE_GET);
			if (!head || !dump_tail(skb, head,
						hcomm_nl_put_route(skb, route)))
				goto out;
		}
		cb->args[0] = n;
	}
	all = true;
out:
	mutex_unlock(&hn->cfg_lock);
	return dump_end(skb, all);
}

/* socket */

int hcomm_nl_socket_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct hcomm_net *hn = hcomm_net(sock_net(skb->sk));
	struct hcomm_sock *hs;
	long n = 0;
	bool all = false;
	void *head;

	spin_lock_bh(&hn->socks_lock);
	hlist_for_each_entry(hs, &hn->socks, all) {
		if (n++ < cb->args[0])
			continue;
		head = dump_head(skb, cb, HCOMM_CMD_SOCKET_GET);
		if (!head || !dump_tail(skb, head, hcomm_nl_put_socket(skb, hs)))
			goto out;
		cb->args[0] = n;
	}
	all = true;
out:
	spin_unlock_bh(&hn->socks_lock);
	return dump_end(skb, all);
}

/* ping */

static struct hcomm_link *ping_link(struct genl_info *info)
{
	struct hcomm_net *hn = net_of(info);
	u32 node = get_u32(info, HCOMM_A_PING_NODE, 0);
	u32 id = get_u32(info, HCOMM_A_PING_LINK, 0);
	struct hcomm_link *link = NULL, *l;
	struct hcomm_route *route;
	struct hcomm_peer *peer;

	rcu_read_lock();
	route = hcomm_route_find(hn, node);
	peer = hcomm_peer_find(hn, node);
	if (!id && route) {
		link = rcu_dereference(route->active);
	} else if (id && peer) {
		list_for_each_entry_rcu(l, &peer->links, peer_node)
			if (l->id == id)
				link = l;
	}
	if (link && !hcomm_link_get(link))
		link = NULL;
	rcu_read_unlock();
	if (link)
		return link;
	if (!route && !id)
		refuse(info, HCOMM_A_PING_NODE, "no route to this node", 0);
	else if (id)
		refuse(info, HCOMM_A_PING_LINK, "the peer has no such link", 0);
	else
		refuse(info, HCOMM_A_PING_NODE, "no usable link to this node",
		       0);
	return ERR_PTR(-EHOSTUNREACH);
}

int hcomm_nl_ping_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct hcomm_link *link;
	struct sk_buff *msg;
	void *head;
	u64 rtt;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, HCOMM_A_PING_NODE))
		return -EINVAL;
	link = ping_link(info);
	if (IS_ERR(link))
		return PTR_ERR(link);
	err = hcomm_ping_link(link, get_u32(info, HCOMM_A_PING_SIZE, 64),
			      get_u32(info, HCOMM_A_PING_TIMEOUT, 1000), &rtt);
	if (err) {
		if (err == -ETIMEDOUT)
			refuse(info, 0, "no answer", 0);
		else if (err == -EMSGSIZE)
			refuse(info, HCOMM_A_PING_SIZE,
			       "larger than the path MTU", 0);
		goto out;
	}
	msg = reply_new(info, HCOMM_CMD_PING, &head);
	err = -ENOMEM;
	if (!msg)
		goto out;
	err = nla_put_u32(msg, HCOMM_A_PING_NODE, link->peer->node) ?:
	      nla_put_u32(msg, HCOMM_A_PING_LINK, link->id) ?:
	      nla_put_u32(msg, HCOMM_A_PING_RTT_US, div_u64(rtt, 1000));
	err = reply_send(msg, head, err, info);
out:
	hcomm_link_put(link);
	return err;
}

/* events */

static void multicast(struct hcomm_net *hn, struct sk_buff *skb, void *head,
		      int err)
{
	if (err) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, head);
	genlmsg_multicast_netns(&family, hn->net, skb, 0, HCOMM_NLGRP_EVENTS,
				GFP_ATOMIC);
}

static struct sk_buff *event_new(struct hcomm_net *hn, void **head)
{
	struct sk_buff *skb;

	if (!genl_has_listeners(&family, hn->net, HCOMM_NLGRP_EVENTS))
		return NULL;
	skb = genlmsg_new(NLMSG_GOODSIZE, GFP_ATOMIC);
	if (!skb)
		return NULL;
	*head = genlmsg_put(skb, 0, 0, &family, 0, HCOMM_CMD_EVENT);
	if (!*head) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

void hcomm_netlink_link_event(struct hcomm_link *link, u8 old, u8 new)
{
	struct sk_buff *skb;
	void *head;

	skb = event_new(link->hn, &head);
	if (skb)
		multicast(link->hn, skb, head,
			  hcomm_nl_put_link_event(skb, link, old, new));
}

void hcomm_netlink_route_event(struct hcomm_route *route, const char *reason)
{
	struct sk_buff *skb;
	void *head;

	skb = event_new(route->hn, &head);
	if (skb)
		multicast(route->hn, skb, head,
			  hcomm_nl_put_route_event(skb, route, reason));
}

static struct genl_family family __ro_after_init = {
	.name = HCOMM_GENL_NAME,
	.version = HCOMM_GENL_VERSION,
	.netnsok = true,
	/* Commands that change take the lock of their namespace themselves. */
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = hcomm_nl_ops,
	.n_ops = ARRAY_SIZE(hcomm_nl_ops),
	.mcgrps = hcomm_nl_mcgrps,
	.n_mcgrps = ARRAY_SIZE(hcomm_nl_mcgrps),
};

int hcomm_netlink_init(void)
{
	return genl_register_family(&family);
}

void hcomm_netlink_exit(void)
{
	genl_unregister_family(&family);
}
