// SPDX-License-Identifier: GPL-2.0
#include "sock.h"

#include <linux/slab.h>
#include <linux/uio.h>

#include "compat.h"
#include "msg.h"
#include "session.h"
#include "txlane.h"

enum { DEST_SHARE = 4 };

/* Memory that messages may take before writers wait. */
static int send_limit(const struct hcomm_sock *hs)
{
	int max = READ_ONCE(hs->sk.sk_sndbuf);

	if (hs->sk.sk_type == SOCK_RDM ||
	    hs->sk.sk_userlocks & SOCK_SNDBUF_LOCK)
		return max;
	return min_t(u32, max, READ_ONCE(hs->send_ahead));
}

bool hcomm_sock_writable(const struct hcomm_sock *hs)
{
	return atomic_read(&hs->wmem) < send_limit(hs);
}

/* There is room, or an error: whoever waits to send looks again. */
void hcomm_sock_room(struct hcomm_sock *hs)
{
	struct sock *sk = &hs->sk;
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	/* sk_write_space() of the core looks at sk_wmem_alloc: not ours. */
	if (skwq_has_sleeper(wq)) {
		wake_up_interruptible_sync_poll(&wq->wait, EPOLLOUT |
						EPOLLWRNORM | EPOLLWRBAND);
		sk_wake_async(sk, SOCK_WAKE_SPACE, POLL_OUT);
	}
	rcu_read_unlock();
}

static void dest_put(struct hcomm_dest *d)
{
	if (refcount_dec_and_test(&d->ref))
		kfree(d);
}

/* One destination may hold this part of the send buffer. */
static u32 dest_share(const struct hcomm_dest *d)
{
	return READ_ONCE(d->hs->sk.sk_sndbuf) / DEST_SHARE;
}

static void give_back(struct hcomm_sock *hs, const struct hcomm_msg *msg)
{
	int limit = send_limit(hs), left;

	atomic_sub(msg->len, &hs->wbytes);
	left = atomic_sub_return(msg->truesize, &hs->wmem);
	/* Not for every message: a third of the buffer is worth a wake-up. */
	if (left < limit / 3 * 2)
		hcomm_sock_room(hs);
	sock_put(&hs->sk);
}

/* hcomm_msg.release: the message is acknowledged or given up. */
static void msg_done(struct hcomm_msg *msg)
{
	give_back(msg->owner, msg);
}

/* Likewise, of SOCK_RDM. */
static void dest_msg_done(struct hcomm_msg *msg)
{
	struct hcomm_dest *d = msg->owner;
	u32 left = atomic_sub_return(msg->truesize, &d->wmem);

	/* Others may fill the buffer: who waits for this one must hear of it. */
	if (left < dest_share(d))
		hcomm_sock_room(d->hs);
	give_back(d->hs, msg);
	dest_put(d);
}

/* @d: NULL: of a connection. */
static void own_msg(struct hcomm_sock *hs, struct hcomm_dest *d,
		    struct hcomm_msg *msg)
{
	if (d) {
		refcount_inc(&d->ref);
		atomic_add(msg->truesize, &d->wmem);
		msg->owner = d;
		msg->release = dest_msg_done;
	} else {
		msg->owner = hs;
		msg->release = msg_done;
	}
	sock_hold(&hs->sk);
	atomic_add(msg->truesize, &hs->wmem);
	atomic_add(msg->len, &hs->wbytes);
}

/* What is not returned now is returned by the next call. */
static int pending_error(struct hcomm_sock *hs, bool keep)
{
	int err = keep ? -READ_ONCE(hs->sk.sk_err) : sock_error(&hs->sk);

	if (err)
		return err;
	if (READ_ONCE(hs->sk.sk_shutdown) & SEND_SHUTDOWN)
		return -EPIPE;
	return 0;
}

/*
 * Waits until @cond or an error or a signal; 0: @cond holds. tx_mutex is held,
 * but not while it sleeps: others may send elsewhere, or must not wait.
 */
