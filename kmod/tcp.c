// SPDX-License-Identifier: GPL-2.0
/*
 * The tcp transport. A link has two connections, one for heartbeats and one
 * for the rest, so that heartbeats do not wait behind bulk data. The node with
 * the lower number connects. Each connection begins with a greeting that says
 * which link it belongs to; then come packets, each behind its length.
 */
#include "tcp.h"

#include <linux/in6.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "compat.h"
#include "batch.h"
#include "link.h"
#include "peer.h"

enum {
	TCP_GREETING = 0x484d4331,	/* "HMC1" */
	TCP_GREETING_LEN = 20,
	TCP_GREETING_MS = 500,
	TCP_CONNECT_MS = 2000,
	TCP_PACKET = 32768,
	TCP_QUEUE = 1 << 20,
	TCP_RETRY_MS = 500,
	TCP_PENDING = 32,
	TCP_BUDGET = 64,
};

enum conn_kind { CONN_CONTROL, CONN_BULK, CONN_KINDS };

/**
 * struct conn - one of the two connections of a link
 * @tl: the link's transport state
 * @kind: enum conn_kind
 * @sock: the connection, NULL: none; under tcp_link.mutex, read by callbacks
 *	through sk_user_data
 * @trying: the one that is being made, under tcp_link.mutex
 * @until: when it must be there, jiffies
 * @tx: sends what is queued
 * @rx: receives
 * @queue: packets with their length in front
 * @bytes: of @queue
 * @rx_skb: the packet that is being received
 * @rx_have: bytes of it, or of @rx_len while that is incomplete
 * @rx_len: its length as it came
 */
struct conn {
	struct tcp_link *tl;
	enum conn_kind kind;
	struct socket *sock;
	struct socket *trying;
	unsigned long until;
	struct work_struct tx;
	struct work_struct rx;
	struct sk_buff_head queue;
	atomic_t bytes;
	struct sk_buff *rx_skb;
	u32 rx_have;
	u8 rx_len[4];
};

/**
 * struct tcp_link - what a link has of this transport
 * @rcu: to free it
 * @ref: the link's, and one of each greeting that found it
 * @link: the link
 * @listener: where the peer connects to
 * @mutex: protects the sockets of @conn
 * @connect: makes the connections
 * @broken: closes them
 * @tried: when they were tried last
 * @begin: those that are not there are to be begun
 * @dead: the link goes
 * @conn: the connections
 */
struct tcp_link {
	struct rcu_head rcu;
	refcount_t ref;
	struct hcomm_link *link;
	struct listener *listener;
	struct mutex mutex;	/* sockets of @conn */
	struct work_struct connect;
	struct work_struct broken;
	unsigned long tried;
	bool begin;
	bool dead;
	struct conn conn[CONN_KINDS];
};

/**
 * struct listener - a listening socket that links share
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
struct listener {
	struct list_head list;
	struct hcomm_net *hn;
	struct socket *sock;
	union hcomm_addr local;
	int ifindex;
	u32 users;
	struct work_struct accept;
	spinlock_t lock;
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
	struct listener *ls;
	struct socket *sock;
	unsigned long until;
};

static struct workqueue_struct *tcp_wq;
/* Connections come and go here, so that they never hold up data. */
static struct workqueue_struct *conn_wq;
static LIST_HEAD(listeners);
static DEFINE_MUTEX(listeners_lock);

static int addr_len(const union hcomm_addr *a)
{
	return a->sa.sa_family == AF_INET6 ? sizeof(a->in6) : sizeof(a->in);
}

static void put_tcp_link(struct tcp_link *tl)
{
	if (refcount_dec_and_test(&tl->ref))
		kfree_rcu(tl, rcu);
}

static bool connects(const struct hcomm_link *link)
{
	return READ_ONCE(link->hn->conf.node) < link->peer->node;
}

static void conn_ready(struct sock *sk)
{
	struct conn *c;

	rcu_read_lock();
	c = rcu_dereference_sk_user_data(sk);
	if (c)
		queue_work(tcp_wq, &c->rx);
	rcu_read_unlock();
}

static void conn_space(struct sock *sk)
{
	struct conn *c;

	rcu_read_lock();
	c = rcu_dereference_sk_user_data(sk);
	if (c && sk_stream_is_writeable(sk))
		queue_work(tcp_wq, &c->tx);
	rcu_read_unlock();
}

