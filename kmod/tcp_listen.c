// SPDX-License-Identifier: GPL-2.0
/* The tcp transport: who connects to this node, and for which link. */
#include "tcp_conn.h"

#include <linux/in6.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "compat.h"
#include "link.h"
#include "peer.h"

enum {
	TCP_GREETING_MS = 500,
	TCP_PENDING = 32,
};

/**
 * struct tcp_listener - a listening socket that links share
 * @list: in the list of all, under listeners_lock
 * @hn: namespace
 * @sock: the socket
 * @local: its address
 * @ifindex: its device
 * @users: links
 * @accept: takes connections
 * @lock: protects @greetings and @pending
 * @greetings: connections that have not said yet what they are for
 * @pending: how many they are
 */
struct tcp_listener {
	struct list_head list;
	struct hcomm_net *hn;
	struct socket *sock;
	union hcomm_addr local;
	int ifindex;
	u32 users;
	struct work_struct accept;
	spinlock_t lock;	/* @greetings, @pending */
	struct list_head greetings;
	u32 pending;
};

/**
 * struct greeting - a connection that has not said yet what it is for
 * @list: in listener.greetings; whoever takes it out ends it
 * @work: reads the greeting when it came, or finds out that it did not
 * @ls: where it came in
 * @sock: the connection
 * @until: when it must have come, jiffies
 */
struct greeting {
	struct list_head list;
	struct delayed_work work;
	struct tcp_listener *ls;
	struct socket *sock;
	unsigned long until;
};

static LIST_HEAD(listeners);
static DEFINE_MUTEX(listeners_lock);

/* The link that a greeting names, if it may come from there; a reference. */
static struct tcp_link *find_link(struct tcp_listener *ls, const u8 *g,
				  const struct in6_addr *from)
{
	struct hcomm_net *hn = ls->hn;
	struct hcomm_link *link;
	struct hcomm_peer *peer;

	if (get_unaligned_le32(g) != HCOMM_TCP_GREETING ||
	    get_unaligned_le32(g + 8) != READ_ONCE(hn->conf.node))
		return NULL;
	peer = hcomm_peer_find(hn, get_unaligned_le32(g + 4));
	if (!peer)
		return NULL;
	list_for_each_entry_rcu(link, &peer->links, peer_node) {
		struct tcp_link *tl = link->tp;

		if (link->id == get_unaligned_le32(g + 12) &&
		    link->transport->type == HCOMM_TRANSPORT_TCP &&
		    !READ_ONCE(link->dead) && tl->listener == ls &&
		    ipv6_addr_equal(&link->key.addr, from) &&
		    !hcomm_tcp_connects(link) &&
		    refcount_inc_not_zero(&tl->ref))
			return tl;
	}
	return NULL;
}

static bool remote_addr(struct socket *sock, struct in6_addr *a)
{
	union hcomm_addr r = {};

	if (kernel_getpeername(sock, &r.sa) < 0)
		return false;
	if (r.sa.sa_family == AF_INET6)
		*a = r.in6.sin6_addr;
	else
		ipv6_addr_set_v4mapped(r.in.sin_addr.s_addr, a);
	return true;
}

/* Strangers are not even listened to. */
static bool known_remote(struct hcomm_net *hn, const struct in6_addr *a)
{
	struct hcomm_peer *peer;
	struct hcomm_link *link;
	bool known = false;

	rcu_read_lock();
	list_for_each_entry_rcu(peer, &hn->peer_list, list)
		list_for_each_entry_rcu(link, &peer->links, peer_node)
			known |= ipv6_addr_equal(&link->key.addr, a);
	rcu_read_unlock();
	return known;
}

/* Takes over the connection, in one way or another. */
static void greeted(struct tcp_listener *ls, struct socket *sock, const u8 *buf)
{
	u32 kind = get_unaligned_le32(buf + 16);
	struct tcp_link *tl = NULL;
	struct in6_addr from;

	if (kind < TCP_CONN_KINDS && remote_addr(sock, &from)) {
		rcu_read_lock();
		tl = find_link(ls, buf, &from);
		rcu_read_unlock();
	}
	if (!tl)
		goto refuse;
	mutex_lock(&tl->mutex);
	if (hcomm_tcp_take_over(&tl->conn[kind], sock))
		sock = NULL;
	mutex_unlock(&tl->mutex);
	hcomm_tcp_link_put(tl);
	if (!sock)
		return;
refuse:
	hcomm_count(ls->hn, rx_unknown);
	hcomm_tcp_abort(sock);
}

