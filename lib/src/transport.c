// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The transport of the library: SOCK_SEQPACKET over AF_HCOMM. */
#include "transport.h"

#include <errno.h>
#include <unistd.h>

#include <hcomm/hcomm.h>

#define SESSION_TIMEOUT_MAX	3600000

static int fail(int fd)
{
	int err = errno;

	close(fd);
	return -err;
}

static int set_up(const struct hc_addr *addr, struct sockaddr_hcomm *sa, uint32_t timeout_ms)
{
	int fd = hcomm_addr(sa, addr->node, addr->port);

	if (fd)
		return fd;
	fd = hcomm_socket(SOCK_SEQPACKET, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return fd;
	if (timeout_ms > SESSION_TIMEOUT_MAX)
		timeout_ms = SESSION_TIMEOUT_MAX;
	/* Now: a connection takes it from here, or from its listener. */
	if (setsockopt(fd, SOL_HCOMM, HCOMM_SESSION_TIMEOUT, &timeout_ms, sizeof(timeout_ms)))
		return fail(fd);
	return fd;
}

static int hcomm_listen(const struct hc_addr *self, int backlog, uint32_t timeout_ms)
{
	const struct hc_addr any = { HCOMM_NODE_ANY, self->port };
	struct sockaddr_hcomm sa;
	int fd = set_up(&any, &sa, timeout_ms), on = 1;

	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) || listen(fd, backlog))
		return fail(fd);
	return fd;
}

static int hcomm_connect(const struct hc_addr *peer, uint32_t timeout_ms)
{
	struct sockaddr_hcomm sa;
	int fd = set_up(peer, &sa, timeout_ms);

	if (fd < 0)
		return fd;
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) && errno != EINPROGRESS)
		return fail(fd);
	return fd;
}

static int hcomm_accept(int fd, uint32_t *node)
{
	struct sockaddr_hcomm sa = { 0 };
	socklen_t len = sizeof(sa);
	int ret = accept4(fd, (struct sockaddr *)&sa, &len,
			  SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (ret < 0)
		return -errno;
	*node = len >= sizeof(sa) ? sa.shc_node : 0;
	return ret;
}

static int hcomm_max_msg(int fd, uint32_t *max)
{
	socklen_t len = sizeof(*max);
	int sndbuf;

	if (getsockopt(fd, SOL_HCOMM, HCOMM_MAX_MSG, max, &len))
		return -errno;
	/* What can never fit the send buffer is refused, too. */
	len = sizeof(sndbuf);
	if (!getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, &len) &&
	    sndbuf >= 0 && (uint32_t)sndbuf < *max)
		*max = (uint32_t)sndbuf;
	return 0;
}

static void hcomm_last_error(int fd, char *text, size_t len)
{
	socklen_t n = (socklen_t)len;

	/* The kernel ends it with a NUL. */
	if (getsockopt(fd, SOL_HCOMM, HCOMM_LAST_ERROR, text, &n) || !n)
		text[0] = '\0';
	text[len - 1] = '\0';
}

const struct hc_transport hc_transport = {
	.listen = hcomm_listen,
	.connect = hcomm_connect,
	.accept = hcomm_accept,
	.max_msg = hcomm_max_msg,
	.last_error = hcomm_last_error,
};