static void conn_state(struct sock *sk)
{
	struct conn *c;

	rcu_read_lock();
	c = rcu_dereference_sk_user_data(sk);
	if (c && sk->sk_state != TCP_ESTABLISHED)
		queue_work(conn_wq, &c->tl->broken);
	rcu_read_unlock();
}

static void try_state(struct sock *sk)
{
	struct conn *c;

	rcu_read_lock();
	c = rcu_dereference_sk_user_data(sk);
	if (c)
		queue_work(conn_wq, &c->tl->connect);
	rcu_read_unlock();
}

static void set_callbacks(struct conn *c, struct socket *sock)
{
	struct sock *sk = sock->sk;

	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, c);
	sk->sk_data_ready = conn_ready;
	sk->sk_write_space = conn_space;
	sk->sk_state_change = conn_state;
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
}

/*
 * With a reset: the timers of a kernel's socket stop when it is closed, and a
 * FIN that is never acknowledged would keep it for ever. What was on its way
 * is the session's to send again.
 */
static void abort_sock(struct socket *sock)
{
	sock_no_linger(sock->sk);
	sock_release(sock);
}

/* After this no callback of the socket is running, nor will be. */
static void quiet_sock(struct socket *sock)
{
	struct sock *sk = sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
	synchronize_rcu();
}

static void close_sock(struct socket *sock)
{
	quiet_sock(sock);
	abort_sock(sock);
}

static void end_trying(struct conn *c)
{
	struct socket *sock = c->trying;

	lockdep_assert_held(&c->tl->mutex);
	if (!sock)
		return;
	c->trying = NULL;
	close_sock(sock);
}

static void close_conn(struct conn *c)
{
	struct socket *sock = c->sock;

	lockdep_assert_held(&c->tl->mutex);
	if (sock) {
		WRITE_ONCE(c->sock, NULL);
		close_sock(sock);
	}
	skb_queue_purge(&c->queue);
	atomic_set(&c->bytes, 0);
	kfree_skb(c->rx_skb);
	c->rx_skb = NULL;
	c->rx_have = 0;
}

static void set_socket(struct socket *sock)
{
	tcp_sock_set_nodelay(sock->sk);
	sock->sk->sk_allocation = GFP_NOFS | __GFP_NOWARN;
	/* What the kernel gave up on is noticed by heartbeats much earlier. */
	tcp_sock_set_user_timeout(sock->sk, 10000);
}

/* A connection works in both directions. */
static void install(struct conn *c, struct socket *sock)
{
	lockdep_assert_held(&c->tl->mutex);
	close_conn(c);
	set_socket(sock);
	WRITE_ONCE(c->sock, sock);
	set_callbacks(c, sock);
	/*
	 * Something may have come before the callbacks were there. Under the
	 * mutex: detach() sets dead under it before it cancels these.
	 */
	queue_work(tcp_wq, &c->rx);
	queue_work(tcp_wq, &c->tx);
}

static int send_greeting(struct hcomm_link *link, struct socket *sock,
			 enum conn_kind kind)
{
	u8 buf[TCP_GREETING_LEN];
	struct kvec kv = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	int n;

	put_unaligned_le32(TCP_GREETING, buf);
	put_unaligned_le32(READ_ONCE(link->hn->conf.node), buf + 4);
	put_unaligned_le32(link->peer->node, buf + 8);
	put_unaligned_le32(link->id, buf + 12);
	put_unaligned_le32(kind, buf + 16);
	n = kernel_sendmsg(sock, &msg, &kv, 1, sizeof(buf));
	return n == sizeof(buf) ? 0 : n < 0 ? n : -EPIPE;
}

/* Begins to connect; what becomes of it try_state() hears. */
static int begin_connect(struct conn *c)
{
	struct hcomm_link *link = c->tl->link;
	union hcomm_addr local = link->local;
	struct socket *sock;
	int err;

	err = sock_create_kern(link->hn->net, local.sa.sa_family, SOCK_STREAM,
			       IPPROTO_TCP, &sock);
	if (err)
		return err;
	sock->sk->sk_bound_dev_if = link->ifindex;
	/* Any port: the one of the link is the listener's. */
	if (local.sa.sa_family == AF_INET6)
		local.in6.sin6_port = 0;
	else
		local.in.sin_port = 0;
	err = kernel_bind(sock, &local.sa, addr_len(&local));
	if (err)
		goto err_abort;
	write_lock_bh(&sock->sk->sk_callback_lock);
	rcu_assign_sk_user_data(sock->sk, c);
	sock->sk->sk_state_change = try_state;
	write_unlock_bh(&sock->sk->sk_callback_lock);
	c->trying = sock;
	c->until = jiffies + msecs_to_jiffies(TCP_CONNECT_MS);
	err = kernel_connect(sock, &link->remote.sa, addr_len(&link->remote),
			     O_NONBLOCK);
	if (!err || err == -EINPROGRESS)
		return 0;
	end_trying(c);
	return err;

err_abort:
	abort_sock(sock);
	return err;
}

