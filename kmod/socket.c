// SPDX-License-Identifier: GPL-2.0
/* The AF_HCOMM family: creation, names, shutdown, poll. */
#include "sock.h"

#include <linux/module.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <linux/sockios.h>
#include <net/sock.h>

#include <asm/ioctls.h>

#include "compat.h"
#include "msg.h"

static struct proto hcomm_proto = {
	.name = "HCOMM",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct hcomm_sock),
};

static const struct proto_ops hcomm_ops;
static atomic_t serials;

/* The text of HCOMM_LAST_ERROR. */
void hcomm_sock_say(struct hcomm_sock *hs, const char *fmt, ...)
{
	char text[HCOMM_ERR_TEXT];
	va_list args;

	va_start(args, fmt);
	vscnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	spin_lock_bh(&hs->lock);
	memcpy(hs->err_text, text, sizeof(text));
	spin_unlock_bh(&hs->lock);
}

/* Checks the form of an address from user space. */
int hcomm_sock_check_addr(const void *addr, int len)
{
	const struct sockaddr_hcomm *sa = addr;

	/* A longer one would say something that is not understood here. */
	if (len != sizeof(*sa))
		return -EINVAL;
	if (sa->shc_family != hcomm_family)
		return -EAFNOSUPPORT;
	if (sa->shc_reserved0 || sa->shc_reserved1)
		return -EINVAL;
	return 0;
}

static void sock_destruct(struct sock *sk)
{
	struct hcomm_sock *hs = hcomm_sk(sk);

	WARN_ON(atomic_read(&hs->wmem));
	WARN_ON(!list_empty(&hs->rxq));
	skb_queue_purge(&sk->sk_error_queue);
	kfree(hs->dests);
	pr_debug("socket %d destroyed\n", sk->sk_hash);
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
}

struct hcomm_sock *hcomm_sock_alloc(struct net *net, struct socket *sock,
				    int type, gfp_t gfp, int kern)
{
	struct hcomm_net *hn = hcomm_net(net);
	struct hcomm_sock *hs;
	struct sock *sk;

	sk = sk_alloc(net, hcomm_family, gfp, &hcomm_proto, kern);
	if (!sk)
		return NULL;
	hs = hcomm_sk(sk);
	sock_init_data(sock, sk);
	sk->sk_type = type;
	sk->sk_state = HCOMM_SS_CLOSED;
	sk->sk_destruct = sock_destruct;
	sk->sk_sndbuf = READ_ONCE(hn->conf.sndbuf);
	sk->sk_rcvbuf = READ_ONCE(hn->conf.rcvbuf);
	hs->hn = hn;
	hs->send_ahead = HCOMM_START_BUF;
	spin_lock_init(&hs->lock);
	mutex_init(&hs->tx_mutex);
	mutex_init(&hs->rx_mutex);
	INIT_LIST_HEAD(&hs->rxlanes);
	INIT_LIST_HEAD(&hs->rxq);
	INIT_LIST_HEAD(&hs->acceptq);
	INIT_LIST_HEAD(&hs->accept_node);
	hs->timeout_ms = READ_ONCE(hn->conf.session_timeout_ms);
	hs->class = HCOMM_CLASS_BULK;
	hs->recverr = true;
	hs->dests = NULL;
	sk->sk_hash = atomic_inc_return(&serials);
	spin_lock_bh(&hn->socks_lock);
	hlist_add_head_rcu(&hs->all, &hn->socks);
	spin_unlock_bh(&hn->socks_lock);
	sock_prot_inuse_add(net, &hcomm_proto, 1);
	pr_debug("socket %d created\n", sk->sk_hash);
	return hs;
}

