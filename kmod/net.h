/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_NET_H
#define HCOMM_NET_H

#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/types.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "stats.h"
#include "wheel.h"

/*
 * Lock order, outermost first. Everything from (3) on is taken with bottom
 * halves off; nothing sleeps below (2).
 *
 *  1. hcomm_sock.tx_mutex, hcomm_sock.rx_mutex	one writer, one reader
 *  2. hcomm_net.cfg_lock			changes of the configuration
 *  3. hcomm_link.tx_lock			who builds packets; trylock only
 *  4. hcomm_session.lock			lanes, reliability
 *  5. hcomm_sock.lock				queues of a socket
 *  6. hcomm_net.route_lock			choice of the active candidate
 *  7. hcomm_link.lock				state, packets in flight
 *  8. hcomm_link.ready_lock			sessions that want to send
 *  9. hcomm_wheel.lock				timers
 *
 * lock_sock() of an AF_HCOMM socket is never held across (1) to (9).
 * Timers of the wheel run with no lock held.
 */

/**
 * struct hcomm_conf - settings of a namespace; see Documentation/hcomm.7
 * @node: own node, 0 while not set
 * @heartbeat_ms: interval of heartbeats
 * @retry_ms: floor of every retransmission timeout
 * @session_timeout_ms: how long data waits for a usable path
 * @sndbuf: default SO_SNDBUF, bytes
 * @rcvbuf: default SO_RCVBUF, bytes
 * @tx_queue: packets in flight or queued on one link
 * @loss_ppm: loss threshold, parts per million
 * @holddown_ms: first hold-down of a link that was bad or down
 * @max_links: limit of links
 * @max_sessions: limit of sessions
 * @max_lanes: limit of lanes of one session, each way
 * @port: default UDP and TCP port of the transports
 */
struct hcomm_conf {
	u32 node;
	u32 heartbeat_ms;
	u32 retry_ms;
	u32 session_timeout_ms;
	u32 sndbuf;
	u32 rcvbuf;
	u32 tx_queue;
	u32 loss_ppm;
	u32 holddown_ms;
	u32 max_links;
	u32 max_sessions;
	u32 max_lanes;
	u32 port;
};

enum hcomm_limits {
	HCOMM_MAX_MSG_LEN = 1 << 20,
	HCOMM_STREAM_PIECE = 256 << 10,
	HCOMM_INITIAL_CREDIT = 256 << 10,
	HCOMM_INITIAL_MSGS = 1024,
	HCOMM_MIN_BUF = 64 << 10,
	HCOMM_MAX_BUF = 256 << 20,
	HCOMM_MAX_BACKLOG = 4096,
	HCOMM_MAX_PEERS = 65536,
};

/**
 * struct hcomm_net - hcomm in one network namespace, which is one node
 * @net: the namespace
 * @conf: settings, written under @cfg_lock
 * @incarnation: random, new whenever the node is set; never 0
 * @cfg_lock: serialises changes of links, peers and settings
 * @route_lock: see route.c
 * @wheel: all timers of the namespace
 * @links: found by remote address and link id
 * @peers: peers by node
 * @routes: routes by destination node
 * @sessions: sessions by remote node
 * @ports: endpoints by port
 * @peer_list: the same peers in order, under @cfg_lock or RCU
 * @udp_socks: sockets of the udp transport, under @cfg_lock
 * @socks: all AF_HCOMM sockets, under @socks_lock
 * @stats: counters
 * @nr_links: links in being
 * @nr_sessions: sessions in being
 * @cfg_gen: changes with every peer, link and route; under @cfg_lock
 * @dying: the namespace goes; nothing new is made
 */
struct hcomm_net {
	struct net *net;
	struct hcomm_conf conf;
	u64 incarnation;
	struct mutex cfg_lock;		/* see above */
	spinlock_t route_lock;		/* see above */
	struct hcomm_wheel wheel;
	struct rhashtable links;
	struct rhashtable peers;
	struct rhashtable routes;
	struct rhashtable sessions;
	struct rhashtable ports;
	struct list_head peer_list;
	struct list_head udp_socks;
	struct hlist_head socks;
	spinlock_t socks_lock;		/* @socks */
	struct hcomm_stats __percpu *stats;
	atomic_t nr_links;
	atomic_t nr_sessions;
	atomic_t nr_peers;
	u32 cfg_gen;
	bool dying;
};

extern unsigned int hcomm_net_id;
extern unsigned int hcomm_family;
extern struct workqueue_struct *hcomm_wq;

static inline struct hcomm_net *hcomm_net(const struct net *net)
{
	return net_generic(net, hcomm_net_id);
}

#define hcomm_count(hn, name)		this_cpu_inc((hn)->stats->name)
#define hcomm_count_add(hn, name, n)	this_cpu_add((hn)->stats->name, n)

#endif /* HCOMM_NET_H */
