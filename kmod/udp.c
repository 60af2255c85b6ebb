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
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>

#include "batch.h"
#include "compat.h"
#include "link.h"
#include "peer.h"

enum {
	UDP_BUF = 16 << 20,
	/* A reference costs more than to copy so little. */
	COPY_BELOW = 256,
};

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
					     skb->len, us);
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
#ifdef CONFIG_NET_RX_BUSY_POLL
	/* It is read in softirq. */
	sk->sk_ll_usec = 0;
#endif
	sk->sk_sndbuf = UDP_BUF;
	sk->sk_rcvbuf = UDP_BUF;
	sk->sk_bound_dev_if = ifindex;
	/* Whole batches, as the device or GRO put them together. */
	err = option(sock, SOL_UDP, UDP_GRO, 1);
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
	hcomm_link_wait(link);
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

/**
 * struct way - how packets of a batch get out
 * @link: link
 * @sk: socket that they are sent from
 * @dst: route of the host, with a reference
 * @saddr: IPv4: addresses on the wire
 * @daddr: likewise
 * @head: room that headers take in front of a packet of ours
 * @prio: skb->priority
 */
struct way {
	struct hcomm_link *link;
	struct sock *sk;
	struct dst_entry *dst;
	__be32 saddr;
	__be32 daddr;
	u32 head;
	u32 prio;
};

static bool is_v6(const struct way *w)
{
	return w->link->local.sa.sa_family == AF_INET6;
}

static int find_way4(struct way *w)
{
	const struct sockaddr_in *l = &w->link->local.in;
	const struct sockaddr_in *r = &w->link->remote.in;
	struct flowi4 fl4 = {
		.flowi4_oif = w->link->ifindex,
		.flowi4_mark = READ_ONCE(w->sk->sk_mark),
		.flowi4_proto = IPPROTO_UDP,
		.saddr = l->sin_addr.s_addr,
		.daddr = r->sin_addr.s_addr,
		.fl4_sport = l->sin_port,
		.fl4_dport = r->sin_port,
	};
	struct rtable *rt;

	rt = ip_route_output_flow(w->link->hn->net, &fl4, w->sk);
	if (IS_ERR(rt))
		return PTR_ERR(rt);
	w->dst = &rt->dst;
	w->saddr = fl4.saddr;
	w->daddr = fl4.daddr;
	w->head = sizeof(struct iphdr);
	return 0;
}

static int find_way6(struct way *w)
{
	const struct sockaddr_in6 *l = &w->link->local.in6;
	const struct sockaddr_in6 *r = &w->link->remote.in6;
	struct flowi6 fl6 = {
		.flowi6_oif = w->link->ifindex,
		.flowi6_mark = READ_ONCE(w->sk->sk_mark),
		.flowi6_proto = IPPROTO_UDP,
		.saddr = l->sin6_addr,
		.daddr = r->sin6_addr,
		.fl6_sport = l->sin6_port,
		.fl6_dport = r->sin6_port,
	};
	struct dst_entry *dst;

	dst = hcomm_compat_route6(w->link->hn->net, w->sk, &fl6);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	w->dst = dst;
	w->head = sizeof(struct ipv6hdr);
	return 0;
}

static int find_way(struct way *w, struct hcomm_link *link, u8 class)
{
	struct udp_sock_ref *us = link->tp;
	int err;

	w->link = link;
	w->sk = us->sock->sk;
	w->prio = class == HCOMM_CLASS_CONTROL ? TC_PRIO_CONTROL : 0;
	err = is_v6(w) ? find_way6(w) : find_way4(w);
	if (err)
		return err;
	w->head += LL_RESERVED_SPACE(w->dst->dev) + w->dst->header_len +
		   sizeof(struct udphdr);
	return 0;
}

/* Whether the device, and what is in between, takes batches as they are. */
static bool takes_batches(const struct way *w)
{
	netdev_features_t csum = is_v6(w) ? NETIF_F_HW_CSUM | NETIF_F_IPV6_CSUM :
					    NETIF_F_HW_CSUM | NETIF_F_IP_CSUM;

	return w->dst->dev->features & csum && !dst_xfrm(w->dst);
}

static void put_udp(const struct way *w, struct sk_buff *skb)
{
	u32 len = skb->len + sizeof(struct udphdr);
	struct udphdr *uh = skb_push(skb, sizeof(*uh));

	skb_reset_transport_header(skb);
	uh->source = w->link->local.in.sin_port;
	uh->dest = w->link->remote.in.sin_port;
	uh->len = htons(len);
	uh->check = is_v6(w) ?
		~udp_v6_check(len, &w->link->local.in6.sin6_addr,
			      &w->link->remote.in6.sin6_addr, 0) :
		~udp_v4_check(len, w->saddr, w->daddr, 0);
	/* The device completes it, or the host in its place. */
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
}

static void put_ip4(const struct way *w, struct sk_buff *skb)
{
	struct iphdr *iph = skb_push(skb, sizeof(*iph));

	skb_reset_network_header(skb);
	iph->version = 4;
	iph->ihl = 5;
	iph->tos = 0;
	iph->frag_off = htons(IP_DF);
	iph->ttl = ip4_dst_hoplimit(w->dst);
	iph->protocol = IPPROTO_UDP;
	iph->saddr = w->saddr;
	iph->daddr = w->daddr;
	ip_select_ident_segs(w->link->hn->net, skb, w->sk,
			     max_t(int, skb_shinfo(skb)->gso_segs, 1));
}