/* Goes on with a connection as far as it can go now. */
static void step_connect(struct conn *c, bool begin)
{
	struct socket *sock = c->trying;
	int state;

	lockdep_assert_held(&c->tl->mutex);
	if (!sock) {
		if (begin && !c->sock)
			begin_connect(c);
		return;
	}
	state = smp_load_acquire(&sock->sk->sk_state);
	if (state == TCP_ESTABLISHED) {
		if (send_greeting(c->tl->link, sock, c->kind)) {
			end_trying(c);
			return;
		}
		c->trying = NULL;
		install(c, sock);
	} else if (state != TCP_SYN_SENT || time_after(jiffies, c->until)) {
		end_trying(c);
	}
}

static void do_connect(struct work_struct *w)
{
	struct tcp_link *tl = container_of(w, struct tcp_link, connect);
	bool begin = xchg(&tl->begin, false);
	int kind;

	mutex_lock(&tl->mutex);
	for (kind = 0; kind < CONN_KINDS && !tl->dead; kind++)
		step_connect(&tl->conn[kind], begin);
	mutex_unlock(&tl->mutex);
}

static void do_broken(struct work_struct *w)
{
	struct tcp_link *tl = container_of(w, struct tcp_link, broken);
	bool any = false;
	int kind;

	mutex_lock(&tl->mutex);
	for (kind = 0; kind < CONN_KINDS; kind++) {
		if (tl->conn[kind].sock)
			any = true;
		close_conn(&tl->conn[kind]);
	}
	mutex_unlock(&tl->mutex);
	if (!any)
		return;
	hcomm_link_event(tl->link, HCOMM_LINK_EV_CONN_LOST);
	hcomm_link_event(tl->link, HCOMM_LINK_EV_RETRY);
}

/* Reads up to @len bytes; 0: none now, negative: the connection is over. */
static int read_some(struct socket *sock, void *p, u32 len)
{
	struct kvec kv = { .iov_base = p, .iov_len = len };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT };
	int n = kernel_recvmsg(sock, &msg, &kv, 1, len, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return 0;
	return n ? n : -ECONNRESET;
}

/* One step of receiving: 1: go on, 0: nothing there, else an error. */
static int receive_step(struct conn *c, struct socket *sock)
{
	struct sk_buff *skb = c->rx_skb;
	u32 len;
	int n;

	if (!skb) {
		n = read_some(sock, c->rx_len + c->rx_have, 4 - c->rx_have);
		if (n <= 0)
			return n;
		c->rx_have += n;
		if (c->rx_have < 4)
			return 1;
		len = get_unaligned_le32(c->rx_len);
		if (!len || len > TCP_PACKET)
			return -EBADMSG;
		skb = alloc_skb(len, GFP_KERNEL);
		if (!skb)
			return -ENOMEM;
		skb_put(skb, len);
		c->rx_skb = skb;
		c->rx_have = 0;
	}
	n = read_some(sock, skb->data + c->rx_have, skb->len - c->rx_have);
	if (n <= 0)
		return n;
	c->rx_have += n;
	if (c->rx_have < skb->len)
		return 1;
	c->rx_skb = NULL;
	c->rx_have = 0;
	local_bh_disable();
	rcu_read_lock();
	hcomm_link_receive_on(c->tl->link, skb, 0, skb->len);
	rcu_read_unlock();
	local_bh_enable();
	consume_skb(skb);
	return 1;
}

static void do_rx(struct work_struct *w)
{
	struct conn *c = container_of(w, struct conn, rx);
	struct tcp_link *tl = c->tl;
	u32 budget = TCP_BUDGET;
	int err = 0;

	mutex_lock(&tl->mutex);
	while (c->sock && budget--) {
		err = receive_step(c, c->sock);
		if (err <= 0)
			break;
	}
	mutex_unlock(&tl->mutex);
	rcu_read_lock();
	hcomm_link_receive_done(tl->link);
	rcu_read_unlock();
	if (err < 0)
		queue_work(conn_wq, &tl->broken);
	else if (err > 0)
		queue_work(tcp_wq, &c->rx);
}