/* The greeting, or the first of all; whoever gets it ends it. */
static struct greeting *take_greeting(struct tcp_listener *ls,
				      struct greeting *g)
{
	spin_lock(&ls->lock);
	if (!g)
		g = list_first_entry_or_null(&ls->greetings, struct greeting,
					     list);
	else if (list_empty(&g->list))
		g = NULL;
	if (g) {
		list_del_init(&g->list);
		ls->pending--;
	}
	spin_unlock(&ls->lock);
	return g;
}

static void do_greeting(struct work_struct *w)
{
	struct greeting *g = container_of(to_delayed_work(w), struct greeting,
					  work);
	u8 buf[HCOMM_TCP_GREETING_LEN];
	struct kvec kv = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr msg = {};
	unsigned long now = jiffies;
	int n;

	/* All of it or nothing. */
	n = kernel_recvmsg(g->sock, &msg, &kv, 1, sizeof(buf),
			   MSG_PEEK | MSG_DONTWAIT);
	if ((n == -EAGAIN || (n > 0 && n < sizeof(buf))) &&
	    time_before(now, g->until)) {
		queue_delayed_work(hcomm_tcp_wq, &g->work, g->until - now);
		return;
	}
	if (!take_greeting(g->ls, g))
		return;
	hcomm_tcp_quiet(g->sock);
	synchronize_rcu();
	/* The callback may have queued it meanwhile. */
	cancel_delayed_work(&g->work);
	iov_iter_kvec(&msg.msg_iter, ITER_DEST, &kv, 1, sizeof(buf));
	if (n == sizeof(buf))
		n = sock_recvmsg(g->sock, &msg, MSG_DONTWAIT);
	if (n == sizeof(buf)) {
		greeted(g->ls, g->sock, buf);
	} else {
		hcomm_count(g->ls->hn, rx_unknown);
		hcomm_tcp_abort(g->sock);
	}
	kfree(g);
}

static void greeting_ready(struct sock *sk)
{
	struct greeting *g;

	rcu_read_lock();
	g = rcu_dereference_sk_user_data(sk);
	if (g)
		mod_delayed_work(hcomm_tcp_wq, &g->work, 0);
	rcu_read_unlock();
}

static bool expect_greeting(struct tcp_listener *ls, struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct in6_addr from;
	struct greeting *g;
	bool ok;

	if (!remote_addr(sock, &from) || !known_remote(ls->hn, &from))
		return false;
	g = kmalloc(sizeof(*g), GFP_KERNEL);
	if (!g)
		return false;
	g->ls = ls;
	g->sock = sock;
	g->until = jiffies + msecs_to_jiffies(TCP_GREETING_MS);
	INIT_DELAYED_WORK(&g->work, do_greeting);
	spin_lock(&ls->lock);
	ok = ls->pending < TCP_PENDING;
	if (ok) {
		ls->pending++;
		list_add(&g->list, &ls->greetings);
	}
	spin_unlock(&ls->lock);
	if (!ok) {
		kfree(g);
		return false;
	}
	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, g);
	/* It inherited that of the listener. */
	sk->sk_data_ready = greeting_ready;
	write_unlock_bh(&sk->sk_callback_lock);
	/* It may be there already. */
	mod_delayed_work(hcomm_tcp_wq, &g->work, 0);
	return true;
}

static void do_accept_conns(struct work_struct *w)
{
	struct tcp_listener *ls = container_of(w, struct tcp_listener, accept);
	struct socket *sock;

	while (!kernel_accept(ls->sock, &sock, O_NONBLOCK))
		if (!expect_greeting(ls, sock)) {
			hcomm_count(ls->hn, rx_unknown);
			hcomm_tcp_abort(sock);
		}
}

