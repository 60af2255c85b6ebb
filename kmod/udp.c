// SPDX-License-Identifier: GPL-2.0
/*
 * The udp transport: one kernel socket for each local address, port and
 * device of a namespace, shared by all links that have them in common.
 */
#include "udp.h"

#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <linux/uio.h>
#include <net/inet_common.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/udp.h>

#include "link.h"
#include "peer.h"

enum { UDP_BUF = 16 << 20 };

/**
 * struct udp_sock_ref - a socket that links share
 * @list: in hcomm_net.udp_socks, under cfg_lock
 * @rcu: to free it
 * @hn: namespace
 * @sock: the socket
 * @local: its address
 * @ifindex: its device
 * @users: links
 */
struct udp_sock_ref {
	struct list_head list;
	struct rcu_head rcu;
	struct hcomm_net *hn;
	struct socket *sock;
	union hcomm_addr local;
	int ifindex;
	u32 users;
};

static void from_skb(struct hcomm_link_key *key, const struct sk_buff *skb)
{
	memset(key, 0, sizeof(*key));
	if (skb->protocol == htons(ETH_P_IPV6))
		key->addr = ipv6_hdr(skb)->saddr;
	else
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &key->addr);
	key->port = udp_hdr(skb)->source;
}

static void receive(struct udp_sock_ref *us, struct sk_buff *skb)
{
	struct hcomm_link_key key;

	if (udp_lib_checksum_complete(skb) || !skb->len) {
		hcomm_count(us->hn, rx_malformed);
		kfree_skb(skb);
		return;
	}
	from_skb(&key, skb);
	hcomm_link_receive(us->hn, &key, skb, 0,
			   skb_is_gso(skb) ? skb_shinfo(skb)->gso_size :
					     skb->len);
	consume_skb(skb);
}

/*
 * In softirq. Not encap_rcv: batches that were not sent by a tunnel are cut
 * into single packets before they come there.
 */
static void data_ready(struct sock *sk)
{
	struct udp_sock_ref *us;
	struct sk_buff *skb;
	int err;

	rcu_read_lock();
	us = rcu_dereference_sk_user_data(sk);
	while (us && (skb = skb_recv_udp(sk, MSG_DONTWAIT, &err)))
		receive(us, skb);
	rcu_read_unlock();
}

static int addr_len(const union hcomm_addr *a)
{
	return a->sa.sa_family == AF_INET6 ? sizeof(a->in6) : sizeof(a->in);
}

static bool same_local(const struct udp_sock_ref *us,
		       const struct hcomm_link *link)
{
	const union hcomm_addr *a = &us->local, *b = &link->local;

	if (us->ifindex != link->ifindex ||
	    a->sa.sa_family != b->sa.sa_family)
		return false;
	if (a->sa.sa_family == AF_INET6)
		return ipv6_addr_equal(&a->in6.sin6_addr, &b->in6.sin6_addr) &&
		       a->in6.sin6_port == b->in6.sin6_port;
	return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr &&
	       a->in.sin_port == b->in.sin_port;
}

static int option(struct socket *sock, int level, int name, int value)
{
	return sock->ops->setsockopt(sock, level, name, KERNEL_SOCKPTR(&value),
				     sizeof(value));
}