static int socket_create(struct net *net, struct socket *sock, int protocol,
			 int kern)
{
	struct hcomm_sock *hs;

	if (protocol)
		return -EPROTONOSUPPORT;
	if (READ_ONCE(hcomm_net(net)->dying))
		return -ENETDOWN;
	switch (sock->type) {
	case SOCK_SEQPACKET:
	case SOCK_STREAM:
	case SOCK_RDM:
		break;
	default:
		return -ESOCKTNOSUPPORT;
	}
	hs = hcomm_sock_alloc(net, sock, sock->type, GFP_KERNEL, kern);
	if (!hs)
		return -ENOMEM;
	if (sock->type == SOCK_RDM) {
		hs->dests = kcalloc(HCOMM_DEST_BUCKETS, sizeof(*hs->dests),
				    GFP_KERNEL_ACCOUNT);
		if (!hs->dests) {
			spin_lock_bh(&hs->hn->socks_lock);
			hlist_del_rcu(&hs->all);
			spin_unlock_bh(&hs->hn->socks_lock);
			sock->sk = NULL;
			sock_put(&hs->sk);
			return -ENOMEM;
		}
	}
	hs->pid = task_tgid_nr(current);
	get_task_comm(hs->comm, current);
	sock->ops = &hcomm_ops;
	return 0;
}

static const struct hcomm_port_ops port_ops = { .open = hcomm_sock_open };

static int take_port(struct hcomm_sock *hs, u32 nr)
{
	int err;

	hs->port.ops = &port_ops;
	hs->port.owner = hs;
	err = hcomm_port_take(hs->hn, &hs->port, nr);
	if (err)
		return err;
	hs->local_port = hs->port.nr;
	hs->bound = true;
	return 0;
}

/* The socket needs a port to be answered at; lock_sock() is held. */
int hcomm_sock_autobind(struct hcomm_sock *hs)
{
	return hs->local_port ? 0 : take_port(hs, HCOMM_PORT_ANY);
}

static int socket_bind(struct socket *sock, hcomm_sockaddr *addr, int len)
{
	const struct sockaddr_hcomm *sa = (void *)addr;
	struct hcomm_sock *hs = hcomm_sk(sock->sk);
	u32 node = READ_ONCE(hs->hn->conf.node);
	int err;

	err = hcomm_sock_check_addr(addr, len);
	if (err)
		return err;
	if (sa->shc_node && sa->shc_node != node) {
		hcomm_sock_say(hs, "bind: this is node %u, not %u", node,
			       sa->shc_node);
		return -EADDRNOTAVAIL;
	}
	if (sa->shc_port && sa->shc_port < HCOMM_PORT_PRIV &&
	    !ns_capable(sock_net(sock->sk)->user_ns, CAP_NET_BIND_SERVICE)) {
		hcomm_sock_say(hs, "bind: port %u needs CAP_NET_BIND_SERVICE",
			       sa->shc_port);
		return -EACCES;
	}
	lock_sock(sock->sk);
	if (hs->local_port || sock->sk->sk_state != HCOMM_SS_CLOSED)
		err = -EINVAL;
	else
		err = take_port(hs, sa->shc_port);
	release_sock(sock->sk);
	if (err == -EADDRINUSE)
		hcomm_sock_say(hs, "bind: port %u is in use", sa->shc_port);
	return err;
}

static int socket_connect(struct socket *sock, hcomm_sockaddr *addr, int len,
			  int flags)
{
	const struct sockaddr_hcomm *sa = (void *)addr;
	struct hcomm_sock *hs = hcomm_sk(sock->sk);
	int err;

	if (len >= (int)sizeof(sa->shc_family) && sa->shc_family == AF_UNSPEC &&
	    sock->type == SOCK_RDM) {
		lock_sock(sock->sk);
		hs->remote_node = 0;
		hs->remote_port = 0;
		sock->state = SS_UNCONNECTED;
		release_sock(sock->sk);
		return 0;
	}
	err = hcomm_sock_check_addr(addr, len);
	if (err)
		return err;
	if (!sa->shc_node || !sa->shc_port)
		return -EADDRNOTAVAIL;
	lock_sock(sock->sk);
	if (sock->type == SOCK_RDM) {
		err = hcomm_sock_autobind(hs);
		if (!err) {
			hs->remote_node = sa->shc_node;
			hs->remote_port = sa->shc_port;
			sock->state = SS_CONNECTED;
		}
	} else {
		err = hcomm_sock_connect(hs, sa, flags);
	}
	release_sock(sock->sk);
	return err;
}