static void put_ip6(const struct way *w, struct sk_buff *skb)
{
	struct ipv6hdr *h = skb_push(skb, sizeof(*h));

	skb_reset_network_header(skb);
	ip6_flow_hdr(h, 0, 0);
	h->nexthdr = IPPROTO_UDP;
	h->hop_limit = ip6_dst_hoplimit(w->dst);
	h->saddr = w->link->local.in6.sin6_addr;
	h->daddr = w->link->remote.in6.sin6_addr;
}

/* Takes the skb in any case. */
static int output(const struct way *w, struct sk_buff *skb)
{
	struct net *net = w->link->hn->net;
	int err;

	put_udp(w, skb);
	skb->priority = w->prio;
	skb->mark = READ_ONCE(w->sk->sk_mark);
	skb_dst_set(skb, dst_clone(w->dst));
	skb_set_owner_w(skb, w->sk);
	if (is_v6(w)) {
		put_ip6(w, skb);
		skb->protocol = htons(ETH_P_IPV6);
		err = ip6_local_out(net, w->sk, skb);
	} else {
		put_ip4(w, skb);
		skb->protocol = htons(ETH_P_IP);
		err = ip_local_out(net, w->sk, skb);
	}
	/* What a full queue of this host drops is to be said, not lost. */
	return err > 0 ? net_xmit_errno(err) : err;
}

static int send_single(const struct way *w, struct hcomm_batch *b)
{
	u32 mtu = READ_ONCE(w->dst->dev->mtu), len, sent = 0;
	u32 head = sizeof(struct udphdr) + (is_v6(w) ? sizeof(struct ipv6hdr) :
						       sizeof(struct iphdr));
	struct hcomm_batch_iter i;
	struct sk_buff *skb;
	int err;

	if (b->seg_len + head > mtu)
		return -EMSGSIZE;
	hcomm_batch_begin(b, &i);
	while ((len = hcomm_batch_next(&i))) {
		skb = alloc_skb(w->head + len, GFP_ATOMIC | __GFP_NOWARN);
		err = -ENOBUFS;
		if (skb) {
			skb_reserve(skb, w->head);
			hcomm_batch_take(&i, skb_put(skb, len), len);
			err = output(w, skb);
		}
		/* A full queue in the middle looks like loss: so it is. */
		if (err && (!sent || err != -ENOBUFS))
			return err;
		sent++;
	}
	return 0;
}

/* Adds bytes by copying them to the end of the last fragment, or to a new one. */
static bool add_copy(struct sk_buff *skb, const struct bio_vec *bv)
{
	int nr = skb_shinfo(skb)->nr_frags;
	struct page *page;
	void *p;

	p = netdev_alloc_frag(bv->bv_len);
	if (!p)
		return false;
	memcpy(p, page_address(bv->bv_page) + bv->bv_offset, bv->bv_len);
	page = virt_to_head_page(p);
	skb_fill_page_desc(skb, nr, page, p - page_address(page), bv->bv_len);
	return true;
}

static bool add_piece(const struct hcomm_batch *b, struct sk_buff *skb,
		      const struct bio_vec *bv)
{
	if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS)
		return false;
	if (bv->bv_len < COPY_BELOW || !hcomm_batch_lasting(b, bv)) {
		if (!add_copy(skb, bv))
			return false;
	} else {
		get_page(bv->bv_page);
		skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, bv->bv_page,
				   bv->bv_offset, bv->bv_len);
	}
	skb->len += bv->bv_len;
	skb->data_len += bv->bv_len;
	skb->truesize += bv->bv_len;
	return true;
}

/* The batch with its pages by reference; NULL: too many, or no memory. */
static struct sk_buff *refer(const struct way *w, const struct hcomm_batch *b)
{
	struct sk_buff *skb;
	u16 i;

	skb = alloc_skb(w->head, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, w->head);
	for (i = 0; i < b->nr_bv; i++)
		if (!add_piece(b, skb, &b->bv[i])) {
			kfree_skb(skb);
			return NULL;
		}
	return skb;
}

/* The batch in memory of its own. */
static struct sk_buff *copy(const struct way *w, const struct hcomm_batch *b)
{
	struct hcomm_batch_iter it;
	struct sk_buff *skb;
	int err, i;

	skb = alloc_skb_with_frags(w->head, b->bytes, PAGE_ALLOC_COSTLY_ORDER,
				   &err, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, w->head);
	hcomm_batch_begin(b, &it);
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		skb_frag_t *f = &skb_shinfo(skb)->frags[i];

		hcomm_batch_take(&it, skb_frag_address(f), skb_frag_size(f));
	}
	skb->len = b->bytes;
	skb->data_len = b->bytes;
	return skb;
}

static int send_whole(const struct way *w, struct hcomm_batch *b)
{
	struct sk_buff *skb = NULL;

	if (b->nr_bv <= MAX_SKB_FRAGS)
		skb = refer(w, b);
	if (!skb)
		skb = copy(w, b);
	if (!skb)
		return -ENOBUFS;
	skb_shinfo(skb)->gso_size = b->seg_len;
	skb_shinfo(skb)->gso_segs = b->nr_seg;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	return output(w, skb);
}

static int send(struct hcomm_link *link, struct hcomm_batch *b)
{
	struct way w;
	int err;

	err = find_way(&w, link, b->class);
	if (err)
		return err;
	if (sk_wmem_alloc_get(w.sk) > UDP_BUF)
		err = -EAGAIN;
	else if (b->nr_seg == 1 || !link->gso_on)
		err = send_single(&w, b);
	else if (!takes_batches(&w))
		err = -EIO;
	else
		err = send_whole(&w, b);
	dst_release(w.dst);
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
