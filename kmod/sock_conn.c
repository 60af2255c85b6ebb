// SPDX-License-Identifier: GPL-2.0
/* Connections: connect, accept, and how they end. */
#include "sock.h"

#include "msg.h"
#include "rxlane.h"
#include "session.h"
#include "txlane.h"

static void wake_all(struct sock *sk)
{
	sk->sk_state_change(sk);
}

static void fail_sock(struct hcomm_sock *hs, int err)
{
	struct sock *sk = &hs->sk;

	WRITE_ONCE(sk->sk_err, err);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	WRITE_ONCE(sk->sk_state, HCOMM_SS_CLOSED);
	sk_error_report(sk);
	wake_all(sk);
}

static void conn_acked(struct hcomm_txlane *lane)
{
	struct hcomm_sock *hs = lane->owner;

	/* Room is reported as the messages are released. */
	WRITE_ONCE(hs->send_ahead,
		   clamp_t(u64, 2 * (lane->credit - lane->una),
			   HCOMM_START_BUF, U32_MAX));
}

static const char *why(int err)
{
	switch (err) {
	case ECONNREFUSED:
		return "nobody listens there";
	case ECONNRESET:
		return "it was closed or the node restarted";
	case ETIMEDOUT:
		return "no answer over any path";
	case EHOSTUNREACH:
		return "the route was deleted";
	default:
		return "connection failed";
	}
}

static void conn_failed(struct hcomm_txlane *lane, int err, u32 lost)
{
	struct hcomm_sock *hs = lane->owner;

	spin_lock(&hs->lock);
	hs->tx = NULL;
	hs->drops += lost;
	snprintf(hs->err_text, sizeof(hs->err_text),
		 "port %u of node %u: %s; %u messages lost", hs->remote_port,
		 hs->remote_node, why(err), lost);
	spin_unlock(&hs->lock);
	fail_sock(hs, err);
	hcomm_txlane_put(lane);
	sock_put(&hs->sk);
}

static const struct hcomm_txlane_ops conn_tx_ops = {
	.acked = conn_acked, .failed = conn_failed,
};

static void conn_deliver(struct hcomm_rxlane *lane, struct hcomm_rxmsg *m)
{
	struct hcomm_sock *hs = lane->owner;
	struct sock *sk = &hs->sk;

	switch (m->kind) {
	case HCOMM_KIND_DATA:
		hcomm_sock_take(hs, m);
		return;
	case HCOMM_KIND_ACCEPT:
		if (sk->sk_state == HCOMM_SS_CONNECTING) {
			WRITE_ONCE(sk->sk_state, HCOMM_SS_CONNECTED);
			wake_all(sk);
			hcomm_sock_room(hs);
		}
		break;
	case HCOMM_KIND_FIN:
		WRITE_ONCE(hs->rx_eof, true);
		wake_all(sk);
		break;
	}
	/* It took room in the lane that nobody will read. */
	lane->read += hcomm_wire_span(0);
	lane->read_msgs++;
	hcomm_rxmsg_free(m);
	hcomm_rxlane_put(lane);
}

static void conn_reset(struct hcomm_rxlane *lane, int err)
{
	struct hcomm_sock *hs = lane->owner;

	spin_lock(&hs->lock);
	hs->rx = NULL;
	if (!hs->err_text[0])
		snprintf(hs->err_text, sizeof(hs->err_text),
			 "port %u of node %u: %s", hs->remote_port,
			 hs->remote_node, why(err));
	spin_unlock(&hs->lock);
	if (!READ_ONCE(hs->rx_eof))
		fail_sock(hs, err);
	hcomm_rxlane_put(lane);
	sock_put(&hs->sk);
}

static const struct hcomm_rxlane_ops conn_rx_ops = {
	.deliver = conn_deliver, .reset = conn_reset,
};

/* A lane keeps its socket; whoever detaches it gives the reference back. */
static void attach_tx(struct hcomm_sock *hs, struct hcomm_txlane *lane)
{
	sock_hold(&hs->sk);
	hs->tx = lane;
}

