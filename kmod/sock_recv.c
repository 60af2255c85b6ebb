// SPDX-License-Identifier: GPL-2.0
#include "sock.h"

#include <linux/uio.h>

#include "msg.h"
#include "rxlane.h"
#include "session.h"

/* A message arrived; the session's lock is held. */
void hcomm_sock_take(struct hcomm_sock *hs, struct hcomm_rxmsg *m)
{
	spin_lock(&hs->lock);
	list_add_tail(&m->list, &hs->rxq);
	WRITE_ONCE(hs->rx_bytes, hs->rx_bytes + m->len);
	hs->rx_mem += m->truesize;
	hs->rx_msgs++;
	spin_unlock(&hs->lock);
	hs->sk.sk_data_ready(&hs->sk);
}

static void rdm_gone(struct hcomm_rxlane *lane)
{
	struct hcomm_sock *hs = lane->owner;

	spin_lock(&hs->lock);
	list_del_init(&lane->owner_node);
	spin_unlock(&hs->lock);
}

static void rdm_deliver(struct hcomm_rxlane *lane, struct hcomm_rxmsg *m)
{
	struct hcomm_sock *hs = lane->owner;

	if (m->kind == HCOMM_KIND_DATA) {
		hcomm_sock_take(hs, m);
		return;
	}
	if (m->kind == HCOMM_KIND_FIN) {
		rdm_gone(lane);
		/* The endpoint's reference; the message has another. */
		lane->ops = NULL;
		hcomm_rxlane_put(lane);
	}
	hcomm_rxmsg_free(m);
	hcomm_rxlane_put(lane);
}

/* Many senders may each have credit: together they may have too much. */
static bool rdm_full(struct hcomm_rxlane *lane)
{
	struct hcomm_sock *hs = lane->owner;

	return READ_ONCE(hs->rx_mem) > 2 * (u32)READ_ONCE(hs->sk.sk_rcvbuf);
}

static void rdm_reset(struct hcomm_rxlane *lane, int err)
{
	rdm_gone(lane);
	hcomm_rxlane_put(lane);
}

const struct hcomm_rxlane_ops hcomm_sock_rdm_rx_ops = {
	.deliver = rdm_deliver, .full = rdm_full, .reset = rdm_reset,
};

/**
 * hcomm_sock_queue_error - tell a SOCK_RDM socket what became of messages
 * @hs: socket; the session's lock is held
 * @node: destination
 * @port: likewise
 * @err: positive errno; 0: the destination takes messages again
 * @lost: messages that were given up
 */
void hcomm_sock_queue_error(struct hcomm_sock *hs, u32 node, u32 port, int err,
			    u32 lost)
{
	struct hcomm_sock_err e = {
		.see_errno = err, .see_writable = !err, .see_lost = lost,
		.see_offender = {
			.shc_family = hcomm_family, .shc_node = node,
			.shc_port = port,
		},
	};
	struct sk_buff *skb;

	if (!READ_ONCE(hs->recverr))
		return;
	skb = alloc_skb(sizeof(e), GFP_ATOMIC);
	if (!skb)
		return;
	skb_put_data(skb, &e, sizeof(e));
	/* Bounded by SO_RCVBUF; sk_err is for the socket itself. */
	if (sock_queue_err_skb(&hs->sk, skb))
		kfree_skb(skb);
}

static int recv_error(struct sock *sk, struct msghdr *msg, size_t len)
{
	struct hcomm_sock_err e;
	struct sk_buff *skb;

	skb = sock_dequeue_err_skb(sk);
	if (!skb)
		return -EAGAIN;
	skb_copy_bits(skb, 0, &e, sizeof(e));
	consume_skb(skb);
	put_cmsg(msg, SOL_HCOMM, HCOMM_RECVERR, sizeof(e), &e);
	if (msg->msg_name) {
		memcpy(msg->msg_name, &e.see_offender, sizeof(e.see_offender));
		msg->msg_namelen = sizeof(e.see_offender);
	}
	msg->msg_flags |= MSG_ERRQUEUE;
	return 0;
}

/* The first message, which stays in the queue; rx_mutex is held. */
static struct hcomm_rxmsg *head(struct hcomm_sock *hs)
{
	struct hcomm_rxmsg *m;

	spin_lock_bh(&hs->lock);
	m = list_first_entry_or_null(&hs->rxq, struct hcomm_rxmsg, list);
	spin_unlock_bh(&hs->lock);
	return m;
}

static void consume(struct hcomm_sock *hs, struct hcomm_rxmsg *m)
{
	struct hcomm_rxlane *lane = m->lane;
	u32 len = m->len, truesize = m->truesize;

	spin_lock_bh(&hs->lock);
	list_del(&m->list);
	WRITE_ONCE(hs->rx_bytes, hs->rx_bytes - (m->len - m->done));
	hs->rx_mem -= m->truesize;
	spin_unlock_bh(&hs->lock);
	hcomm_rxmsg_free(m);
	hcomm_rxlane_read(lane, len, truesize);
}

/*
 * 0: there is a message; 1: the end; else an error. rx_mutex is held, but not
 * while it sleeps: who does not want to wait must not wait for who does. @keep:
 * something was received before, so that the error is for the next call.
 */
