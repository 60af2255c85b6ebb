// SPDX-License-Identifier: GPL-2.0
/*
 * The tcp transport. A link has two connections, one for heartbeats and one
 * for the rest, so that heartbeats do not wait behind bulk data. The node with
 * the lower number connects. Each connection begins with a greeting that says
 * which link it belongs to; then come packets, each behind its length.
 */
#include "tcp.h"

#include <linux/in6.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "batch.h"
#include "compat.h"
#include "link.h"
#include "peer.h"
#include "tcp_conn.h"

enum {
	TCP_CONNECT_MS = 2000,
	TCP_RETRY_MS = 500,
};

struct workqueue_struct *hcomm_tcp_wq;

void hcomm_tcp_link_put(struct tcp_link *tl)
{
	if (refcount_dec_and_test(&tl->ref))
		kfree_rcu(tl, rcu);
}

/* Of two nodes only one connects. */
bool hcomm_tcp_connects(const struct hcomm_link *link)
{
	return READ_ONCE(link->hn->conf.node) < link->peer->node;
}

static void try_state(struct sock *sk)
{
	struct tcp_conn *c;

	rcu_read_lock();
	c = rcu_dereference_sk_user_data(sk);
	if (c)
		queue_work(hcomm_tcp_wq, &c->tl->connect);
	rcu_read_unlock();
}

static void end_trying(struct tcp_conn *c)
{
	struct socket *sock = c->trying;

	lockdep_assert_held(&c->tl->mutex);
	c->trying = NULL;
	hcomm_tcp_quiet(sock);
	synchronize_rcu();
	hcomm_tcp_abort(sock);
}

static int send_greeting(struct hcomm_link *link, struct socket *sock,
			 enum tcp_conn_kind kind)
{
	u8 buf[HCOMM_TCP_GREETING_LEN];
	struct kvec kv = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	int n;

	put_unaligned_le32(HCOMM_TCP_GREETING, buf);
	put_unaligned_le32(READ_ONCE(link->hn->conf.node), buf + 4);
	put_unaligned_le32(link->peer->node, buf + 8);
	put_unaligned_le32(link->id, buf + 12);
	put_unaligned_le32(kind, buf + 16);
	n = kernel_sendmsg(sock, &msg, &kv, 1, sizeof(buf));
	return n == sizeof(buf) ? 0 : n < 0 ? n : -EPIPE;
}

/* Begins to connect; what becomes of it try_state() hears. */
static int begin_connect(struct tcp_conn *c)
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
	err = kernel_bind(sock, &local.sa, hcomm_tcp_addr_len(&local));
	if (err)
		goto err_abort;
	write_lock_bh(&sock->sk->sk_callback_lock);
	rcu_assign_sk_user_data(sock->sk, c);
	sock->sk->sk_state_change = try_state;
	write_unlock_bh(&sock->sk->sk_callback_lock);
	c->trying = sock;
	c->until = jiffies + msecs_to_jiffies(TCP_CONNECT_MS);
	err = kernel_connect(sock, &link->remote.sa,
			     hcomm_tcp_addr_len(&link->remote), O_NONBLOCK);
	if (!err || err == -EINPROGRESS)
		return 0;
	end_trying(c);
	return err;

err_abort:
	hcomm_tcp_abort(sock);
	return err;
}

