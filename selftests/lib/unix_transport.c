// SPDX-License-Identifier: GPL-2.0
/*
 * Stands in for AF_HCOMM where the module cannot be loaded: SOCK_SEQPACKET
 * over AF_UNIX, which keeps message boundaries, too. Linked only into tests.
 */
#include "../../lib/src/transport.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "t.h"

#define SNDBUF	(400 * 1024)
#define MAX_MSG	(192 * 1024)

/* An abstract name: nothing is left in the file system. */
static socklen_t name(struct sockaddr_un *sa, const struct hc_addr *addr)
{
	const char *id = getenv("HCOMM_TEST_ID");
	int n;

	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	n = snprintf(sa->sun_path + 1, sizeof(sa->sun_path) - 1, "hcomm-test-%s-%u-%u",
		     id ? id : "0", addr->node, addr->port);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static int make(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int size = SNDBUF;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	return fd;
}

static int fail(int fd)
{
	int err = errno;

	close(fd);
	return -err;
}

static int unix_listen(const struct hc_addr *self, int backlog, uint32_t timeout_ms)
{
	struct sockaddr_un sa;
	socklen_t len = name(&sa, self);
	int fd = make();

	(void)timeout_ms;
	if (fd < 0)
		return fd;
	if (bind(fd, (struct sockaddr *)&sa, len) || listen(fd, backlog))
		return fail(fd);
	return fd;
}

static int unix_connect(const struct hc_addr *peer, uint32_t timeout_ms)
{
	struct sockaddr_un sa;
	socklen_t len = name(&sa, peer);
	int fd = make();

	(void)timeout_ms;
	if (fd < 0)
		return fd;
	if (connect(fd, (struct sockaddr *)&sa, len) && errno != EINPROGRESS)
		return fail(fd);
	return fd;
}

static int unix_accept(int fd, uint32_t *node)
{
	int ret = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	int size = SNDBUF;

	if (ret < 0)
		return -errno;
	setsockopt(ret, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	*node = 0;
	return ret;
}

static int unix_max_msg(int fd, uint32_t *len)
{
	(void)fd;
	*len = MAX_MSG;
	return 0;
}

static void unix_last_error(int fd, char *text, size_t len)
{
	(void)fd;
	snprintf(text, len, "unix");
}

const struct hc_transport hc_transport = {
	.listen = unix_listen,
	.connect = unix_connect,
	.accept = unix_accept,
	.max_msg = unix_max_msg,
	.last_error = unix_last_error,
};

const bool t_real;