/* Sends the first packet, or the rest of it; 0, -EAGAIN or an error. */
static int transmit_step(struct conn *c, struct sk_buff *skb)
{
	struct kvec kv = { .iov_base = skb->data, .iov_len = skb->len };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	int n;

	if (!skb_queue_empty_lockless(&c->queue))
		msg.msg_flags |= MSG_MORE;
	n = kernel_sendmsg(c->sock, &msg, &kv, 1, skb->len);
	if (n < 0)
		return n;
	atomic_sub(n, &c->bytes);
	if (n < skb->len) {
		skb_pull(skb, n);
		return -EAGAIN;
	}
	return 0;
}

static void do_tx(struct work_struct *w)
{
	struct conn *c = container_of(w, struct conn, tx);
	struct tcp_link *tl = c->tl;
	struct sk_buff *skb;
	int err = 0;

	mutex_lock(&tl->mutex);
	while (c->sock && (skb = skb_dequeue(&c->queue))) {
		err = transmit_step(c, skb);
		if (!err) {
			consume_skb(skb);
			continue;
		}
		if (err != -EAGAIN) {
			kfree_skb(skb);
			break;
		}
		skb_queue_head(&c->queue, skb);
		set_bit(SOCK_NOSPACE, &c->sock->flags);
		/* Room may have come between the attempt and the flag. */
		if (sk_stream_is_writeable(c->sock->sk))
			continue;
		break;
	}
	mutex_unlock(&tl->mutex);
	if (err && err != -EAGAIN)
		queue_work(conn_wq, &tl->broken);
	else if (atomic_read(&c->bytes) < TCP_QUEUE / 2)
		hcomm_link_kick(tl->link);
}

/* The link that a greeting names, if it may come from there; a reference. */
static struct tcp_link *find_link(struct listener *ls, const u8 *g,
				  const struct in6_addr *from)
{
	struct hcomm_net *hn = ls->hn;
	struct hcomm_link *link;
	struct hcomm_peer *peer;

	if (get_unaligned_le32(g) != TCP_GREETING ||
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
		    ipv6_addr_equal(&link->key.addr, from) && !connects(link) &&
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

/*
 * A connection that works is not given up for one that anybody at the peer's
 * address could make. What was queued on a broken one is sent again only if the
 * link is told, for the packets that were purged are never acknowledged.
 */
static bool take_over(struct conn *c, struct socket *sock)
{
	struct hcomm_link *link = c->tl->link;
	bool old = c->sock;

	lockdep_assert_held(&c->tl->mutex);
	if (c->tl->dead || (old && hcomm_link_usable(link)))
		return false;
	install(c, sock);
	if (old) {
		hcomm_link_event(link, HCOMM_LINK_EV_CONN_LOST);
		hcomm_link_event(link, HCOMM_LINK_EV_RETRY);
	}
	return true;
}

/* Takes over the connection, in one way or another. */
static void greeted(struct listener *ls, struct socket *sock, const u8 *buf)
{
	u32 kind = get_unaligned_le32(buf + 16);
	struct tcp_link *tl = NULL;
	struct in6_addr from;

	if (kind < CONN_KINDS && remote_addr(sock, &from)) {
		rcu_read_lock();
		tl = find_link(ls, buf, &from);
		rcu_read_unlock();
	}
	if (!tl)
		goto refuse;
	mutex_lock(&tl->mutex);
	if (take_over(&tl->conn[kind], sock))
		sock = NULL;
	mutex_unlock(&tl->mutex);
	put_tcp_link(tl);
	if (!sock)
		return;
refuse:
	hcomm_count(ls->hn, rx_unknown);
	abort_sock(sock);
}

/* The greeting, or the first of all; whoever gets it ends it. */
static struct greeting *take_greeting(struct listener *ls, struct greeting *g)
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
	u8 buf[TCP_GREETING_LEN];
	struct kvec kv = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr msg = {};
	unsigned long now = jiffies;
	int n;

	/* All of it or nothing. */
	n = kernel_recvmsg(g->sock, &msg, &kv, 1, sizeof(buf),
			   MSG_PEEK | MSG_DONTWAIT);
	if ((n == -EAGAIN || (n > 0 && n < sizeof(buf))) &&
	    time_before(now, g->until)) {
		queue_delayed_work(conn_wq, &g->work, g->until - now);
		return;
	}
	if (!take_greeting(g->ls, g))
		return;
	quiet_sock(g->sock);
	/* The callback may have queued it meanwhile. */
	cancel_delayed_work(&g->work);
	iov_iter_kvec(&msg.msg_iter, ITER_DEST, &kv, 1, sizeof(buf));
	if (n == sizeof(buf))
		n = sock_recvmsg(g->sock, &msg, MSG_DONTWAIT);
	if (n == sizeof(buf)) {
		greeted(g->ls, g->sock, buf);
	} else {
		hcomm_count(g->ls->hn, rx_unknown);
		abort_sock(g->sock);
	}
	kfree(g);
}

static void greeting_ready(struct sock *sk)
{
	struct greeting *g;

	rcu_read_lock();
	g = rcu_dereference_sk_user_data(sk);
	if (g)
		mod_delayed_work(conn_wq, &g->work, 0);
	rcu_read_unlock();
}

static bool expect_greeting(struct listener *ls, struct socket *sock)
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
	mod_delayed_work(conn_wq, &g->work, 0);
	return true;
}

