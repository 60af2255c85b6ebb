/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * What carries the messages of a communicator: connected sockets that keep
 * message boundaries, made here and used by sendmsg, recvmsg and poll. The
 * library has one, AF_HCOMM; the tests put another in its place when they are
 * linked, so that everything above runs without the module.
 */
#ifndef HC_TRANSPORT_H
#define HC_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

struct hc_addr {
	uint32_t node;
	uint32_t port;
};

struct hc_transport {
	/*
	 * Non-blocking listening socket, or a negative errno value. This and
	 * the next: a connection fails after @timeout_ms without any path.
	 */
	int (*listen)(const struct hc_addr *self, int backlog, uint32_t timeout_ms);
	/*
	 * Non-blocking socket on its way to @peer, or a negative errno value;
	 * poll() says POLLOUT and SO_ERROR the outcome.
	 */
	int (*connect)(const struct hc_addr *peer, uint32_t timeout_ms);
	/* Non-blocking accepted socket; *node: where it comes from, 0 unknown. */
	int (*accept)(int fd, uint32_t *node);
	/* Longest message in bytes. */
	int (*max_msg)(int fd, uint32_t *len);
	/* Text of the last error of a socket; may leave it empty. */
	void (*last_error)(int fd, char *text, size_t len);
};

extern const struct hc_transport hc_transport;

#endif /* HC_TRANSPORT_H */