static void attach_rx(struct hcomm_sock *hs, struct hcomm_rxlane *lane)
{
	sock_hold(&hs->sk);
	hs->rx = lane;
	hcomm_rxlane_accept(lane, &conn_rx_ops, hs, hcomm_sock_window(hs),
			    hs->sk.sk_rcvbuf);
}

static struct hcomm_txlane *open_lane(struct hcomm_sock *hs,
				      struct hcomm_session *s, u32 peer_lane,
				      u8 kind)
{
	struct hcomm_txlane_config cfg = {
		.src_port = hs->local_port, .dst_port = hs->remote_port,
		.peer_lane = peer_lane, .type = hs->sk.sk_type,
		.class = hs->class, .timeout_ms = hs->timeout_ms,
		.ops = &conn_tx_ops, .owner = hs,
	};
	struct hcomm_txlane *lane;
	struct hcomm_msg *msg;

	lockdep_assert_held(&s->lock);
	msg = hcomm_msg_alloc(0, kind, 0, GFP_ATOMIC | __GFP_ACCOUNT);
	if (!msg)
		return ERR_PTR(-ENOMEM);
	lane = hcomm_txlane_open_locked(s, &cfg, GFP_ATOMIC | __GFP_ACCOUNT);
	if (IS_ERR(lane)) {
		hcomm_msg_free(msg);
		return lane;
	}
	attach_tx(hs, lane);
	/* A new lane takes a message. */
	hcomm_txlane_queue(lane, msg);
	return lane;
}

