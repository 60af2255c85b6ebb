// SPDX-License-Identifier: GPL-2.0
/* The tcp transport: connections that are made, and what goes over them. */
#include "tcp_conn.h"

#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "compat.h"
#include "batch.h"
#include "link.h"

enum {
	TCP_PACKET = 32768,
	TCP_QUEUE = 1 << 20,
	TCP_BUDGET = 64,
};

static struct workqueue_struct *tcp_wq;

static void conn_ready(struct sock *sk)
{
	struct tcp_conn *c;

	rcu_read_lock();
	c = rcu_dereference_sk_user_data(sk);
	if (c)
		queue_work(tcp_wq, &c->rx);
	rcu_read_unlock();
}

static void conn_space(struct sock *sk)
{
	struct tcp_conn *c;

	rcu_read_lock();
	c = rcu_dereference_sk_user_data(sk);
	if (c && sk_stream_is_writeable(sk))
		queue_work(tcp_wq, &c->tx);
	rcu_read_unlock();
}

static void conn_state(struct sock *sk)
{
	struct tcp_conn *c;

	rcu_read_lock();
	c = rcu_dereference_sk_user_data(sk);
	if (c && sk->sk_state != TCP_ESTABLISHED)
		queue_work(hcomm_tcp_wq, &c->tl->broken);
	rcu_read_unlock();
}

static void set_callbacks(struct tcp_conn *c, struct socket *sock)
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

/* Forgets what was on its way; nobody uses the connection any more. */
static void reset(struct tcp_conn *c)
{
	skb_queue_purge(&c->queue);
	atomic_set(&c->bytes, 0);
	kfree_skb(c->rx_skb);
	c->rx_skb = NULL;
	c->rx_have = 0;
}

/**
 * hcomm_tcp_close - close both connections of a link
 * @tl: link
 * @trying: also those that are being made
 *
 * Waits for a grace period, once for all. Return: there was one.
 */
bool hcomm_tcp_close(struct tcp_link *tl, bool trying)
{
	struct socket *gone[2 * TCP_CONN_KINDS];
	u32 nr = 0, made, i;
	int kind;

	lockdep_assert_held(&tl->mutex);
	for (kind = 0; kind < TCP_CONN_KINDS; kind++)
		if (tl->conn[kind].sock) {
			gone[nr++] = tl->conn[kind].sock;
			WRITE_ONCE(tl->conn[kind].sock, NULL);
		}
	made = nr;
	for (kind = 0; trying && kind < TCP_CONN_KINDS; kind++)
		if (tl->conn[kind].trying) {
			gone[nr++] = tl->conn[kind].trying;
			tl->conn[kind].trying = NULL;
		}
	for (i = 0; i < nr; i++)
		hcomm_tcp_quiet(gone[i]);
	hcomm_link_wait(tl->link);
	for (i = 0; i < nr; i++)
		hcomm_tcp_abort(gone[i]);
	for (kind = 0; kind < TCP_CONN_KINDS; kind++)
		reset(&tl->conn[kind]);
	return made;
}

static void close_one(struct tcp_conn *c)
{
	struct socket *sock = c->sock;

	if (!sock)
		return;
	WRITE_ONCE(c->sock, NULL);
	hcomm_tcp_quiet(sock);
	synchronize_rcu();
	hcomm_tcp_abort(sock);
	reset(c);
}

static void set_socket(struct socket *sock)
{
	tcp_sock_set_nodelay(sock->sk);
	sock->sk->sk_allocation = GFP_NOFS | __GFP_NOWARN;
	/* What the kernel gave up on is noticed by heartbeats much earlier. */
	tcp_sock_set_user_timeout(sock->sk, 10000);
}

/* A connection works in both directions. */
void hcomm_tcp_install(struct tcp_conn *c, struct socket *sock)
{
	lockdep_assert_held(&c->tl->mutex);
	close_one(c);
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
static int receive_step(struct tcp_conn *c, struct socket *sock)
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
	hcomm_link_receive_on(c->tl->link, skb, 0, skb->len, skb->len);
	rcu_read_unlock();
	local_bh_enable();
	consume_skb(skb);
	return 1;
}

static void do_rx(struct work_struct *w)
{
	struct tcp_conn *c = container_of(w, struct tcp_conn, rx);
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
		queue_work(hcomm_tcp_wq, &tl->broken);
	else if (err > 0)
		queue_work(tcp_wq, &c->rx);
}

/* Sends the first packet, or the rest of it; 0, -EAGAIN or an error. */
static int transmit_step(struct tcp_conn *c, struct sk_buff *skb)
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
	struct tcp_conn *c = container_of(w, struct tcp_conn, tx);
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
		queue_work(hcomm_tcp_wq, &tl->broken);
	else if (atomic_read(&c->bytes) < TCP_QUEUE / 2)
		hcomm_link_kick(tl->link);
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

/* Under RCU, bottom halves off; -ENOTCONN: there is no connection. */
int hcomm_tcp_send(struct tcp_conn *c, struct hcomm_batch *b)
{
	struct sk_buff_head list;
	struct hcomm_batch_iter i;
	struct sk_buff *skb;
	u32 len;

	if (!READ_ONCE(c->sock))
		return -ENOTCONN;
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

bool hcomm_tcp_room(struct tcp_conn *c)
{
	return atomic_read(&c->bytes) < TCP_QUEUE / 2;
}

u32 hcomm_tcp_max_packet(void)
{
	return TCP_PACKET;
}

void hcomm_tcp_conn_setup(struct tcp_conn *c, struct tcp_link *tl,
			  enum tcp_conn_kind kind)
{
	c->tl = tl;
	c->kind = kind;
	INIT_WORK(&c->tx, do_tx);
	INIT_WORK(&c->rx, do_rx);
	skb_queue_head_init(&c->queue);
}

/* There is no connection any more, and nobody makes one. */
void hcomm_tcp_conn_cancel(struct tcp_conn *c)
{
	cancel_work_sync(&c->tx);
	cancel_work_sync(&c->rx);
	skb_queue_purge(&c->queue);
}

int hcomm_tcp_conn_init(void)
{
	tcp_wq = alloc_workqueue("hcomm_tcp_data", WQ_UNBOUND | WQ_MEM_RECLAIM,
				 0);
	return tcp_wq ? 0 : -ENOMEM;
}

void hcomm_tcp_conn_exit(void)
{
	destroy_workqueue(tcp_wq);
}