static void listener_ready(struct sock *sk)
{
	struct tcp_listener *ls;

	rcu_read_lock();
	ls = rcu_dereference_sk_user_data(sk);
	/* An accepted socket inherits the callback before it has its own. */
	if (ls && sk->sk_state == TCP_LISTEN)
		queue_work(hcomm_tcp_wq, &ls->accept);
	rcu_read_unlock();
}

static int open_listener(struct tcp_listener *ls,
			 struct netlink_ext_ack *extack)
{
	struct socket *sock;
	int err;

	err = sock_create_kern(ls->hn->net, ls->local.sa.sa_family, SOCK_STREAM,
			       IPPROTO_TCP, &sock);
	if (err)
		return err;
	sock_set_reuseaddr(sock->sk);
	if (ls->local.sa.sa_family == AF_INET6)
		ip6_sock_set_v6only(sock->sk);
	sock->sk->sk_bound_dev_if = ls->ifindex;
	err = kernel_bind(sock, &ls->local.sa, hcomm_tcp_addr_len(&ls->local));
	if (err) {
		if (err == -EADDRNOTAVAIL)
			NL_SET_ERR_MSG(extack,
				       "local address is not of this host");
		else if (err == -EADDRINUSE)
			NL_SET_ERR_MSG(extack,
				       "local address and port are in use");
		goto err_release;
	}
	ls->sock = sock;
	write_lock_bh(&sock->sk->sk_callback_lock);
	/* Not for the sockets that it accepts. */
	__rcu_assign_sk_user_data_with_flags(sock->sk, ls, SK_USER_DATA_NOCOPY);
	sock->sk->sk_data_ready = listener_ready;
	write_unlock_bh(&sock->sk->sk_callback_lock);
	err = kernel_listen(sock, TCP_PENDING);
	if (err)
		goto err_release;
	return 0;

err_release:
	sock_release(sock);
	return err;
}

static bool same_local(const struct tcp_listener *ls,
		       const struct hcomm_link *link)
{
	return ls->hn == link->hn && ls->ifindex == link->ifindex &&
	       !memcmp(&ls->local, &link->local, hcomm_tcp_addr_len(&ls->local));
}

struct tcp_listener *hcomm_tcp_listen(struct hcomm_link *link,
				      struct netlink_ext_ack *extack)
{
	struct tcp_listener *ls;
	int err;

	mutex_lock(&listeners_lock);
	list_for_each_entry(ls, &listeners, list)
		if (same_local(ls, link)) {
			ls->users++;
			goto out;
		}
	ls = kzalloc(sizeof(*ls), GFP_KERNEL_ACCOUNT);
	if (!ls) {
		ls = ERR_PTR(-ENOMEM);
		goto out;
	}
	ls->hn = link->hn;
	ls->local = link->local;
	ls->ifindex = link->ifindex;
	ls->users = 1;
	spin_lock_init(&ls->lock);
	INIT_LIST_HEAD(&ls->greetings);
	INIT_WORK(&ls->accept, do_accept_conns);
	err = open_listener(ls, extack);
	if (err) {
		kfree(ls);
		ls = ERR_PTR(err);
		goto out;
	}
	list_add(&ls->list, &listeners);
out:
	mutex_unlock(&listeners_lock);
	return ls;
}

static void end_greetings(struct tcp_listener *ls)
{
	struct greeting *g;

	while ((g = take_greeting(ls, NULL))) {
		hcomm_tcp_quiet(g->sock);
		synchronize_rcu();
		cancel_delayed_work_sync(&g->work);
		hcomm_tcp_abort(g->sock);
		kfree(g);
	}
	/* Those that are being ended by their own work; they wait for nobody. */
	flush_workqueue(hcomm_tcp_wq);
}

void hcomm_tcp_unlisten(struct tcp_listener *ls)
{
	bool last;

	mutex_lock(&listeners_lock);
	last = !--ls->users;
	if (last)
		list_del(&ls->list);
	mutex_unlock(&listeners_lock);
	if (!last)
		return;
	hcomm_tcp_quiet(ls->sock);
	synchronize_rcu();
	cancel_work_sync(&ls->accept);
	end_greetings(ls);
	sock_release(ls->sock);
	kfree(ls);
}