/* Goes on with a connection as far as it can go now. */
static void step_connect(struct tcp_conn *c, bool begin)
{
	struct socket *sock = c->trying;
	int state;

	lockdep_assert_held(&c->tl->mutex);
	if (!sock) {
		if (begin && !c->sock)
			begin_connect(c);
		return;
	}
	state = inet_sk_state_load(sock->sk);
	if (state == TCP_ESTABLISHED) {
		if (send_greeting(c->tl->link, sock, c->kind)) {
			end_trying(c);
			return;
		}
		c->trying = NULL;
		hcomm_tcp_install(c, sock);
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
	for (kind = 0; kind < TCP_CONN_KINDS && !tl->dead; kind++)
		step_connect(&tl->conn[kind], begin);
	mutex_unlock(&tl->mutex);
}

static void do_broken(struct work_struct *w)
{
	struct tcp_link *tl = container_of(w, struct tcp_link, broken);
	bool any;

	mutex_lock(&tl->mutex);
	any = hcomm_tcp_close(tl, false);
	mutex_unlock(&tl->mutex);
	if (!any)
		return;
	hcomm_link_event(tl->link, HCOMM_LINK_EV_CONN_LOST);
	hcomm_link_event(tl->link, HCOMM_LINK_EV_RETRY);
}

/*
 * A connection that works is not given up for one that anybody at the peer's
 * address could make. What was queued on a broken one is sent again only if the
 * link is told, for the packets that were purged are never acknowledged.
 */
bool hcomm_tcp_take_over(struct tcp_conn *c, struct socket *sock)
{
	struct hcomm_link *link = c->tl->link;
	bool old = c->sock;

	lockdep_assert_held(&c->tl->mutex);
	if (c->tl->dead || (old && hcomm_link_usable(link)))
		return false;
	hcomm_tcp_install(c, sock);
	if (old) {
		hcomm_link_event(link, HCOMM_LINK_EV_CONN_LOST);
		hcomm_link_event(link, HCOMM_LINK_EV_RETRY);
	}
	return true;
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
	for (kind = 0; kind < TCP_CONN_KINDS; kind++)
		hcomm_tcp_conn_setup(&tl->conn[kind], tl, kind);
	tl->listener = hcomm_tcp_listen(link, extack);
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
	/* Waits for all who send: they do so under RCU, and the link is down. */
	hcomm_tcp_close(tl, true);
	mutex_unlock(&tl->mutex);
	cancel_work_sync(&tl->connect);
	for (kind = 0; kind < TCP_CONN_KINDS; kind++)
		hcomm_tcp_conn_cancel(&tl->conn[kind]);
	cancel_work_sync(&tl->broken);
	hcomm_tcp_unlisten(tl->listener);
	hcomm_tcp_link_put(tl);
}

static void try_connect(struct tcp_link *tl)
{
	if (!hcomm_tcp_connects(tl->link) ||
	    time_before(jiffies, tl->tried + msecs_to_jiffies(TCP_RETRY_MS)))
		return;
	tl->tried = jiffies;
	/* Not when one fails: that would be again and again without a pause. */
	xchg(&tl->begin, true);
	queue_work(hcomm_tcp_wq, &tl->connect);
}

static int send(struct hcomm_link *link, struct hcomm_batch *b)
{
	struct tcp_link *tl = link->tp;
	bool control = b->class == HCOMM_CLASS_CONTROL;
	int err;

	err = hcomm_tcp_send(&tl->conn[control ? TCP_CONN_CONTROL :
						 TCP_CONN_BULK], b);
	if (err != -ENOTCONN)
		return err;
	try_connect(tl);
	/* A heartbeat that goes nowhere is not answered: that is all. */
	return control ? 0 : -EAGAIN;
}

static bool room(struct hcomm_link *link)
{
	struct tcp_link *tl = link->tp;

	return hcomm_tcp_room(&tl->conn[TCP_CONN_BULK]);
}

static u32 max_packet(struct hcomm_link *link)
{
	return HCOMM_TCP_PACKET;
}

static const struct hcomm_transport tcp_transport = {
	.name = "tcp",
	.type = HCOMM_TRANSPORT_TCP,
	.reliable = true,
	.max_batch = HCOMM_TCP_BATCH,
	.attach = attach,
	.detach = detach,
	.send = send,
	.room = room,
	.max_packet = max_packet,
};

int hcomm_tcp_init(void)
{
	int err;

	hcomm_tcp_wq = alloc_workqueue("hcomm_tcp", WQ_UNBOUND, 0);
	if (!hcomm_tcp_wq)
		return -ENOMEM;
	err = hcomm_tcp_conn_init();
	if (err)
		goto err_wq;
	err = hcomm_transport_register(&tcp_transport);
	if (err)
		goto err_conn;
	return 0;

err_conn:
	hcomm_tcp_conn_exit();
err_wq:
	destroy_workqueue(hcomm_tcp_wq);
	return err;
}

void hcomm_tcp_exit(void)
{
	hcomm_transport_unregister(&tcp_transport);
	hcomm_tcp_conn_exit();
	destroy_workqueue(hcomm_tcp_wq);
}