#define wait_for(hs, timeo, keep, cond)					\
({									\
	DEFINE_WAIT_FUNC(_wait, woken_wake_function);			\
	int _err = 0;							\
									\
	add_wait_queue(sk_sleep(&(hs)->sk), &_wait);			\
	while (!(cond)) {						\
		_err = pending_error(hs, keep);				\
		if (_err)						\
			break;						\
		_err = -EAGAIN;						\
		if (!*(timeo))						\
			break;						\
		_err = sock_intr_errno(*(timeo));			\
		if (signal_pending(current))				\
			break;						\
		_err = 0;						\
		mutex_unlock(&(hs)->tx_mutex);				\
		*(timeo) = wait_woken(&_wait, TASK_INTERRUPTIBLE,	\
				      *(timeo));			\
		mutex_lock(&(hs)->tx_mutex);				\
	}								\
	remove_wait_queue(sk_sleep(&(hs)->sk), &_wait);			\
	_err;								\
})

static struct hlist_head *bucket(struct hcomm_sock *hs, u32 node, u32 port)
{
	return &hs->dests[hash_32(node ^ hash_32(port, 32), 6)];
}

static struct hcomm_dest *find_dest(struct hcomm_sock *hs, u32 node, u32 port)
{
	struct hcomm_dest *d;

	lockdep_assert_held(&hs->lock);
	hlist_for_each_entry(d, bucket(hs, node, port), node_list)
		if (d->node == node && d->port == port)
			return d;
	return NULL;
}

static void dest_acked(struct hcomm_txlane *lane)
{
	struct hcomm_dest *d = lane->owner;
	struct hcomm_sock *hs = d->hs;

	if (!READ_ONCE(d->congested))
		return;
	if (atomic_read(&d->wmem) < READ_ONCE(hs->sk.sk_sndbuf) / DEST_SHARE) {
		WRITE_ONCE(d->congested, false);
		hcomm_sock_queue_error(hs, d->node, d->port, 0, 0);
		hcomm_sock_room(hs);
	}
}

static void dest_failed(struct hcomm_txlane *lane, int err, u32 lost)
{
	struct hcomm_dest *d = lane->owner;
	struct hcomm_sock *hs = d->hs;
	u32 node = d->node, port = d->port;
	bool tell;

	spin_lock(&hs->lock);
	/* A close does not wait for this once the destination has no lane. */
	sock_hold(&hs->sk);
	hs->drops += lost;
	tell = lost || d->congested;
	d->lane = NULL;
	d->congested = false;
	spin_unlock(&hs->lock);
	/* That an idle destination went is no error of the sender. */
	if (tell)
		hcomm_sock_queue_error(hs, node, port, err, lost);
	hcomm_sock_room(hs);
	/* The reference of the destination. */
	hcomm_txlane_put(lane);
	sock_put(&hs->sk);
}

static const struct hcomm_txlane_ops dest_ops = {
	.acked = dest_acked, .failed = dest_failed,
};

static struct hcomm_txlane *open_dest(struct hcomm_sock *hs,
				      struct hcomm_dest *d)
{
	struct hcomm_txlane_config cfg = {
		.src_port = hs->local_port, .dst_port = d->port,
		.type = SOCK_RDM, .class = READ_ONCE(hs->class),
		.timeout_ms = READ_ONCE(hs->timeout_ms),
		.ops = &dest_ops, .owner = d,
	};
	struct hcomm_session *s;
	struct hcomm_txlane *lane;

	s = hcomm_session_get(hs->hn, d->node);
	if (IS_ERR(s)) {
		if (PTR_ERR(s) == -EHOSTUNREACH)
			hcomm_sock_say(hs, "no route to node %u", d->node);
		return ERR_CAST(s);
	}
	spin_lock_bh(&s->lock);
	lane = hcomm_txlane_open_locked(s, &cfg, GFP_ATOMIC | __GFP_ACCOUNT);
	if (!IS_ERR(lane)) {
		/* It can fail only after the session's lock is released. */
		spin_lock(&hs->lock);
		d->lane = lane;
		refcount_inc(&lane->ref);
		spin_unlock(&hs->lock);
	}
	spin_unlock_bh(&s->lock);
	hcomm_session_put(s);
	return lane;
}