static int socket_listen(struct socket *sock, int backlog)
{
	struct hcomm_sock *hs = hcomm_sk(sock->sk);
	struct sock *sk = sock->sk;
	int err = -EINVAL;

	if (sock->type == SOCK_RDM)
		return -EOPNOTSUPP;
	lock_sock(sk);
	if (sock->state != SS_UNCONNECTED ||
	    (sk->sk_state != HCOMM_SS_CLOSED &&
	     sk->sk_state != HCOMM_SS_LISTENING))
		goto out;
	err = hcomm_sock_autobind(hs);
	if (err)
		goto out;
	WRITE_ONCE(hs->backlog, clamp(backlog, 1, HCOMM_MAX_BACKLOG));
	sk->sk_max_ack_backlog = hs->backlog;
	WRITE_ONCE(sk->sk_state, HCOMM_SS_LISTENING);
	err = 0;
out:
	release_sock(sk);
	return err;
}

static int socket_accept(struct socket *sock, struct socket *newsock,
			 HCOMM_ACCEPT_ARGS)
{
	if (sock->type == SOCK_RDM)
		return -EOPNOTSUPP;
	return hcomm_sock_accept(hcomm_sk(sock->sk), newsock,
				 HCOMM_ACCEPT_FLAGS);
}

static int socket_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct sockaddr_hcomm *sa = (struct sockaddr_hcomm *)addr;
	struct hcomm_sock *hs = hcomm_sk(sock->sk);

	memset(sa, 0, sizeof(*sa));
	sa->shc_family = hcomm_family;
	if (peer) {
		if (!hs->remote_node ||
		    (sock->type != SOCK_RDM &&
		     sock->sk->sk_state != HCOMM_SS_CONNECTED))
			return -ENOTCONN;
		sa->shc_node = hs->remote_node;
		sa->shc_port = hs->remote_port;
	} else {
		sa->shc_node = READ_ONCE(hs->hn->conf.node);
		sa->shc_port = hs->local_port;
	}
	return sizeof(*sa);
}