static int wait_connected(struct hcomm_sock *hs, long timeo)
{
	struct sock *sk = &hs->sk;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err = 0;

	add_wait_queue(sk_sleep(sk), &wait);
	while (READ_ONCE(sk->sk_state) == HCOMM_SS_CONNECTING) {
		if (!timeo) {
			err = -EINPROGRESS;
			break;
		}
		if (signal_pending(current)) {
			err = sock_intr_errno(timeo);
			break;
		}
		release_sock(sk);
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
		lock_sock(sk);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return err;
}

static int begin(struct hcomm_sock *hs, const struct sockaddr_hcomm *sa)
{
	struct hcomm_txlane *lane;
	struct hcomm_session *s;
	int err;

	err = hcomm_sock_autobind(hs);
	if (err)
		return err;
	s = hcomm_session_get(hs->hn, sa->shc_node);
	if (IS_ERR(s)) {
		if (PTR_ERR(s) == -EHOSTUNREACH)
			hcomm_sock_say(hs, "no route to node %u", sa->shc_node);
		return PTR_ERR(s);
	}
	spin_lock_bh(&s->lock);
	hs->remote_node = sa->shc_node;
	hs->remote_port = sa->shc_port;
	WRITE_ONCE(hs->sk.sk_state, HCOMM_SS_CONNECTING);
	lane = open_lane(hs, s, 0, HCOMM_KIND_CONNECT);
	if (IS_ERR(lane))
		WRITE_ONCE(hs->sk.sk_state, HCOMM_SS_CLOSED);
	spin_unlock_bh(&s->lock);
	hcomm_session_kick(s);
	hcomm_session_put(s);
	return PTR_ERR_OR_ZERO(lane);
}

/* Takes both lanes from a socket that closes. */
static void drop_lanes(struct hcomm_sock *hs, bool abort, int err)
{
	struct hcomm_txlane *tx;
	struct hcomm_rxlane *rx;

	spin_lock_bh(&hs->lock);
	tx = hs->tx;
	rx = hs->rx;
	if (tx)
		refcount_inc(&tx->ref);
	if (rx)
		refcount_inc(&rx->ref);
	spin_unlock_bh(&hs->lock);
	if (tx)
		hcomm_txlane_detach(tx, abort);
	if (rx)
		hcomm_rxlane_detach(rx, err);
	/* If nobody failed them before, the references are still ours. */
	spin_lock_bh(&hs->lock);
	tx = hs->tx;
	rx = hs->rx;
	hs->tx = NULL;
	hs->rx = NULL;
	spin_unlock_bh(&hs->lock);
	if (tx)
		sock_put(&hs->sk);
	if (rx)
		sock_put(&hs->sk);
}

/* The socket can connect again, as if it never had. */
static void start_anew(struct hcomm_sock *hs)
{
	drop_lanes(hs, true, ECONNRESET);
	hcomm_sock_close_rx(hs);
	WRITE_ONCE(hs->rx_eof, false);
	WRITE_ONCE(hs->sk.sk_shutdown, 0);
	hs->sk.sk_socket->state = SS_UNCONNECTED;
}

/* lock_sock() is held. */
int hcomm_sock_connect(struct hcomm_sock *hs, const struct sockaddr_hcomm *sa,
		       int flags)
{
	struct sock *sk = &hs->sk;
	struct socket *sock = sk->sk_socket;
	long timeo;
	int err;

	switch (sk->sk_state) {
	case HCOMM_SS_CONNECTED:
		if (sock->state == SS_CONNECTING) {
			sock->state = SS_CONNECTED;
			return 0;
		}
		return -EISCONN;
	case HCOMM_SS_LISTENING:
		return -EINVAL;
	case HCOMM_SS_CONNECTING:
		if (flags & O_NONBLOCK)
			return -EALREADY;
		break;
	default:
		if (sock->state == SS_CONNECTING) {
			/* The result of an earlier call. */
			start_anew(hs);
			err = sock_error(sk);
			return err ? err : -ECONNABORTED;
		}
		if (sock->state != SS_UNCONNECTED ||
		    sk->sk_shutdown & SEND_SHUTDOWN)
			return -EISCONN;
		err = begin(hs, sa);
		if (err)
			return err;
		sock->state = SS_CONNECTING;
	}
	timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	err = wait_connected(hs, timeo);
	if (err)
		return err;
	if (READ_ONCE(sk->sk_state) == HCOMM_SS_CONNECTED) {
		sock->state = SS_CONNECTED;
		return 0;
	}
	start_anew(hs);
	err = sock_error(sk);
	return err ? err : -ECONNABORTED;
}

/* The answer to our connect: the lane from the peer. */
static int open_answer(struct hcomm_sock *hs, struct hcomm_rxlane *lane)
{
	int err = -ECONNREFUSED;

	spin_lock(&hs->lock);
	if (hs->tx && lane->peer_lane == hs->tx->id &&
	    hs->tx->session == lane->session && !hs->rx &&
	    lane->src_port == hs->remote_port) {
		attach_rx(hs, lane);
		err = 0;
	}
	spin_unlock(&hs->lock);
	return err;
}

static struct hcomm_sock *make_child(struct hcomm_sock *parent,
				     struct hcomm_rxlane *lane)
{
	struct hcomm_sock *hs;

	hs = hcomm_sock_alloc(sock_net(&parent->sk), NULL, parent->sk.sk_type,
			      GFP_ATOMIC, 0);
	if (!hs)
		return NULL;
	hs->sk.sk_sndbuf = parent->sk.sk_sndbuf;
	hs->sk.sk_rcvbuf = parent->sk.sk_rcvbuf;
	hs->timeout_ms = parent->timeout_ms;
	hs->class = parent->class;
	hs->pid = parent->pid;
	memcpy(hs->comm, parent->comm, sizeof(hs->comm));
	hs->local_port = parent->local_port;
	hs->remote_node = lane->session->node;
	hs->remote_port = lane->src_port;
	WRITE_ONCE(hs->sk.sk_state, HCOMM_SS_CONNECTED);
	return hs;
}

static void forget_child(struct hcomm_sock *hs)
{
	spin_lock_bh(&hs->hn->socks_lock);
	hlist_del_rcu(&hs->all);
	spin_unlock_bh(&hs->hn->socks_lock);
	sock_put(&hs->sk);
}

static int open_listener(struct hcomm_sock *parent, struct hcomm_rxlane *lane)
{
	struct hcomm_txlane *tx;
	struct hcomm_sock *hs;

	if (READ_ONCE(parent->nr_accept) >= READ_ONCE(parent->backlog))
		return -EAGAIN;
	hs = make_child(parent, lane);
	if (!hs)
		return -EAGAIN;
	tx = open_lane(hs, lane->session, lane->id, HCOMM_KIND_ACCEPT);
	if (IS_ERR(tx)) {
		forget_child(hs);
		return PTR_ERR(tx) == -ENOBUFS ? -ECONNREFUSED : -EAGAIN;
	}
	attach_rx(hs, lane);
	spin_lock(&parent->lock);
	hs->listener = parent;
	list_add_tail(&hs->accept_node, &parent->acceptq);
	WRITE_ONCE(parent->nr_accept, parent->nr_accept + 1);
	spin_unlock(&parent->lock);
	parent->sk.sk_data_ready(&parent->sk);
	return 0;
}

static int open_rdm(struct hcomm_sock *hs, struct hcomm_rxlane *lane)
{
	u32 window = min_t(u32, HCOMM_INITIAL_CREDIT, hs->sk.sk_rcvbuf / 4);

	spin_lock(&hs->lock);
	hcomm_rxlane_accept(lane, &hcomm_sock_rdm_rx_ops, hs, window, window);
	list_add(&lane->owner_node, &hs->rxlanes);
	spin_unlock(&hs->lock);
	return 0;
}

/* hcomm_port_ops.open: under RCU and the session's lock. */
int hcomm_sock_open(struct hcomm_port *port, struct hcomm_rxlane *lane)
{
	struct hcomm_sock *hs = port->owner;
	struct sock *sk = &hs->sk;

	if (lane->type != sk->sk_type ||
	    READ_ONCE(sk->sk_shutdown) == SHUTDOWN_MASK)
		return -ECONNREFUSED;
	if (sk->sk_type == SOCK_RDM)
		return open_rdm(hs, lane);
	if (READ_ONCE(sk->sk_state) == HCOMM_SS_LISTENING)
		return lane->peer_lane ? -ECONNREFUSED :
					 open_listener(hs, lane);
	return lane->peer_lane ? open_answer(hs, lane) : -ECONNREFUSED;
}

static struct hcomm_sock *next_child(struct hcomm_sock *hs)
{
	struct hcomm_sock *c;

	spin_lock_bh(&hs->lock);
	c = list_first_entry_or_null(&hs->acceptq, struct hcomm_sock,
				     accept_node);
	if (c) {
		list_del_init(&c->accept_node);
		c->listener = NULL;
		WRITE_ONCE(hs->nr_accept, hs->nr_accept - 1);
	}
	spin_unlock_bh(&hs->lock);
	return c;
}

int hcomm_sock_accept(struct hcomm_sock *hs, struct socket *newsock, int flags)
{
	struct sock *sk = &hs->sk;
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	long timeo = sock_rcvtimeo(sk, flags & O_NONBLOCK);
	struct hcomm_sock *c = NULL;
	int err = 0;

	add_wait_queue(sk_sleep(sk), &wait);
	for (;;) {
		if (READ_ONCE(sk->sk_state) != HCOMM_SS_LISTENING) {
			err = -EINVAL;
			break;
		}
		c = next_child(hs);
		if (c)
			break;
		if (!timeo) {
			err = -EAGAIN;
			break;
		}
		if (signal_pending(current)) {
			err = sock_intr_errno(timeo);
			break;
		}
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	if (!c)
		return err;
	lock_sock(&c->sk);
	sock_graft(&c->sk, newsock);
	newsock->state = SS_CONNECTED;
	release_sock(&c->sk);
	return 0;
}

static void close_child(struct hcomm_sock *c)
{
	drop_lanes(c, true, ECONNRESET);
	hcomm_sock_close_rx(c);
	forget_child(c);
}

/* The socket closes: what was sent still arrives, unless data is unread. */
void hcomm_sock_disconnect(struct hcomm_sock *hs)
{
	struct hcomm_sock *c;
	bool unread;

	while ((c = next_child(hs)))
		close_child(c);
	spin_lock_bh(&hs->lock);
	unread = !list_empty(&hs->rxq);
	spin_unlock_bh(&hs->lock);
	/* As TCP does: the sender must not believe that it was read. */
	drop_lanes(hs, hs->sk.sk_state == HCOMM_SS_CONNECTING,
		   unread ? ECONNRESET : 0);
}