/* Destinations that failed are forgotten when others come. */
static void prune(struct hcomm_sock *hs, struct hlist_head *head)
{
	struct hcomm_dest *d;
	struct hlist_node *next;

	lockdep_assert_held(&hs->lock);
	hlist_for_each_entry_safe(d, next, head, node_list) {
		if (!d->lane) {
			hlist_del(&d->node_list);
			dest_put(d);
		}
	}
}

/* The lane to a destination, and that, with references; tx_mutex is held. */
static struct hcomm_txlane *dest_lane(struct hcomm_sock *hs, u32 node, u32 port,
				      struct hcomm_dest **dest)
{
	struct hcomm_txlane *lane = NULL;
	struct hcomm_dest *d;

	spin_lock_bh(&hs->lock);
	d = find_dest(hs, node, port);
	if (d)
		refcount_inc(&d->ref);
	if (d && d->lane) {
		lane = d->lane;
		refcount_inc(&lane->ref);
	}
	spin_unlock_bh(&hs->lock);
	if (!d) {
		d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
		if (!d)
			return ERR_PTR(-ENOMEM);
		refcount_set(&d->ref, 2);
		d->hs = hs;
		d->node = node;
		d->port = port;
		spin_lock_bh(&hs->lock);
		prune(hs, bucket(hs, node, port));
		hlist_add_head(&d->node_list, bucket(hs, node, port));
		spin_unlock_bh(&hs->lock);
	}
	if (!lane)
		lane = open_dest(hs, d);
	if (IS_ERR(lane))
		dest_put(d);
	*dest = d;
	return lane;
}

/* In memory, not in bytes: many small messages fill a buffer as well. */
static bool dest_room(const struct hcomm_dest *d,
		      const struct hcomm_txlane *lane,
		      const struct hcomm_msg *msg)
{
	u32 queued = atomic_read(&d->wmem);

	return !queued || READ_ONCE(lane->err) ||
	       queued + msg->truesize <= dest_share(d);
}

static int send_rdm(struct hcomm_sock *hs, struct hcomm_msg *msg,
		    const struct sockaddr_hcomm *sa, long *timeo)
{
	struct hcomm_txlane *lane;
	struct hcomm_dest *d;
	int err;

	lane = dest_lane(hs, sa->shc_node, sa->shc_port, &d);
	if (IS_ERR(lane))
		return PTR_ERR(lane);
	err = wait_for(hs, timeo, false, dest_room(d, lane, msg));
	if (err == -EAGAIN) {
		err = -ENOBUFS;
		WRITE_ONCE(d->congested, true);
		hcomm_sock_say(hs, "port %u of node %u takes no more now",
			       d->port, d->node);
		/* It may have emptied before it could see the flag. */
		smp_mb();
		if (dest_room(d, lane, msg)) {
			WRITE_ONCE(d->congested, false);
			err = 0;
		}
	}
	if (!err) {
		own_msg(hs, d, msg);
		err = hcomm_txlane_send(lane, msg);
	}
	hcomm_txlane_put(lane);
	dest_put(d);
	return err;
}

static int send_connected(struct hcomm_sock *hs, struct hcomm_msg *msg,
			  bool keep)
{
	struct hcomm_txlane *lane;
	int err;

	spin_lock_bh(&hs->lock);
	lane = hs->tx;
	if (lane)
		refcount_inc(&lane->ref);
	spin_unlock_bh(&hs->lock);
	if (!lane)
		return pending_error(hs, keep) ? : -EPIPE;
	own_msg(hs, NULL, msg);
	err = hcomm_txlane_send(lane, msg);
	hcomm_txlane_put(lane);
	return err;
}