/* The table stands in hcomm(7). */
static __poll_t socket_poll(struct file *file, struct socket *sock,
			    poll_table *wait)
{
	struct sock *sk = sock->sk;
	struct hcomm_sock *hs = hcomm_sk(sk);
	u8 shutdown, state;
	__poll_t mask = 0;

	sock_poll_wait(file, sock, wait);
	shutdown = READ_ONCE(sk->sk_shutdown);
	state = READ_ONCE(sk->sk_state);
	if (READ_ONCE(sk->sk_err) || !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	if (shutdown == SHUTDOWN_MASK)
		mask |= EPOLLHUP;
	if (state == HCOMM_SS_LISTENING)
		return mask | (READ_ONCE(hs->nr_accept) ?
			       EPOLLIN | EPOLLRDNORM : 0);
	if (state == HCOMM_SS_CONNECTING)
		return mask;
	if (sock->type != SOCK_RDM && state == HCOMM_SS_CLOSED &&
	    sock->state != SS_CONNECTED && !mask)
		return EPOLLOUT | EPOLLWRNORM | EPOLLHUP;
	if (!list_empty_careful(&hs->rxq) || shutdown & RCV_SHUTDOWN ||
	    READ_ONCE(hs->rx_eof))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (shutdown & RCV_SHUTDOWN || READ_ONCE(hs->rx_eof))
		mask |= EPOLLRDHUP;
	/* Sending what may not be sent does not wait either. */
	if (shutdown & SEND_SHUTDOWN || hcomm_sock_writable(hs)) {
		mask |= EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND;
	} else {
		set_bit(SOCK_NOSPACE, &sock->flags);
		/* Room may have come between the test and the flag. */
		smp_mb__after_atomic();
		if (hcomm_sock_writable(hs))
			mask |= EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND;
	}
	return mask;
}

static int socket_shutdown(struct socket *sock, int how)
{
	struct hcomm_sock *hs = hcomm_sk(sock->sk);
	struct sock *sk = sock->sk;
	int err = 0;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	if (sock->type == SOCK_RDM)
		return -EOPNOTSUPP;
	how++;		/* SHUT_RD .. SHUT_RDWR to RCV_SHUTDOWN and SEND_SHUTDOWN */
	lock_sock(sk);
	if (sk->sk_state != HCOMM_SS_CONNECTED) {
		err = -ENOTCONN;
		goto out;
	}
	if (how & SEND_SHUTDOWN && !(sk->sk_shutdown & SEND_SHUTDOWN))
		err = hcomm_sock_shutdown_tx(hs);
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
	sk->sk_state_change(sk);
out:
	release_sock(sk);
	return err;
}

static int socket_ioctl(struct socket *sock, unsigned int cmd,
			unsigned long arg)
{
	struct hcomm_sock *hs = hcomm_sk(sock->sk);
	int val;

	if ((cmd == SIOCINQ || cmd == SIOCOUTQ) &&
	    READ_ONCE(sock->sk->sk_state) == HCOMM_SS_LISTENING)
		return -EINVAL;
	switch (cmd) {
	case SIOCINQ:
		val = min_t(u32, READ_ONCE(hs->rx_bytes), INT_MAX);
		if (sock->type != SOCK_STREAM) {
			struct hcomm_rxmsg *m;

			spin_lock_bh(&hs->lock);
			m = list_first_entry_or_null(&hs->rxq,
						     struct hcomm_rxmsg, list);
			val = m ? m->len : 0;
			spin_unlock_bh(&hs->lock);
		}
		break;
	case SIOCOUTQ:
		val = atomic_read(&hs->wbytes);
		break;
	default:
		return -ENOIOCTLCMD;
	}
	return put_user(val, (int __user *)arg);
}

static void linger(struct sock *sk)
{
	struct hcomm_sock *hs = hcomm_sk(sk);

	if (!sock_flag(sk, SOCK_LINGER) || !sk->sk_lingertime ||
	    current->flags & PF_EXITING)
		return;
	wait_event_interruptible_timeout(*sk_sleep(sk),
					 !atomic_read(&hs->wmem),
					 sk->sk_lingertime);
}

static int socket_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct hcomm_sock *hs;
	bool bound;

	if (!sk)
		return 0;
	hs = hcomm_sk(sk);
	lock_sock(sk);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	bound = hs->bound;
	hs->bound = false;
	release_sock(sk);
	if (bound) {
		hcomm_port_release(hs->hn, &hs->port);
		/* Nobody who found the port still calls open() after this. */
		synchronize_rcu();
	}
	if (sk->sk_state == HCOMM_SS_CONNECTED && hs->tx) {
		hcomm_sock_shutdown_tx(hs);
		linger(sk);
	}
	hcomm_sock_disconnect(hs);
	if (hs->dests)
		hcomm_sock_close_dests(hs);
	hcomm_sock_close_rx(hs);
	spin_lock_bh(&hs->hn->socks_lock);
	hlist_del_rcu(&hs->all);
	spin_unlock_bh(&hs->hn->socks_lock);
	lock_sock(sk);
	sock_orphan(sk);
	sock->sk = NULL;
	sk->sk_state = HCOMM_SS_CLOSED;
	release_sock(sk);
	sock_put(sk);
	return 0;
}

static const struct proto_ops hcomm_ops = {
	.owner = THIS_MODULE,
	.release = socket_release,
	.bind = socket_bind,
	.connect = socket_connect,
	.socketpair = sock_no_socketpair,
	.accept = socket_accept,
	.getname = socket_getname,
	.poll = socket_poll,
	.ioctl = socket_ioctl,
	.listen = socket_listen,
	.shutdown = socket_shutdown,
	.setsockopt = hcomm_sock_setsockopt,
	.getsockopt = hcomm_sock_getsockopt,
	.sendmsg = hcomm_sock_sendmsg,
	.recvmsg = hcomm_sock_recvmsg,
	.mmap = sock_no_mmap,
};

static struct net_proto_family family_ops = {
	.create = socket_create,
	.owner = THIS_MODULE,
};

int hcomm_socket_init(void)
{
	return proto_register(&hcomm_proto, 1);
}

void hcomm_socket_exit(void)
{
	proto_unregister(&hcomm_proto);
}

/* From here on user space can come: the last step of the module's init. */
int hcomm_socket_register(void)
{
	int err;

	family_ops.family = hcomm_family;
	err = sock_register(&family_ops);
	if (err == -EEXIST)
		pr_err("address family %u is taken; load with family=13, 18 or 22\n",
		       hcomm_family);
	return err;
}

void hcomm_socket_unregister(void)
{
	sock_unregister(hcomm_family);
}
