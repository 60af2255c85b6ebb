/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_SOCK_H
#define HCOMM_SOCK_H

#include <net/sock.h>

#include "net.h"
#include "port.h"

#include <hcomm/socket.h>

struct hcomm_msg;
struct hcomm_rxlane;
struct hcomm_rxmsg;
struct hcomm_txlane;

enum hcomm_sock_const {
	HCOMM_DEST_BUCKETS = 64,
	/* Windows begin with this and grow up to SO_RCVBUF and SO_SNDBUF. */
	HCOMM_START_BUF = 512 << 10,
	HCOMM_ERR_TEXT = 96,
};

/* sk_state of AF_HCOMM sockets; poll() of the core knows these numbers. */
enum hcomm_sock_state {
	HCOMM_SS_CLOSED = TCP_CLOSE,
	HCOMM_SS_CONNECTING = TCP_SYN_SENT,
	HCOMM_SS_CONNECTED = TCP_ESTABLISHED,
	HCOMM_SS_LISTENING = TCP_LISTEN,
};

/**
 * struct hcomm_dest - where a SOCK_RDM socket sends to
 * @ref: references: the socket's, and one for each message
 * @wmem: memory of messages to it that are not acknowledged
 * @node_list: in hcomm_sock.dests
 * @hs: the socket
 * @lane: the lane to it, NULL when it failed
 * @node: remote node
 * @port: remote port
 * @congested: a send failed with ENOBUFS; the next room is reported
 */
struct hcomm_dest {
	refcount_t ref;
	atomic_t wmem;
	struct hlist_node node_list;
	struct hcomm_sock *hs;
	struct hcomm_txlane *lane;
	u32 node;
	u32 port;
	bool congested;
};

/**
 * struct hcomm_sock - an AF_HCOMM socket
 * @sk: the socket of the kernel; first
 * @hn: namespace
 * @all: in hcomm_net.socks
 * @lock: protects queues and lanes; see the lock order in net.h
 * @tx_mutex: one writer at a time, except while it sleeps
 * @rx_mutex: one reader at a time, except while it sleeps
 * @tx_busy: SOCK_STREAM: a writer is in the middle; under @tx_mutex
 * @tx_waiting: writers that wait for its end
 * @port: its port while @bound
 * @bound: it has @port
 * @local_port: own port; an accepted socket has that of its listener
 * @remote_node: peer of a connected socket, or default of SOCK_RDM
 * @remote_port: likewise
 * @tx: connected: lane to the peer
 * @rx: connected: lane from the peer
 * @dests: SOCK_RDM: destinations
 * @rxlanes: SOCK_RDM: lanes from others
 * @rxq: messages that were not read
 * @rx_bytes: their bytes
 * @rx_mem: their memory
 * @rx_eof: nothing follows what is in @rxq
 * @send_ahead: memory that writers may fill: as much as the peer's window is
 *	worth, so that data does not lie about; SO_SNDBUF if that was set
 * @wmem: memory of messages that are not acknowledged
 * @wbytes: their bytes
 * @acceptq: listener: connections that wait for accept()
 * @accept_node: in @acceptq of @listener
 * @listener: who has it in its queue
 * @nr_accept: length of @acceptq
 * @backlog: limit of it
 * @timeout_ms: HCOMM_SESSION_TIMEOUT
 * @class: HCOMM_CLASS
 * @recverr: HCOMM_RECVERR
 * @err_text: HCOMM_LAST_ERROR
 * @rx_msgs: messages received
 * @tx_msgs: messages sent
 * @drops: messages that were given up
 * @pid: of who made it
 * @comm: its name
 */
struct hcomm_sock {
	struct sock sk;
	struct hcomm_net *hn;
	struct hlist_node all;
	spinlock_t lock;	/* queues and lanes */
	struct mutex tx_mutex;	/* one writer */
	struct mutex rx_mutex;	/* one reader */
	bool tx_busy;
	u32 tx_waiting;
	struct hcomm_port port;
	bool bound;
	u32 local_port;
	u32 remote_node;
	u32 remote_port;
	struct hcomm_txlane *tx;
	struct hcomm_rxlane *rx;
	struct hlist_head *dests;
	struct list_head rxlanes;
	struct list_head rxq;
	u32 rx_bytes;
	u32 rx_mem;
	bool rx_eof;
	u32 send_ahead;
	atomic_t wmem;
	atomic_t wbytes;
	struct list_head acceptq;
	struct list_head accept_node;
	struct hcomm_sock *listener;
	u32 nr_accept;
	u32 backlog;
	u32 timeout_ms;
	u8 class;
	bool recverr;
	char err_text[HCOMM_ERR_TEXT];
	u64 rx_msgs;
	u64 tx_msgs;
	u64 drops;
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

static inline struct hcomm_sock *hcomm_sk(const struct sock *sk)
{
	return (struct hcomm_sock *)sk;
}

/* What is taken ahead of the reader at first. */
static inline u32 hcomm_sock_window(const struct hcomm_sock *hs)
{
	u32 max = READ_ONCE(hs->sk.sk_rcvbuf);

	return hs->sk.sk_userlocks & SOCK_RCVBUF_LOCK ?
		max : min_t(u32, max, HCOMM_START_BUF);
}

__printf(2, 3)
void hcomm_sock_say(struct hcomm_sock *hs, const char *fmt, ...);

/* socket.c */
int hcomm_socket_init(void);
void hcomm_socket_exit(void);
int hcomm_socket_register(void);
void hcomm_socket_unregister(void);
int hcomm_sock_autobind(struct hcomm_sock *hs);
int hcomm_sock_check_addr(const void *addr, int len);

/* sock_conn.c */
int hcomm_sock_connect(struct hcomm_sock *hs,
		       const struct sockaddr_hcomm *sa, int flags);
int hcomm_sock_accept(struct hcomm_sock *hs, struct socket *newsock, int flags);
void hcomm_sock_disconnect(struct hcomm_sock *hs);
int hcomm_sock_open(struct hcomm_port *port, struct hcomm_rxlane *lane);
struct hcomm_sock *hcomm_sock_alloc(struct net *net, struct socket *sock,
				    int type, gfp_t gfp, int kern);

/* sock_send.c */
int hcomm_sock_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int hcomm_sock_shutdown_tx(struct hcomm_sock *hs);
void hcomm_sock_close_dests(struct hcomm_sock *hs);
bool hcomm_sock_writable(const struct hcomm_sock *hs);
void hcomm_sock_room(struct hcomm_sock *hs);

/* sock_recv.c */
int hcomm_sock_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		       int flags);
void hcomm_sock_take(struct hcomm_sock *hs, struct hcomm_rxmsg *m);
void hcomm_sock_close_rx(struct hcomm_sock *hs);
void hcomm_sock_queue_error(struct hcomm_sock *hs, u32 node, u32 port, int err,
			    u32 lost);
extern const struct hcomm_rxlane_ops hcomm_sock_rdm_rx_ops;

/* sock_opt.c */
int hcomm_sock_setsockopt(struct socket *sock, int level, int name,
			  sockptr_t val, unsigned int len);
int hcomm_sock_getsockopt(struct socket *sock, int level, int name,
			  char __user *val, int __user *len);

#endif /* HCOMM_SOCK_H */