static int check_dest(struct hcomm_sock *hs, struct msghdr *msg,
		      struct sockaddr_hcomm *sa)
{
	int err;

	if (hs->sk.sk_type != SOCK_RDM) {
		if (msg->msg_namelen)
			return READ_ONCE(hs->sk.sk_state) ==
				HCOMM_SS_CONNECTED ? -EISCONN : -EOPNOTSUPP;
		return 0;
	}
	if (msg->msg_name) {
		err = hcomm_sock_check_addr(msg->msg_name, msg->msg_namelen);
		if (err)
			return err;
		*sa = *(struct sockaddr_hcomm *)msg->msg_name;
		if (!sa->shc_node || !sa->shc_port)
			return -EADDRNOTAVAIL;
		return 0;
	}
	if (!hs->remote_node)
		return -EDESTADDRREQ;
	sa->shc_node = hs->remote_node;
	sa->shc_port = hs->remote_port;
	return 0;
}

/* What one packet to the destination will carry, 0: not known. */
static u32 packet_part(struct hcomm_sock *hs, const struct sockaddr_hcomm *sa)
{
	struct hcomm_session *s;
	u32 part = 0;

	if (hs->sk.sk_type != SOCK_RDM) {
		spin_lock_bh(&hs->lock);
		if (hs->tx)
			part = hcomm_session_part(hs->tx->session);
		spin_unlock_bh(&hs->lock);
		return part;
	}
	s = hcomm_session_find(hs->hn, sa->shc_node);
	if (!s)
		return 0;
	part = hcomm_session_part(s);
	hcomm_session_put(s);
	return part;
}

/*
 * One message, or one piece of a stream; @keep: something was sent before, and
 * that is what the call returns.
 */
static int send_one(struct hcomm_sock *hs, struct msghdr *m, u32 len,
		    const struct sockaddr_hcomm *sa, bool keep, long *timeo)
{
	struct hcomm_msg *msg;
	int err;

	err = pending_error(hs, keep);
	if (err)
		return err;
	err = wait_for(hs, timeo, keep, hcomm_sock_writable(hs));
	if (err)
		return err;
	msg = hcomm_msg_alloc(len, HCOMM_KIND_DATA, packet_part(hs, sa),
			      GFP_KERNEL_ACCOUNT);
	if (!msg)
		return -ENOMEM;
	/* No lock of the socket is held: user memory may be slow to come. */
	err = hcomm_msg_fill(msg, &m->msg_iter);
	if (!err)
		err = hs->sk.sk_type == SOCK_RDM ?
			send_rdm(hs, msg, sa, timeo) :
			send_connected(hs, msg, keep);
	if (err)
		hcomm_msg_free(msg);
	return err;
}

static int send_whole(struct hcomm_sock *hs, struct msghdr *m, size_t len,
		      const struct sockaddr_hcomm *sa, long timeo)
{
	int err = send_one(hs, m, len, sa, false, &timeo);

	if (err)
		return err;
	hs->tx_msgs++;
	hcomm_count(hs->hn, msgs_sent);
	return len;
}

/* What one call sends stays whole: other writers wait until it is done. */
static int send_stream(struct hcomm_sock *hs, struct msghdr *m, size_t len,
		       long timeo)
{
	size_t done = 0;
	int err;
	u32 n;

	if (!len)
		return pending_error(hs, false);
	hs->tx_waiting++;
	err = wait_for(hs, &timeo, false, !hs->tx_busy);
	hs->tx_waiting--;
	if (err)
		return err;
	hs->tx_busy = true;
	while (done < len) {
		n = min_t(size_t, len - done, HCOMM_STREAM_PIECE);
		err = send_one(hs, m, n, NULL, done, &timeo);
		if (err)
			break;
		done += n;
		hs->tx_msgs++;
	}
	hs->tx_busy = false;
	if (hs->tx_waiting)
		hcomm_sock_room(hs);
	return done ? done : err;
}

