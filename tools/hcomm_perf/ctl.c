// SPDX-License-Identifier: GPL-2.0
/*
 * The connection on which client and server agree: TCP or SEQPACKET of
 * AF_HCOMM. It has 32-bit numbers in network byte order, and texts.
 */
#include "perf.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static int send_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;
	ssize_t n;

	while (len) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int recv_all(int fd, void *buf, size_t len)
{
	char *p = buf;
	ssize_t n;

	while (len) {
		n = recv(fd, p, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (!n)
			return -EPIPE;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int ctl_send(int fd, const uint32_t *words, unsigned int nr)
{
	uint32_t buf[32];
	unsigned int i;

	if (nr > sizeof(buf) / sizeof(buf[0]))
		return -EINVAL;
	for (i = 0; i < nr; i++)
		buf[i] = htonl(words[i]);
	return send_all(fd, buf, nr * sizeof(*buf));
}

int ctl_recv(int fd, uint32_t *words, unsigned int nr)
{
	unsigned int i;
	int err;

	err = recv_all(fd, words, nr * sizeof(*words));
	if (err)
		return err;
	for (i = 0; i < nr; i++)
		words[i] = ntohl(words[i]);
	return 0;
}

int ctl_send_text(int fd, const char *text, size_t len)
{
	return send_all(fd, text, len);
}

int ctl_recv_text(int fd, char *text, size_t len)
{
	int err = recv_all(fd, text, len);

	if (!err && (!len || text[len - 1] || strlen(text) != len - 1))
		err = -EPROTO;
	return err;
}

void put64(uint32_t *words, uint64_t val)
{
	words[0] = (uint32_t)val;
	words[1] = (uint32_t)(val >> 32);
}

uint64_t get64(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}
