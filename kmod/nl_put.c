// SPDX-License-Identifier: GPL-2.0
#include "nl_put.h"

#include <linux/if.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/genetlink.h>

#include "link.h"
#include "peer.h"
#include "route.h"
#include "rxlane.h"
#include "session.h"
#include "sock.h"
#include "txlane.h"

static int put_counter(struct sk_buff *skb, int attr, const char *name,
		       u64 value)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest || nla_put_string(skb, HCOMM_A_COUNTER_NAME, name) ||
	    nla_put_u64_64bit(skb, HCOMM_A_COUNTER_VALUE, value,
			      HCOMM_A_COUNTER_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int hcomm_nl_put_system(struct sk_buff *skb, struct hcomm_net *hn)
{
	const struct hcomm_conf *c = &hn->conf;
	u64 sum[sizeof(struct hcomm_stats) / sizeof(u64)];
	struct nlattr *nest;
	unsigned int i;

	if (nla_put_u32(skb, HCOMM_A_SYSTEM_NODE, c->node) ||
	    nla_put_u64_64bit(skb, HCOMM_A_SYSTEM_INCARNATION, hn->incarnation,
			      HCOMM_A_SYSTEM_PAD) ||
	    nla_put_string(skb, HCOMM_A_SYSTEM_VERSION, THIS_MODULE->version) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_HEARTBEAT_INTV, c->heartbeat_ms) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_RETRY_TIMEOUT, c->retry_ms) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_SESSION_TIMEOUT,
			c->session_timeout_ms) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_SNDBUF, c->sndbuf) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_RCVBUF, c->rcvbuf) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_MAX_MSG, HCOMM_MAX_MSG_LEN) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_TX_QUEUE_SIZE, c->tx_queue) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_LOSS_THRESHOLD, c->loss_ppm) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_HOLDDOWN, c->holddown_ms) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_MAX_LINKS, c->max_links) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_MAX_SESSIONS, c->max_sessions) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_MAX_LANES, c->max_lanes) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_PORT, c->port) ||
	    nla_put_u32(skb, HCOMM_A_SYSTEM_FAMILY, hcomm_family))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, HCOMM_A_SYSTEM_COUNTERS);
	if (!nest)
		return -EMSGSIZE;
	hcomm_stats_sum(hn, sum);
	for (i = 0; i < hcomm_stats_nr(); i++)
		if (put_counter(skb, HCOMM_A_COUNTERS_COUNTER,
				hcomm_stats_names[i], sum[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_session(struct sk_buff *skb, struct hcomm_session *s)
{
	u64 tx_queued = 0, rx_queued = 0;
	struct hcomm_txlane *tx;
	struct hcomm_rxlane *rx;
	struct nlattr *nest;
	unsigned long id;
	int err;

	nest = nla_nest_start(skb, HCOMM_A_PEER_SESSION);
	if (!nest)
		return -EMSGSIZE;
	spin_lock_bh(&s->lock);
	xa_for_each(&s->txlanes, id, tx)
		tx_queued += tx->end - tx->una;
	xa_for_each(&s->rxlanes, id, rx)
		if (!xa_is_value(rx))
			rx_queued += rx->cum - rx->read;
	err = nla_put_u32(skb, HCOMM_A_SESSION_STATE, s->state) ?:
	      nla_put_u64_64bit(skb, HCOMM_A_SESSION_REMOTE_INCARNATION,
				s->remote_inc, HCOMM_A_SESSION_PAD) ?:
	      nla_put_u32(skb, HCOMM_A_SESSION_LANES_TX, s->nr_tx) ?:
	      nla_put_u32(skb, HCOMM_A_SESSION_LANES_RX, s->nr_rx) ?:
	      nla_put_u64_64bit(skb, HCOMM_A_SESSION_TX_QUEUED, tx_queued,
				HCOMM_A_SESSION_PAD) ?:
	      nla_put_u64_64bit(skb, HCOMM_A_SESSION_RX_QUEUED, rx_queued,
				HCOMM_A_SESSION_PAD);
	spin_unlock_bh(&s->lock);
	nla_nest_end(skb, nest);
	return err;
}

int hcomm_nl_put_peer(struct sk_buff *skb, struct hcomm_peer *peer)
{
	struct hcomm_session *s;
	struct hcomm_link *link;
	u32 links = 0, up = 0;
	int err = 0;

	lockdep_assert_held(&peer->hn->cfg_lock);
	list_for_each_entry(link, &peer->links, peer_node) {
		links++;
		up |= hcomm_link_usable(link);
	}
	if (nla_put_u32(skb, HCOMM_A_PEER_NODE, peer->node) ||
	    nla_put_string(skb, HCOMM_A_PEER_NAME, peer->name) ||
	    nla_put_u32(skb, HCOMM_A_PEER_STATE, up) ||
	    nla_put_u32(skb, HCOMM_A_PEER_LINKS, links))
		return -EMSGSIZE;
	s = hcomm_session_find(peer->hn, peer->node);
	if (s) {
		err = put_session(skb, s);
		hcomm_session_put(s);
	}
	return err;
}

static int put_addr(struct sk_buff *skb, int attr, const union hcomm_addr *a)
{
	if (a->sa.sa_family == AF_INET)
		return nla_put_in_addr(skb, attr, a->in.sin_addr.s_addr);
	if (a->sa.sa_family == AF_INET6)
		return nla_put_in6_addr(skb, attr, &a->in6.sin6_addr);
	return 0;
}

static u16 port_of(const union hcomm_addr *a)
{
	return ntohs(a->sa.sa_family == AF_INET6 ? a->in6.sin6_port :
						   a->in.sin_port);
}

static int put_link_config(struct sk_buff *skb, struct hcomm_link *link)
{
	bool loop = link->transport->type == HCOMM_TRANSPORT_LOOP;
	char dev[IFNAMSIZ] = "";
	struct net_device *d;

	if (nla_put_u32(skb, HCOMM_A_LINK_PEER, link->peer->node) ||
	    nla_put_u32(skb, HCOMM_A_LINK_ID, link->id) ||
	    nla_put_string(skb, HCOMM_A_LINK_NAME, link->name) ||
	    nla_put_u32(skb, HCOMM_A_LINK_TRANSPORT, link->transport->type) ||
	    nla_put_u32(skb, HCOMM_A_LINK_METRIC, link->metric) ||
	    nla_put_u32(skb, HCOMM_A_LINK_ADMIN, link->admin_up) ||
	    nla_put_u32(skb, HCOMM_A_LINK_GSO, link->gso_mode) ||
	    nla_put_u32(skb, HCOMM_A_LINK_LOSS_THRESHOLD, link->loss_ppm))
		return -EMSGSIZE;
	if (loop)
		return 0;
	rcu_read_lock();
	d = dev_get_by_index_rcu(link->hn->net, link->ifindex);
	if (d)
		strscpy(dev, d->name, sizeof(dev));
	rcu_read_unlock();
	if (put_addr(skb, HCOMM_A_LINK_LOCAL_ADDR, &link->local) ||
	    put_addr(skb, HCOMM_A_LINK_REMOTE_ADDR, &link->remote) ||
	    nla_put_u16(skb, HCOMM_A_LINK_LOCAL_PORT, port_of(&link->local)) ||
	    nla_put_u16(skb, HCOMM_A_LINK_REMOTE_PORT,
			port_of(&link->remote)) ||
	    nla_put_u32(skb, HCOMM_A_LINK_IFINDEX, link->ifindex) ||
	    nla_put_string(skb, HCOMM_A_LINK_IFNAME, dev))
		return -EMSGSIZE;
	return 0;
}

static int put_loss(struct sk_buff *skb, struct hcomm_link *link, u64 now)
{
	struct hcomm_loss_stat st;
	struct nlattr *nest;
	int w;

	for (w = 0; w < HCOMM_LOSS_WINDOWS; w++) {
		hcomm_loss_window(&link->loss, now, w, &st);
		nest = nla_nest_start(skb, HCOMM_A_LINK_LOSS);
		if (!nest ||
		    nla_put_u32(skb, HCOMM_A_LOSS_WINDOW_MS, st.window_ms) ||
		    nla_put_u32(skb, HCOMM_A_LOSS_SENT, st.sent) ||
		    nla_put_u32(skb, HCOMM_A_LOSS_LOST, st.lost) ||
		    nla_put_u32(skb, HCOMM_A_LOSS_EVENTS, st.events) ||
		    nla_put_u32(skb, HCOMM_A_LOSS_LOWER_PPM, st.lower_ppm) ||
		    nla_put_u32(skb, HCOMM_A_LOSS_UPPER_PPM, st.upper_ppm))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_link_counters(struct sk_buff *skb,
			     const struct hcomm_link_counters *c)
{
#define COUNTER(name) put_counter(skb, HCOMM_A_COUNTERS_COUNTER, #name, c->name)
	struct nlattr *nest = nla_nest_start(skb, HCOMM_A_LINK_COUNTERS);
	int err;

	if (!nest)
		return -EMSGSIZE;
	err = COUNTER(tx_packets) ?: COUNTER(tx_bytes) ?:
	      COUNTER(rx_packets) ?: COUNTER(rx_bytes) ?:
	      COUNTER(lost_packets) ?: COUNTER(spurious_packets) ?:
	      COUNTER(dup_packets) ?:
	      COUNTER(beats_sent) ?: COUNTER(beats_answered) ?:
	      COUNTER(beats_missed) ?: COUNTER(rx_errors) ?:
	      COUNTER(tx_errors) ?: COUNTER(gso_fallbacks) ?: COUNTER(ptos);
	nla_nest_end(skb, nest);
	return err;
#undef COUNTER
}

static u32 us(u64 ns)
{
	return min_t(u64, div_u64(ns, NSEC_PER_USEC), U32_MAX);
}

static u32 packet_overhead(const struct hcomm_link *link)
{
	if (link->transport->type != HCOMM_TRANSPORT_UDP)
		return 0;
	return link->local.sa.sa_family == AF_INET6 ? 48 : 28;
}

static int put_link_state(struct sk_buff *skb, struct hcomm_link *link)
{
	u64 now = ktime_get_ns(), rate = 0;

	lockdep_assert_held(&link->lock);
	if (!link->transport->reliable && link->rtt.samples)
		rate = hcomm_cc_pacing_rate(&link->cc, &link->rtt);
	if (nla_put_u8(skb, HCOMM_A_LINK_GSO_STATE, link->gso_on) ||
	    (link->gso_reason[0] &&
	     nla_put_string(skb, HCOMM_A_LINK_GSO_REASON, link->gso_reason)) ||
	    nla_put_u32(skb, HCOMM_A_LINK_STATE, link->state) ||
	    nla_put_string(skb, HCOMM_A_LINK_REASON, link->reason) ||
	    nla_put_u32(skb, HCOMM_A_LINK_MTU,
			link->mtu + packet_overhead(link)) ||
	    nla_put_u32(skb, HCOMM_A_LINK_RTT_MIN, us(link->rtt.min)) ||
	    nla_put_u32(skb, HCOMM_A_LINK_RTT_SMOOTHED,
			link->rtt.samples ? us(link->rtt.smoothed) : 0) ||
	    nla_put_u32(skb, HCOMM_A_LINK_RTT_VAR,
			link->rtt.samples ? us(link->rtt.var) : 0) ||
	    nla_put_u32(skb, HCOMM_A_LINK_CWND,
			min_t(u64, link->cc.cwnd, U32_MAX)) ||
	    nla_put_u32(skb, HCOMM_A_LINK_INFLIGHT,
			min_t(u64, link->cc.inflight, U32_MAX)) ||
	    nla_put_u64_64bit(skb, HCOMM_A_LINK_PACING_RATE, rate,
			      HCOMM_A_LINK_PAD) ||
	    nla_put_u32(skb, HCOMM_A_LINK_HOLDDOWN_LEFT,
			div_u64(hcomm_holddown_left(&link->holddown, now),
				NSEC_PER_MSEC)) ||
	    nla_put_u32(skb, HCOMM_A_LINK_CARRIES,
			atomic_read(&link->carries)) ||
	    nla_put_u64_64bit(skb, HCOMM_A_LINK_SINCE,
			      div_u64(now - link->since, NSEC_PER_MSEC),
			      HCOMM_A_LINK_PAD) ||
	    nla_put_u32(skb, HCOMM_A_LINK_FAILOVERS, link->failovers) ||
	    nla_put_u32(skb, HCOMM_A_LINK_FAILBACKS, link->failbacks))
		return -EMSGSIZE;
	return put_loss(skb, link, now) ?: put_link_counters(skb, &link->cnt);
}

int hcomm_nl_put_link(struct sk_buff *skb, struct hcomm_link *link)
{
	int err = put_link_config(skb, link);

	if (err)
		return err;
	spin_lock_bh(&link->lock);
	err = put_link_state(skb, link);
	spin_unlock_bh(&link->lock);
	return err;
}

static int put_candidate(struct sk_buff *skb, struct hcomm_route *route,
			 struct hcomm_link *link, bool active)
{
	struct nlattr *nest = nla_nest_start(skb, HCOMM_A_ROUTE_CANDIDATES);
	const char *why;

	rcu_read_lock();
	why = hcomm_route_why_not(route, link);
	rcu_read_unlock();
	if (!nest ||
	    nla_put_u32(skb, HCOMM_A_CANDIDATE_PEER, link->peer->node) ||
	    nla_put_u32(skb, HCOMM_A_CANDIDATE_LINK, link->id) ||
	    nla_put_string(skb, HCOMM_A_CANDIDATE_NAME, link->name) ||
	    nla_put_u32(skb, HCOMM_A_CANDIDATE_METRIC, link->metric) ||
	    nla_put_u32(skb, HCOMM_A_CANDIDATE_STATE, link->state) ||
	    nla_put_u8(skb, HCOMM_A_CANDIDATE_ACTIVE, active) ||
	    nla_put_string(skb, HCOMM_A_CANDIDATE_REASON, why))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int hcomm_nl_put_route(struct sk_buff *skb, struct hcomm_route *route)
{
	struct hcomm_peer *peer = hcomm_peer_find(route->hn, route->node);
	struct hcomm_link *active, *link;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&route->hn->cfg_lock);
	active = rcu_dereference_protected(route->active, 1);
	if (nla_put_u32(skb, HCOMM_A_ROUTE_NODE, route->node) ||
	    nla_put_u32(skb, HCOMM_A_ROUTE_PINNED_LINK, route->pinned_link) ||
	    nla_put_u32(skb, HCOMM_A_ROUTE_FAILOVERS, route->failovers) ||
	    nla_put_u32(skb, HCOMM_A_ROUTE_FAILBACKS, route->failbacks) ||
	    nla_put_u8(skb, HCOMM_A_ROUTE_AUTO, route->automatic) ||
	    nla_put_u64_64bit(skb, HCOMM_A_ROUTE_SINCE,
			      div_u64(now - route->changed, NSEC_PER_MSEC),
			      HCOMM_A_ROUTE_PAD))
		return -EMSGSIZE;
	if (active && hcomm_link_usable(active) &&
	    (nla_put_u32(skb, HCOMM_A_ROUTE_ACTIVE_PEER, active->peer->node) ||
	     nla_put_u32(skb, HCOMM_A_ROUTE_ACTIVE_LINK, active->id)))
		return -EMSGSIZE;
	if (peer)
		list_for_each_entry(link, &peer->links, peer_node)
			if (put_candidate(skb, route, link, link == active &&
					  hcomm_link_usable(link)))
				return -EMSGSIZE;
	return 0;
}

static u32 sock_state(const struct sock *sk)
{
	switch (READ_ONCE(sk->sk_state)) {
	case HCOMM_SS_CONNECTING:
		return HCOMM_SOCKET_STATE_CONNECTING;
	case HCOMM_SS_CONNECTED:
		return HCOMM_SOCKET_STATE_CONNECTED;
	case HCOMM_SS_LISTENING:
		return HCOMM_SOCKET_STATE_LISTENING;
	}
	return HCOMM_SOCKET_STATE_CLOSED;
}

/* The socket's namespace lists it: it is not freed meanwhile. */
int hcomm_nl_put_socket(struct sk_buff *skb, struct hcomm_sock *hs)
{
	struct sock *sk = &hs->sk;
	struct user_namespace *ns = sock_net(sk)->user_ns;

	if (nla_put_u32(skb, HCOMM_A_SOCKET_TYPE, sk->sk_type) ||
	    nla_put_u32(skb, HCOMM_A_SOCKET_STATE, sock_state(sk)) ||
	    nla_put_u32(skb, HCOMM_A_SOCKET_LOCAL_PORT, hs->local_port) ||
	    nla_put_u32(skb, HCOMM_A_SOCKET_REMOTE_NODE, hs->remote_node) ||
	    nla_put_u32(skb, HCOMM_A_SOCKET_REMOTE_PORT, hs->remote_port) ||
	    nla_put_u32(skb, HCOMM_A_SOCKET_UID,
			from_kuid_munged(ns, sk->sk_uid)) ||
	    nla_put_u64_64bit(skb, HCOMM_A_SOCKET_INODE, sock_i_ino(sk),
			      HCOMM_A_SOCKET_PAD) ||
	    nla_put_u32(skb, HCOMM_A_SOCKET_PID, hs->pid) ||
	    nla_put_string(skb, HCOMM_A_SOCKET_COMM, hs->comm) ||
	    nla_put_u32(skb, HCOMM_A_SOCKET_RX_QUEUED,
			READ_ONCE(hs->rx_bytes)) ||
	    nla_put_u32(skb, HCOMM_A_SOCKET_TX_QUEUED,
			atomic_read(&hs->wbytes)) ||
	    nla_put_u32(skb, HCOMM_A_SOCKET_RCVBUF, sk->sk_rcvbuf) ||
	    nla_put_u32(skb, HCOMM_A_SOCKET_SNDBUF, sk->sk_sndbuf) ||
	    nla_put_u64_64bit(skb, HCOMM_A_SOCKET_RX_MESSAGES, hs->rx_msgs,
			      HCOMM_A_SOCKET_PAD) ||
	    nla_put_u64_64bit(skb, HCOMM_A_SOCKET_TX_MESSAGES, hs->tx_msgs,
			      HCOMM_A_SOCKET_PAD) ||
	    nla_put_u64_64bit(skb, HCOMM_A_SOCKET_DROPS, hs->drops,
			      HCOMM_A_SOCKET_PAD))
		return -EMSGSIZE;
	return 0;
}

static int put_event(struct sk_buff *skb, u32 event, u32 node)
{
	return nla_put_u32(skb, HCOMM_A_EVENT_EVENT, event) ?:
	       nla_put_u64_64bit(skb, HCOMM_A_EVENT_TIME, ktime_get_real_ns(),
				 HCOMM_A_EVENT_PAD) ?:
	       nla_put_u32(skb, HCOMM_A_EVENT_NODE, node);
}

int hcomm_nl_put_link_event(struct sk_buff *skb, struct hcomm_link *link,
			    u8 old, u8 new)
{
	return put_event(skb, HCOMM_EVENT_LINK_STATE, link->peer->node) ?:
	       nla_put_u32(skb, HCOMM_A_EVENT_PEER, link->peer->node) ?:
	       nla_put_u32(skb, HCOMM_A_EVENT_LINK, link->id) ?:
	       nla_put_string(skb, HCOMM_A_EVENT_NAME, link->name) ?:
	       nla_put_u32(skb, HCOMM_A_EVENT_OLD_STATE, old) ?:
	       nla_put_u32(skb, HCOMM_A_EVENT_NEW_STATE, new) ?:
	       nla_put_string(skb, HCOMM_A_EVENT_REASON,
			      READ_ONCE(link->reason));
}

int hcomm_nl_put_route_event(struct sk_buff *skb, struct hcomm_route *route,
			     const char *reason)
{
	struct hcomm_link *active;
	int err;

	err = put_event(skb, HCOMM_EVENT_ROUTE_CHANGE, route->node) ?:
	      nla_put_string(skb, HCOMM_A_EVENT_REASON, reason);
	rcu_read_lock();
	active = rcu_dereference(route->active);
	if (!err && active)
		err = nla_put_u32(skb, HCOMM_A_EVENT_PEER,
				  active->peer->node) ?:
		      nla_put_u32(skb, HCOMM_A_EVENT_LINK, active->id) ?:
		      nla_put_string(skb, HCOMM_A_EVENT_NAME, active->name);
	rcu_read_unlock();
	return err;
}
