/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * hcomm: addresses, socket options and control messages of the AF_HCOMM
 * family. All structures have the same layout for 32-bit and 64-bit callers.
 */
#ifndef _UAPI_HCOMM_SOCKET_H
#define _UAPI_HCOMM_SOCKET_H

#include <linux/types.h>
#include <linux/socket.h>

/*
 * A module cannot use a family number >= AF_MAX, and AF_ASH (18) never had an
 * implementation in Linux. The number in use stands in
 * /sys/module/hcomm/parameters/family; hcomm_family() of libhcomm reads it.
 */
#ifndef AF_HCOMM
#define AF_HCOMM	18
#endif
#ifndef PF_HCOMM
#define PF_HCOMM	AF_HCOMM
#endif

#ifndef SOL_HCOMM
#define SOL_HCOMM	418
#endif

#define HCOMM_NODE_ANY	0	/* bind: this node; never a destination */
#define HCOMM_PORT_ANY	0	/* bind: choose a free port */
#define HCOMM_PORT_PRIV	1024	/* below: CAP_NET_BIND_SERVICE */
#define HCOMM_PORT_EPHEMERAL_FIRST	0x80000000u
#define HCOMM_PORT_EPHEMERAL_LAST	0xffffffffu

/**
 * struct sockaddr_hcomm - address of a socket
 * @shc_family: AF_HCOMM
 * @shc_reserved0: zero, else EINVAL
 * @shc_port: port in host byte order
 * @shc_node: node in host byte order; 0 is "any" in bind()
 * @shc_reserved1: zero, else EINVAL
 */
struct sockaddr_hcomm {
	__kernel_sa_family_t	shc_family;
	__u16			shc_reserved0;
	__u32			shc_port;
	__u32			shc_node;
	__u32			shc_reserved1;
};

/*
 * Socket options at level SOL_HCOMM.
 *
 * HCOMM_MAX_MSG (get, __u32): longest message of SOCK_SEQPACKET and SOCK_RDM
 *	in bytes; the largest amount queued as one piece on SOCK_STREAM.
 * HCOMM_SESSION_TIMEOUT (get/set, __u32): milliseconds that queued data waits
 *	for a usable path before ETIMEDOUT; 1..3600000, default 30000.
 * HCOMM_LAST_ERROR (get, char[]): text of this socket's last error, NUL
 *	terminated, empty when there was none.
 * HCOMM_CLASS (get/set, __u32): enum hcomm_class of what is sent.
 * HCOMM_RECVERR (get/set, __u32 bool): SOCK_RDM only, default 1: asynchronous
 *	errors are queued for recvmsg(MSG_ERRQUEUE).
 */
#define HCOMM_MAX_MSG		1
#define HCOMM_SESSION_TIMEOUT	2
#define HCOMM_LAST_ERROR	3
#define HCOMM_CLASS		4
#define HCOMM_RECVERR		5

/**
 * enum hcomm_class - what is sent first when a link has more than it can take
 * @HCOMM_CLASS_CONTROL: heartbeats and acknowledgements; not for sockets
 * @HCOMM_CLASS_LATENCY: small and urgent
 * @HCOMM_CLASS_BULK: the default
 * @HCOMM_CLASS_BACKGROUND: only what the others leave
 */
enum hcomm_class {
	HCOMM_CLASS_CONTROL,
	HCOMM_CLASS_LATENCY,
	HCOMM_CLASS_BULK,
	HCOMM_CLASS_BACKGROUND,
	__HCOMM_CLASS_MAX,
};

/**
 * struct hcomm_sock_err - control message (SOL_HCOMM, HCOMM_RECVERR) that
 *	recvmsg(MSG_ERRQUEUE) returns, one for each asynchronous error
 * @see_errno: ECONNREFUSED, ECONNRESET, ETIMEDOUT, EHOSTUNREACH: messages to
 *	@see_offender were not delivered; 0 with @see_writable set: a
 *	destination that was congested (ENOBUFS) takes messages again
 * @see_writable: 1 for a "writable again" record, else 0
 * @see_lost: number of messages that were dropped and will not arrive
 * @see_reserved: zero
 * @see_offender: the destination that this is about
 */
struct hcomm_sock_err {
	__u32			see_errno;
	__u32			see_writable;
	__u32			see_lost;
	__u32			see_reserved;
	struct sockaddr_hcomm	see_offender;
};

#endif /* _UAPI_HCOMM_SOCKET_H */