static void do_accept_conns(struct work_struct *w)
{
	struct listener *ls = container_of(w, struct listener, accept);
	struct socket *sock;

	while (!kernel_accept(ls->sock, &sock, O_NONBLOCK))
		if (!expect_greeting(ls, sock)) {
			hcomm_count(ls->hn, rx_unknown);
			abort_sock(sock);
		}
}

static void listener_ready(struct sock *sk)
{
	struct listener *ls;

	rcu_read_lock();
	ls = rcu_dereference_sk_user_data(sk);
	/* An accepted socket inherits the callback before it has its own. */
	if (ls && sk->sk_state == TCP_LISTEN)
		queue_work(conn_wq, &ls->accept);
	rcu_read_unlock();
}

static int open_listener(struct listener *ls, struct netlink_ext_ack *extack)
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
	err = kernel_bind(sock, &ls->local.sa, addr_len(&ls->local));
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

static bool same_local(const struct listener *ls, const struct hcomm_link *link)
{
	return ls->hn == link->hn && ls->ifindex == link->ifindex &&
	       !memcmp(&ls->local, &link->local, addr_len(&ls->local));
}

static struct listener *get_listener(struct hcomm_link *link,
				     struct netlink_ext_ack *extack)
{
	struct listener *ls;
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

static void end_greetings(struct listener *ls)
{
	struct greeting *g;

	while ((g = take_greeting(ls, NULL))) {
		quiet_sock(g->sock);
		cancel_delayed_work_sync(&g->work);
		abort_sock(g->sock);
		kfree(g);
	}
	/* Those that are being ended by their own work; they wait for nobody. */
	flush_workqueue(conn_wq);
}

static void put_listener(struct listener *ls)
{
	bool last;

	mutex_lock(&listeners_lock);
	last = !--ls->users;
	if (last)
		list_del(&ls->list);
	mutex_unlock(&listeners_lock);
	if (!last)
		return;
	quiet_sock(ls->sock);
	cancel_work_sync(&ls->accept);
	end_greetings(ls);
	sock_release(ls->sock);
	kfree(ls);
}

static int attach(struct hcomm_link *link, struct netlink_ext_ack *extack)
{
	struct tcp_link *tl = kzalloc(sizeof(*tl), GFP_KERNEL_ACCOUNT);
	int kind;

	if (!tl)
		return -ENOMEM;
	refcount_set(&tl->ref, 1);
	tl->link = link;
	mutex_init(&tl->mutex);
	INIT_WORK(&tl->connect, do_connect);
	INIT_WORK(&tl->broken, do_broken);
	tl->tried = jiffies - msecs_to_jiffies(TCP_RETRY_MS);
	for (kind = 0; kind < CONN_KINDS; kind++) {
		struct conn *c = &tl->conn[kind];

		c->tl = tl;
		c->kind = kind;
		INIT_WORK(&c->tx, do_tx);
		INIT_WORK(&c->rx, do_rx);
		skb_queue_head_init(&c->queue);
	}
	tl->listener = get_listener(link, extack);
	if (IS_ERR(tl->listener)) {
		int err = PTR_ERR(tl->listener);

		kfree(tl);
		return err;
	}
	link->tp = tl;
	return 0;
}

static void detach(struct hcomm_link *link)
{
	struct tcp_link *tl = link->tp;
	int kind;

	mutex_lock(&tl->mutex);
	WRITE_ONCE(tl->dead, true);
	for (kind = 0; kind < CONN_KINDS; kind++) {
		end_trying(&tl->conn[kind]);
		close_conn(&tl->conn[kind]);
	}
	mutex_unlock(&tl->mutex);
	/* Whoever sends does so under RCU, and the link is down by now. */
	synchronize_rcu();
	cancel_work_sync(&tl->connect);
	for (kind = 0; kind < CONN_KINDS; kind++) {
		cancel_work_sync(&tl->conn[kind].tx);
		cancel_work_sync(&tl->conn[kind].rx);
		skb_queue_purge(&tl->conn[kind].queue);
	}
	cancel_work_sync(&tl->broken);
	put_listener(tl->listener);
	put_tcp_link(tl);
}

static void try_connect(struct tcp_link *tl)
{
	if (!connects(tl->link) ||
	    time_before(jiffies, tl->tried + msecs_to_jiffies(TCP_RETRY_MS)))
		return;
	tl->tried = jiffies;
	/* Not when one fails: that would be again and again without a pause. */
	xchg(&tl->begin, true);
	queue_work(conn_wq, &tl->connect);
}

static struct sk_buff *make_skb(struct hcomm_batch_iter *i, u32 len)
{
	struct sk_buff *skb;

