/* SPDX-License-Identifier: GPL-2.0 */
/* All differences between kernels, and nothing else, live here. */
#ifndef HCOMM_COMPAT_H
#define HCOMM_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/net.h>
#include <linux/version.h>
#include <net/genetlink.h>
#include <net/ipv6.h>
#include <net/ipv6_stubs.h>
#include <net/sock.h>
#include <net/tcp.h>

/* It moved in 6.12. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* proto_ops.accept took its flags and "kern" one by one before 6.10. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define HCOMM_ACCEPT_ARGS	struct proto_accept_arg *arg
#define HCOMM_ACCEPT_FLAGS	(arg->flags)
#else
#define HCOMM_ACCEPT_ARGS	int accept_flags, bool accept_kern
#define HCOMM_ACCEPT_FLAGS	accept_flags
#endif

/*
 * What the kernel itself adds to the flags of sendmsg: for sendmmsg(), and for
 * splice() and sendfile(), which were made of sendpage() before 6.5.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define HCOMM_MSG_HINTS		(MSG_BATCH | MSG_SPLICE_PAGES)
#define HCOMM_MSG_SENDPAGE_MORE	0
#else
#define HCOMM_MSG_HINTS		MSG_BATCH
#define HCOMM_MSG_SENDPAGE_MORE	MSG_SENDPAGE_NOTLAST
#endif

static inline void hcomm_compat_hrtimer_setup(struct hrtimer *timer,
					      enum hrtimer_restart (*fn)(struct hrtimer *),
					      clockid_t clock,
					      enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, fn, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
#endif
}

/* IPv6 is called through a table while it may be a module: up to 7.0. */
static inline struct dst_entry *hcomm_compat_route6(struct net *net,
						    struct sock *sk,
						    struct flowi6 *fl6)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0)
	return ip6_dst_lookup_flow(net, sk, fl6, NULL);
#else
	return ipv6_stub->ipv6_dst_lookup_flow(net, sk, fl6, NULL);
#endif
}

/*
 * Sends pages by reference on a TCP socket that is locked, without waiting;
 * @more: there will be more at once. By sendpage() before 6.5.
 */
static inline int hcomm_compat_tcp_send(struct sock *sk,
					const struct bio_vec *bv, u32 nr,
					u32 len, bool more)
{
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	struct msghdr msg = {
		.msg_flags = flags | MSG_SPLICE_PAGES | (more ? MSG_MORE : 0),
	};

	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, bv, nr, len);
	return tcp_sendmsg_locked(sk, &msg, len);
#else
	int n, sent = 0;

	for (; nr; bv++, sent += n) {
		if (--nr)
			n = MSG_MORE | MSG_SENDPAGE_NOTLAST;
		else
			n = more ? MSG_MORE : 0;
		n = tcp_sendpage_locked(sk, bv->bv_page, bv->bv_offset,
					bv->bv_len, flags | n);
		if (n < 0)
			return sent ? sent : n;
		if (n < bv->bv_len)
			return sent + n;
	}
	return sent;
#endif
}

/* Where a dump finds its attributes: moved into struct genl_info in 6.6. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define HCOMM_DUMP_ATTRS	info.attrs
#else
#define HCOMM_DUMP_ATTRS	attrs
#endif

/* The type of addresses in proto_ops. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
typedef struct sockaddr_unsized hcomm_sockaddr;
#else
typedef struct sockaddr hcomm_sockaddr;
#endif

#endif /* HCOMM_COMPAT_H */