static int set_options(struct socket *sock, int ifindex)
{
	struct sock *sk = sock->sk;
	bool v6 = sk->sk_family == AF_INET6;
	int err;

	sk->sk_allocation = GFP_ATOMIC;
	sk->sk_sndbuf = UDP_BUF;
	sk->sk_rcvbuf = UDP_BUF;
	sk->sk_bound_dev_if = ifindex;
	/* Whole batches, as the device or GRO put them together. */
	err = option(sock, SOL_UDP, UDP_GRO, 1);
	if (err)
		return err;
	/* What a full queue of this host drops is to be said, not lost. */
	err = v6 ? option(sock, SOL_IPV6, IPV6_RECVERR, 1) :
		   option(sock, SOL_IP, IP_RECVERR, 1);
	if (err)
		return err;
	return v6 ? option(sock, SOL_IPV6, IPV6_MTU_DISCOVER,
			   IPV6_PMTUDISC_PROBE) :
		    option(sock, SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
}

static int open_socket(struct udp_sock_ref *us, struct netlink_ext_ack *extack)
{
	int family = us->local.sa.sa_family, err;
	struct socket *sock;

	/* Does not hold the namespace: exit closes it. */
	err = sock_create_kern(us->hn->net, family, SOCK_DGRAM, IPPROTO_UDP,
			       &sock);
	if (err)
		return err;
	if (family == AF_INET6)
		ip6_sock_set_v6only(sock->sk);
	err = set_options(sock, us->ifindex);
	if (err)
		goto err_release;
	err = kernel_bind(sock, &us->local.sa, addr_len(&us->local));
	if (err) {
		if (err == -EADDRNOTAVAIL)
			NL_SET_ERR_MSG(extack,
				       "local address is not of this host");
		else if (err == -EADDRINUSE)
			NL_SET_ERR_MSG(extack,
				       "local address and port are in use");
		goto err_release;
	}
	us->sock = sock;
	rcu_assign_sk_user_data(sock->sk, us);
	WRITE_ONCE(sock->sk->sk_data_ready, data_ready);
	return 0;

err_release:
	sock_release(sock);
	return err;
}

static int attach(struct hcomm_link *link, struct netlink_ext_ack *extack)
{
	struct hcomm_net *hn = link->hn;
	struct udp_sock_ref *us;
	int err;

	lockdep_assert_held(&hn->cfg_lock);
	list_for_each_entry(us, &hn->udp_socks, list)
		if (same_local(us, link)) {
			us->users++;
			link->tp = us;
			return 0;
		}
	us = kzalloc(sizeof(*us), GFP_KERNEL_ACCOUNT);
	if (!us)
		return -ENOMEM;
	us->hn = hn;
	us->local = link->local;
	us->ifindex = link->ifindex;
	us->users = 1;
	err = open_socket(us, extack);
	if (err) {
		kfree(us);
		return err;
	}
	list_add(&us->list, &hn->udp_socks);
	link->tp = us;
	return 0;
}

static void detach(struct hcomm_link *link)
{
	struct udp_sock_ref *us = link->tp;

	lockdep_assert_held(&link->hn->cfg_lock);
	if (--us->users)
		return;
	list_del(&us->list);
	rcu_assign_sk_user_data(us->sock->sk, NULL);
	/* Whoever sends or receives through it does so under RCU. */
	synchronize_rcu();
	sock_release(us->sock);
	kfree_rcu(us, rcu);
}

static u32 max_packet(struct hcomm_link *link)
{
	u32 head = sizeof(struct udphdr) +
		(link->local.sa.sa_family == AF_INET6 ?
		 sizeof(struct ipv6hdr) : sizeof(struct iphdr));
	struct net_device *dev;
	u32 mtu = 1280;

	rcu_read_lock();
	dev = dev_get_by_index_rcu(link->hn->net, link->ifindex);
	if (dev)
		mtu = READ_ONCE(dev->mtu);
	rcu_read_unlock();
	return clamp_t(u32, mtu, 1280, 60000) - head;
}

/* Sends segments [first, first + nr), in one call. */
static int send_range(struct hcomm_link *link, struct hcomm_batch *b, u16 first,
		      u16 nr)
{
	struct udp_sock_ref *us = link->tp;
	struct sock *sk = us->sock->sk;
	union {
		char buf[CMSG_SPACE(sizeof(u16))];
		struct cmsghdr align;
	} cmsg;
	struct msghdr msg = {
		.msg_name = &link->remote,
		.msg_namelen = addr_len(&link->remote),
		.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL,
	};
	u32 bytes = 0, nr_bv = 0, prio;
	u16 i;
	int n;

	for (i = first; i < first + nr; i++) {
		bytes += b->seg[i].len;
		nr_bv += b->seg[i].nr_bv;
	}
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, &b->bv[b->seg[first].bv],
		      nr_bv, bytes);
	if (nr > 1) {
		cmsg.align.cmsg_level = SOL_UDP;
		cmsg.align.cmsg_type = UDP_SEGMENT;
		cmsg.align.cmsg_len = CMSG_LEN(sizeof(u16));
		*(u16 *)CMSG_DATA(&cmsg.align) = b->seg[first].len;
		msg.msg_control = &cmsg;
		msg.msg_controllen = sizeof(cmsg);
	}
	prio = b->class == HCOMM_CLASS_CONTROL ? TC_PRIO_CONTROL : 0;
	if (READ_ONCE(sk->sk_priority) != prio)
		WRITE_ONCE(sk->sk_priority, prio);
	/* Not sock_sendmsg(): its LSM hook may not run in softirq. */
	n = sk->sk_prot->sendmsg(sk, &msg, bytes);
	if (n < 0)
		return n;
	return n == bytes ? 0 : -EAGAIN;
}

static int send_single(struct hcomm_link *link, struct hcomm_batch *b)
{
	int err = 0;
	u16 i;

	for (i = 0; i < b->nr_seg; i++) {
		err = send_range(link, b, i, 1);
		/* A full queue in the middle looks like loss: so it is. */
		if (err && !i)
			return err;
		if (err && err != -EAGAIN && err != -ENOBUFS)
			return err;
	}
	return 0;
}

static int send(struct hcomm_link *link, struct hcomm_batch *b)
{
	int err;

	if (b->nr_seg == 1 || !link->gso_on)
		return send_single(link, b);
	err = send_range(link, b, 0, b->nr_seg);
	switch (err) {
	case -EIO:		/* no checksum offload, xfrm, tunnels */
	case -EINVAL:		/* larger than the path MTU that UDP knows */
	case -EOPNOTSUPP:
		return -EIO;
	}
	return err;
}

static const struct hcomm_transport udp_transport = {
	.name = "udp",
	.type = HCOMM_TRANSPORT_UDP,
	.attach = attach,
	.detach = detach,
	.send = send,
	.max_packet = max_packet,
};

int hcomm_udp_init(void)
{
	return hcomm_transport_register(&udp_transport);
}

void hcomm_udp_exit(void)
{
	hcomm_transport_unregister(&udp_transport);
}