int hcomm_sock_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	int known = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR | MSG_CMSG_COMPAT |
		    HCOMM_MSG_HINTS;
	struct hcomm_sock *hs = hcomm_sk(sock->sk);
	struct sockaddr_hcomm sa = {};
	struct sock *sk = sock->sk;
	long timeo;
	int err;

	/* Whatever is sent goes at once; a message cannot be continued. */
	if (sock->type == SOCK_STREAM)
		known |= MSG_MORE | HCOMM_MSG_SENDPAGE_MORE;
	if (msg->msg_flags & ~known)
		return -EOPNOTSUPP;
	if (msg->msg_controllen)
		return -EINVAL;
	err = check_dest(hs, msg, &sa);
	if (err)
		return err;
	if (sock->type != SOCK_STREAM && len > HCOMM_MAX_MSG_LEN) {
		hcomm_sock_say(hs, "message of %zu bytes, the limit is %u", len,
			       HCOMM_MAX_MSG_LEN);
		return -EMSGSIZE;
	}
	/* EAGAIN would be for ever. */
	if (sock->type != SOCK_STREAM && len > READ_ONCE(sk->sk_sndbuf)) {
		hcomm_sock_say(hs, "message of %zu bytes, SO_SNDBUF is %d", len,
			       sk->sk_sndbuf);
		return -EMSGSIZE;
	}
	if (sock->type == SOCK_RDM) {
		lock_sock(sk);
		err = hcomm_sock_autobind(hs);
		release_sock(sk);
		if (err)
			return err;
	} else if (READ_ONCE(sk->sk_state) != HCOMM_SS_CONNECTED) {
		err = sock_error(sk);
		if (!err)
			err = READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN ?
				-EPIPE : -ENOTCONN;
		goto out;
	}
	timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	err = mutex_lock_interruptible(&hs->tx_mutex);
	if (err) {
		err = sock_intr_errno(timeo);
		goto out;
	}
	err = sock->type == SOCK_STREAM ?
		send_stream(hs, msg, len, timeo) :
		send_whole(hs, msg, len, &sa, timeo);
	mutex_unlock(&hs->tx_mutex);
out:
	if (err == -EPIPE && sock->type != SOCK_RDM &&
	    !(msg->msg_flags & MSG_NOSIGNAL))
		send_sig(SIGPIPE, current, 0);
	return err;
}

/* The peer reads the end behind what was sent. */
int hcomm_sock_shutdown_tx(struct hcomm_sock *hs)
{
	struct hcomm_txlane *lane;
	struct hcomm_msg *fin;
	int err = 0;

	fin = hcomm_msg_alloc(0, HCOMM_KIND_FIN, 0, GFP_KERNEL_ACCOUNT);
	if (!fin)
		return -ENOMEM;
	spin_lock_bh(&hs->lock);
	lane = hs->tx;
	if (lane)
		refcount_inc(&lane->ref);
	spin_unlock_bh(&hs->lock);
	if (lane) {
		err = hcomm_txlane_send(lane, fin);
		hcomm_txlane_put(lane);
	}
	if (!lane || err)
		hcomm_msg_free(fin);
	/* Said before, or nobody is left to be told. */
	return 0;
}

void hcomm_sock_close_dests(struct hcomm_sock *hs)
{
	struct hcomm_txlane *lane;
	struct hlist_node *next;
	struct hcomm_dest *d;
	int i;

	for (i = 0; i < HCOMM_DEST_BUCKETS; i++) {
		hlist_for_each_entry_safe(d, next, &hs->dests[i], node_list) {
			spin_lock_bh(&hs->lock);
			lane = d->lane;
			if (lane)
				refcount_inc(&lane->ref);
			spin_unlock_bh(&hs->lock);
			if (lane)
				hcomm_txlane_detach(lane, false);
			hlist_del(&d->node_list);
			dest_put(d);
		}
	}
}