static int wait_msg(struct hcomm_sock *hs, bool keep, long *timeo)
{
	struct sock *sk = &hs->sk;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err;

	if (head(hs))
		return 0;
	add_wait_queue(sk_sleep(sk), &wait);
	for (;;) {
		err = 0;
		if (head(hs))
			break;
		err = keep ? -READ_ONCE(sk->sk_err) : sock_error(sk);
		if (err)
			break;
		err = 1;
		if (READ_ONCE(hs->rx_eof) ||
		    READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN)
			/* It may have come with the last message. */
			break;
		err = -ENOTCONN;
		if (sk->sk_type != SOCK_RDM &&
		    READ_ONCE(sk->sk_state) != HCOMM_SS_CONNECTED)
			break;
		err = -EAGAIN;
		if (!*timeo)
			break;
		err = sock_intr_errno(*timeo);
		if (signal_pending(current))
			break;
		mutex_unlock(&hs->rx_mutex);
		*timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, *timeo);
		mutex_lock(&hs->rx_mutex);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	if (err == 1 && head(hs))
		err = 0;
	return err;
}

static void put_name(struct msghdr *msg, const struct hcomm_rxmsg *m)
{
	struct sockaddr_hcomm *sa = msg->msg_name;

	if (!sa)
		return;
	memset(sa, 0, sizeof(*sa));
	sa->shc_family = hcomm_family;
	sa->shc_node = m->node;
	sa->shc_port = m->port;
	msg->msg_namelen = sizeof(*sa);
}

static int recv_msg(struct hcomm_sock *hs, struct msghdr *msg, size_t len,
		    int flags, long timeo)
{
	struct hcomm_rxmsg *m;
	u32 n;
	int err;

	err = wait_msg(hs, false, &timeo);
	if (err)
		return err == 1 ? 0 : err;
	m = head(hs);
	n = min_t(size_t, len, m->len);
	err = hcomm_rxmsg_copy(m, 0, n, &msg->msg_iter);
	/* A message that could not be copied stays. */
	if (err)
		return err;
	put_name(msg, m);
	msg->msg_flags |= MSG_EOR;
	if (n < m->len)
		msg->msg_flags |= MSG_TRUNC;
	if (flags & MSG_TRUNC)
		n = m->len;
	if (!(flags & MSG_PEEK))
		consume(hs, m);
	return n;
}

/* Copies from message to message without taking anything away. */
static int peek_stream(struct hcomm_sock *hs, struct msghdr *msg, size_t len)
{
	struct hcomm_rxmsg *m, *next;
	size_t done = 0;
	u32 n;
	int err;

	for (m = head(hs); m && done < len; m = next) {
		n = min_t(size_t, len - done, m->len - m->done);
		err = hcomm_rxmsg_copy(m, m->done, n, &msg->msg_iter);
		if (err)
			return done ? done : err;
		done += n;
		/* Only the reader takes messages away: @m stays. */
		spin_lock_bh(&hs->lock);
		next = list_is_last(&m->list, &hs->rxq) ? NULL :
			list_next_entry(m, list);
		spin_unlock_bh(&hs->lock);
	}
	return done;
}

static int recv_stream(struct hcomm_sock *hs, struct msghdr *msg, size_t len,
		       int flags, long timeo)
{
	size_t want = sock_rcvlowat(&hs->sk, flags & MSG_WAITALL, len);
	struct hcomm_rxmsg *m;
	size_t done = 0;
	u32 n;
	int err = 0;

	if (!len)
		return 0;
	if (flags & MSG_PEEK) {
		err = wait_msg(hs, false, &timeo);
		if (err)
			return err == 1 ? 0 : err;
		return peek_stream(hs, msg, len);
	}
	while (done < len) {
		m = head(hs);
		if (!m) {
			if (done >= want)
				break;
			err = wait_msg(hs, done, &timeo);
			if (err)
				break;
			continue;
		}
		n = min_t(size_t, len - done, m->len - m->done);
		if (!(flags & MSG_TRUNC))
			err = hcomm_rxmsg_copy(m, m->done, n, &msg->msg_iter);
		if (err)
			break;
		done += n;
		spin_lock_bh(&hs->lock);
		m->done += n;
		WRITE_ONCE(hs->rx_bytes, hs->rx_bytes - n);
		spin_unlock_bh(&hs->lock);
		if (m->done == m->len)
			consume(hs, m);
	}
	if (done)
		return done;
	return err == 1 ? 0 : err;
}

int hcomm_sock_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		       int flags)
{
	const int known = MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC | MSG_WAITALL |
			  MSG_ERRQUEUE | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC |
			  MSG_CMSG_COMPAT;
	struct hcomm_sock *hs = hcomm_sk(sock->sk);
	struct sock *sk = sock->sk;
	long timeo;
	int err;

	if (flags & ~known)
		return -EOPNOTSUPP;
	if (flags & MSG_ERRQUEUE)
		return recv_error(sk, msg, len);
	timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	err = mutex_lock_interruptible(&hs->rx_mutex);
	if (err)
		return sock_intr_errno(timeo);
	err = sock->type == SOCK_STREAM ?
		recv_stream(hs, msg, len, flags, timeo) :
		recv_msg(hs, msg, len, flags, timeo);
	mutex_unlock(&hs->rx_mutex);
	return err;
}

/* The socket closes: nothing arrives any more, nothing is kept. */
void hcomm_sock_close_rx(struct hcomm_sock *hs)
{
	struct hcomm_rxlane *lane;
	struct hcomm_rxmsg *m;

	for (;;) {
		spin_lock_bh(&hs->lock);
		lane = list_first_entry_or_null(&hs->rxlanes,
						struct hcomm_rxlane,
						owner_node);
		if (lane) {
			refcount_inc(&lane->ref);
			list_del_init(&lane->owner_node);
		}
		spin_unlock_bh(&hs->lock);
		if (!lane)
			break;
		hcomm_rxlane_detach(lane, ECONNREFUSED);
	}
	while ((m = head(hs)))
		consume(hs, m);
}
