// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <linux/random.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "config.h"
#include "batch.h"
#include "flight.h"
#include "link.h"
#include "loop.h"
#include "msg.h"
#include "net.h"
#include "netlink.h"
#include "peer.h"
#include "port.h"
#include "route.h"
#include "session.h"
#include "sock.h"
#include "tcp.h"
#include "udp.h"

unsigned int hcomm_net_id __read_mostly;

unsigned int hcomm_family __read_mostly = AF_HCOMM;
module_param_named(family, hcomm_family, uint, 0444);
MODULE_PARM_DESC(family, "address family number: 18 (default), 13 or 22");

static const struct hcomm_link_upper link_upper = {
	.changed = hcomm_route_link_changed,
	.receive = hcomm_session_receive,
	.fill = hcomm_session_fill,
	.train = hcomm_session_train,
	.copied = hcomm_session_copied,
	.lost = hcomm_session_lost,
	.done = hcomm_session_done,
	.event = hcomm_netlink_link_event,
};

static const struct hcomm_route_upper route_upper = {
	.changed = hcomm_session_route_changed,
	.gone = hcomm_session_route_gone,
	.event = hcomm_netlink_route_event,
};

static const struct hcomm_conf defaults = {
	.heartbeat_ms = 200,
	.retry_ms = 50,
	.session_timeout_ms = 30000,
	.sndbuf = 4 << 20,
	.rcvbuf = 4 << 20,
	.tx_queue = 8192,
	.loss_ppm = 10000,
	.holddown_ms = 10000,
	.max_links = 40000,
	.max_sessions = 16384,
	.max_lanes = 16384,
	.port = 4790,
};

static int __net_init net_init(struct net *net)
{
	struct hcomm_net *hn = hcomm_net(net);
	int err;

	hn->net = net;
	hn->conf = defaults;
	hn->incarnation = get_random_u64() | 1;
	mutex_init(&hn->cfg_lock);
	spin_lock_init(&hn->route_lock);
	spin_lock_init(&hn->socks_lock);
	INIT_HLIST_HEAD(&hn->socks);
	INIT_LIST_HEAD(&hn->udp_socks);
	hn->stats = alloc_percpu(struct hcomm_stats);
	if (!hn->stats)
		return -ENOMEM;
	hcomm_wheel_init(&hn->wheel);
	err = hcomm_port_net_init(hn);
	if (err)
		goto err_stats;
	err = hcomm_peer_net_init(hn);
	if (err)
		goto err_port;
	err = hcomm_link_net_init(hn);
	if (err)
		goto err_peer;
	err = hcomm_route_net_init(hn);
	if (err)
		goto err_link;
	err = hcomm_session_net_init(hn);
	if (err)
		goto err_route;
	return 0;

err_route:
	hcomm_route_net_exit(hn);
err_link:
	hcomm_link_net_exit(hn);
err_peer:
	hcomm_peer_net_exit(hn);
err_port:
	hcomm_port_net_exit(hn);
err_stats:
	free_percpu(hn->stats);
	return err;
}

/* Sockets of the transports do not hold the namespace: they go here. */
static void __net_exit net_pre_exit(struct net *net)
{
	struct hcomm_net *hn = hcomm_net(net);

	mutex_lock(&hn->cfg_lock);
	WRITE_ONCE(hn->dying, true);
	hcomm_config_flush(hn);
	mutex_unlock(&hn->cfg_lock);
	hcomm_session_flush(hn);
	hcomm_wheel_stop(&hn->wheel);
}

static void __net_exit net_exit(struct net *net)
{
	struct hcomm_net *hn = hcomm_net(net);

	/*
	 * Sessions, links and peers end by RCU callbacks that use @hn, those of
	 * sessions in two steps.
	 */
	rcu_barrier();
	rcu_barrier();
	hcomm_session_net_exit(hn);
	hcomm_route_net_exit(hn);
	hcomm_link_net_exit(hn);
	hcomm_peer_net_exit(hn);
	hcomm_port_net_exit(hn);
	free_percpu(hn->stats);
}

static struct pernet_operations net_ops = {
	.init = net_init,
	.pre_exit = net_pre_exit,
	.exit = net_exit,
	.id = &hcomm_net_id,
	.size = sizeof(struct hcomm_net),
};

/* Exit is the same list backwards; user space can come after the last step. */
static int __init hcomm_init(void)
{
	int err;

	if (hcomm_family != 13 && hcomm_family != 18 && hcomm_family != 22) {
		pr_err("family=%u: only 13, 18 and 22 are free\n",
		       hcomm_family);
		return -EINVAL;
	}
	hcomm_link_upper = &link_upper;
	hcomm_route_upper = &route_upper;
	err = hcomm_msg_init();
	if (err)
		return err;
	err = hcomm_flight_init();
	if (err)
		goto err_msg;
	err = hcomm_batch_init();
	if (err)
		goto err_flight;
	err = hcomm_socket_init();
	if (err)
		goto err_batch;
	err = hcomm_udp_init();
	if (err)
		goto err_socket;
	err = hcomm_tcp_init();
	if (err)
		goto err_udp;
	err = hcomm_loop_init();
	if (err)
		goto err_tcp;
	/* After what carries the links of a namespace. */
	err = register_pernet_subsys(&net_ops);
	if (err)
		goto err_loop;
	err = hcomm_link_init();
	if (err)
		goto err_pernet;
	err = hcomm_netlink_init();
	if (err)
		goto err_link;
	err = hcomm_socket_register();
	if (err)
		goto err_netlink;
	pr_info("loaded, address family %u\n", hcomm_family);
	return 0;

err_netlink:
	hcomm_netlink_exit();
err_link:
	hcomm_link_exit();
err_pernet:
	unregister_pernet_subsys(&net_ops);
err_loop:
	hcomm_loop_exit();
err_tcp:
	hcomm_tcp_exit();
err_udp:
	hcomm_udp_exit();
err_socket:
	hcomm_socket_exit();
err_batch:
	rcu_barrier();
	hcomm_batch_exit();
err_flight:
	hcomm_flight_exit();
err_msg:
	hcomm_msg_exit();
	return err;
}

static void __exit hcomm_exit(void)
{
	hcomm_socket_unregister();
	hcomm_netlink_exit();
	hcomm_link_exit();
	/* The links go with their namespaces, before what carries them. */
	unregister_pernet_subsys(&net_ops);
	hcomm_loop_exit();
	hcomm_tcp_exit();
	hcomm_udp_exit();
	hcomm_socket_exit();
	rcu_barrier();
	hcomm_batch_exit();
	hcomm_flight_exit();
	hcomm_msg_exit();
	pr_info("unloaded\n");
}

module_init(hcomm_init);
module_exit(hcomm_exit);

MODULE_DESCRIPTION("Reliable messages over several links for AI and HPC clusters");
MODULE_AUTHOR("The hcomm authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
MODULE_ALIAS_GENL_FAMILY("hcomm");
