/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the tcp transport share. */
#ifndef HCOMM_TCP_CONN_H
#define HCOMM_TCP_CONN_H

#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "transport.h"
#include "wire.h"

enum hcomm_tcp_const {
	HCOMM_TCP_GREETING = 0x484d4331,	/* "HMC1" */
	HCOMM_TCP_GREETING_LEN = 20,
	/* A power of two of payload, so that messages of one are cut evenly. */
	HCOMM_TCP_PACKET = 32768 + HCOMM_WIRE_PLAIN_LEN,
	HCOMM_TCP_BATCH = 2 * HCOMM_TCP_PACKET,
};

enum tcp_conn_kind { TCP_CONN_CONTROL, TCP_CONN_BULK, TCP_CONN_KINDS };

/**
 * struct tcp_conn - one of the two connections of a link
 * @tl: the link's transport state
 * @kind: enum tcp_conn_kind
 * @sock: the connection, NULL: none; changed under tcp_link.mutex, used under
 *	that or RCU, read by callbacks through sk_user_data
 * @trying: the one that is being made, under tcp_link.mutex
 * @until: when it must be there, jiffies
 * @tasklet: hands up what arrived, sends what could not be sent at once
 * @work: does so while a process owns the socket, or without memory
 * @lock: protects @queue, and @sock against those who queue
 * @queue: struct tcp_out, what is to be sent
 * @bytes: of @queue
 * @wanted: bit 0: somebody waits for room in @queue
 * @inside: TCP was called; under the lock of the socket
 * @arrived: what was taken from the socket
 * @bad: what arrives makes no sense any more
 * @part: packets that came in part, in the skbs of its frag_list
 * @part_last: the last one of them
 * @part_own: it is memory of our own, nobody refers to it
 * @part_off: where the packets with their lengths begin in @part
 * @have: bytes from there on
 * @need: how many must come
 * @seg: length of each packet but the last
 *
 * From @bad on they are the tasklet's.
 */
struct tcp_conn {
	struct tcp_link *tl;
	enum tcp_conn_kind kind;
	struct socket *sock;
	struct socket *trying;
	unsigned long until;
	struct tasklet_struct tasklet;
	struct delayed_work work;
	spinlock_t lock;	/* @queue, @sock */
	struct list_head queue;
	atomic_t bytes;
	unsigned long wanted;
	bool inside;
	struct sk_buff_head arrived;
	bool bad;
	struct sk_buff *part;
	struct sk_buff *part_last;
	bool part_own;
	u32 part_off;
	u32 have;
	u32 need;
	u32 seg;
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
	struct tcp_listener *listener;
	struct mutex mutex;	/* sockets of @conn */
	struct work_struct connect;
	struct work_struct broken;
	unsigned long tried;
	bool begin;
	bool dead;
	struct tcp_conn conn[TCP_CONN_KINDS];
};

/* Connections come and go here, so that they never hold up data. */
extern struct workqueue_struct *hcomm_tcp_wq;

/* tcp.c: links */
void hcomm_tcp_link_put(struct tcp_link *tl);
bool hcomm_tcp_connects(const struct hcomm_link *link);
bool hcomm_tcp_take_over(struct tcp_conn *c, struct socket *sock);

/* tcp_listen.c: who connects to this node */
struct tcp_listener *hcomm_tcp_listen(struct hcomm_link *link,
				      struct netlink_ext_ack *extack);
void hcomm_tcp_unlisten(struct tcp_listener *ls);

/* tcp_conn.c: connections that are made */
int hcomm_tcp_conn_init(void);
void hcomm_tcp_conn_exit(void);
void hcomm_tcp_conn_setup(struct tcp_conn *c, struct tcp_link *tl,
			  enum tcp_conn_kind kind);
void hcomm_tcp_install(struct tcp_conn *c, struct socket *sock);
bool hcomm_tcp_close(struct tcp_link *tl, bool trying);
void hcomm_tcp_conn_cancel(struct tcp_conn *c);
int hcomm_tcp_send(struct tcp_conn *c, struct hcomm_batch *b);
bool hcomm_tcp_room(struct tcp_conn *c);

static inline int hcomm_tcp_addr_len(const union hcomm_addr *a)
{
	return a->sa.sa_family == AF_INET6 ? sizeof(a->in6) : sizeof(a->in);
}

/*
 * With a reset: the timers of a kernel's socket stop when it is closed, and a
 * FIN that is never acknowledged would keep it for ever. What was on its way
 * is the session's to send again.
 */
static inline void hcomm_tcp_abort(struct socket *sock)
{
	sock_no_linger(sock->sk);
	sock_release(sock);
}

/* No callback of the socket does anything after a grace period. */
static inline void hcomm_tcp_quiet(struct socket *sock)
{
	write_lock_bh(&sock->sk->sk_callback_lock);
	rcu_assign_sk_user_data(sock->sk, NULL);
	write_unlock_bh(&sock->sk->sk_callback_lock);
}

#endif /* HCOMM_TCP_CONN_H */