	skb = alloc_skb(len + 4, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	put_unaligned_le32(len, skb_put(skb, 4));
	hcomm_batch_take(i, skb_put(skb, len), len);
	return skb;
}

static int send(struct hcomm_link *link, struct hcomm_batch *b)
{
	struct tcp_link *tl = link->tp;
	struct conn *c = &tl->conn[b->class == HCOMM_CLASS_CONTROL ?
				   CONN_CONTROL : CONN_BULK];
	struct sk_buff_head list;
	struct hcomm_batch_iter i;
	struct sk_buff *skb;
	u32 len;

	if (!READ_ONCE(c->sock)) {
		try_connect(tl);
		/* A heartbeat that goes nowhere is not answered: that is all. */
		return b->class == HCOMM_CLASS_CONTROL ? 0 : -EAGAIN;
	}
	if (atomic_read(&c->bytes) > TCP_QUEUE)
		return -EAGAIN;
	__skb_queue_head_init(&list);
	hcomm_batch_begin(b, &i);
	while ((len = hcomm_batch_next(&i))) {
		skb = make_skb(&i, len);
		if (!skb) {
			__skb_queue_purge(&list);
			return -ENOMEM;
		}
		__skb_queue_tail(&list, skb);
	}
	atomic_add(b->bytes + 4 * b->nr_seg, &c->bytes);
	spin_lock(&c->queue.lock);
	skb_queue_splice_tail(&list, &c->queue);
	spin_unlock(&c->queue.lock);
	queue_work(tcp_wq, &c->tx);
	return 0;
}

static bool room(struct hcomm_link *link)
{
	struct tcp_link *tl = link->tp;

	return atomic_read(&tl->conn[CONN_BULK].bytes) < TCP_QUEUE / 2;
}

static u32 max_packet(struct hcomm_link *link)
{
	return TCP_PACKET;
}

static const struct hcomm_transport tcp_transport = {
	.name = "tcp",
	.type = HCOMM_TRANSPORT_TCP,
	.reliable = true,
	.attach = attach,
	.detach = detach,
	.send = send,
	.room = room,
	.max_packet = max_packet,
};

int hcomm_tcp_init(void)
{
	int err = -ENOMEM;

	tcp_wq = alloc_workqueue("hcomm_tcp", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!tcp_wq)
		return -ENOMEM;
	conn_wq = alloc_workqueue("hcomm_tcp_conn", WQ_UNBOUND, 0);
	if (!conn_wq)
		goto err_tcp_wq;
	err = hcomm_transport_register(&tcp_transport);
	if (err)
		goto err_conn_wq;
	return 0;

err_conn_wq:
	destroy_workqueue(conn_wq);
err_tcp_wq:
	destroy_workqueue(tcp_wq);
	return err;
}

void hcomm_tcp_exit(void)
{
	hcomm_transport_unregister(&tcp_transport);
	destroy_workqueue(conn_wq);
	destroy_workqueue(tcp_wq);
}
