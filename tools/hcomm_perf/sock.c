// SPDX-License-Identifier: GPL-2.0
/* One way to make sockets of AF_HCOMM, TCP and UDP. */
#include "perf.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

const char *const kind_names[] = {
	"seqpacket", "stream", "rdm", "tcp", "udp", "none"
};

bool is_hcomm(enum kind kind)
{
	return kind <= KIND_RDM;
}

bool is_datagram(enum kind kind)
{
	return kind == KIND_RDM || kind == KIND_UDP;
}

static int sock_type(enum kind kind)
{
	switch (kind) {
	case KIND_SEQPACKET:
		return SOCK_SEQPACKET;
	case KIND_RDM:
		return SOCK_RDM;
	case KIND_UDP:
		return SOCK_DGRAM;
	default:
		return SOCK_STREAM;
	}
}

static int close_with(int fd)
{
	int err = errno;

	close(fd);
	return -err;
}

/* Address for @ip, or of both families for NULL. */
static int ip_addr(const char *ip, uint32_t port, struct sockaddr_storage *ss,
		   socklen_t *len)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;
	struct addrinfo *ai;
	char service[16];

	memset(ss, 0, sizeof(*ss));
	if (!ip) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons((uint16_t)port);
		*len = sizeof(*in6);
		return 0;
	}
	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(ip, service, &hints, &ai))
		return -EINVAL;
	memcpy(ss, ai->ai_addr, ai->ai_addrlen);
	*len = ai->ai_addrlen;
	freeaddrinfo(ai);
	return 0;
}

/* Whether it is an address at all. */
int ip_check(const char *ip)
{
	struct sockaddr_storage ss;
	socklen_t len;

	return ip_addr(ip, 0, &ss, &len);
}

int sock_timeout(int fd, uint32_t ms)
{
	struct timeval t = { ms / 1000, ms % 1000 * 1000 };

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)))
		return -errno;
	return 0;
}

static int set_up(int fd, enum kind kind, uint32_t buffer)
{
	int one = 1, err;

	/* Before a connection is there: its window depends on it. */
	if (buffer &&
	    (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof(buffer)) ||
	     setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer))))
		return -errno;
	err = sock_timeout(fd, QUIET_MS);
	if (!err && kind == KIND_TCP &&
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		err = -errno;
	return err;
}

static int make(enum kind kind, int family, uint32_t buffer)
{
	int fd, err;

	if (is_hcomm(kind)) {
		fd = hcomm_socket(sock_type(kind), SOCK_CLOEXEC);
		if (fd < 0)
			return fd;
	} else {
		fd = socket(family, sock_type(kind) | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return -errno;
	}
	err = set_up(fd, kind, buffer);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

static int bound_port(int fd, enum kind kind, uint32_t *port)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(fd, (struct sockaddr *)&ss, &len))
		return -errno;
	if (is_hcomm(kind))
		*port = ((struct sockaddr_hcomm *)&ss)->shc_port;
	else if (ss.ss_family == AF_INET)
		*port = ntohs(((struct sockaddr_in *)&ss)->sin_port);
	else
		*port = ntohs(((struct sockaddr_in6 *)&ss)->sin6_port);
	return 0;
}

static int serve_addr(enum kind kind, const char *ip, uint32_t port,
		      struct sockaddr_storage *ss, socklen_t *len)
{
	if (!is_hcomm(kind))
		return ip_addr(ip, port, ss, len);
	*len = sizeof(struct sockaddr_hcomm);
	return hcomm_addr((struct sockaddr_hcomm *)ss, HCOMM_NODE_ANY, port);
}

int sock_serve(enum kind kind, const char *ip, uint32_t *port, uint32_t buffer)
{
	struct sockaddr_storage ss;
	int fd, err, one = 1;
	socklen_t len;

	err = serve_addr(kind, ip, *port, &ss, &len);
	if (err)
		return err;
	fd = make(kind, ss.ss_family, buffer);
	/* No IPv6 here: IPv4 is any address, too. */
	if (fd == -EAFNOSUPPORT && !is_hcomm(kind) && !ip) {
		err = ip_addr("0.0.0.0", *port, &ss, &len);
		fd = err ? err : make(kind, ss.ss_family, buffer);
	}
	if (fd < 0)
		return fd;
	if (!is_hcomm(kind) && *port)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&ss, len) ||
	    (!is_datagram(kind) && listen(fd, 64)))
		return close_with(fd);
	err = bound_port(fd, kind, port);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

int sock_accept(int fd, enum kind kind)
{
	int conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC), err;

	if (conn < 0)
		return -errno;
	err = set_up(conn, kind, 0);
	if (err) {
		close(conn);
		return err;
	}
	return conn;
}

/*
 * A datagram socket is not connected: both ends use sendto() and recvfrom(),
 * the same for AF_HCOMM and UDP; @to is where to send.
 */
int sock_connect(enum kind kind, uint32_t node, const char *ip,
		 const char *local, uint32_t port, uint32_t buffer,
		 struct sockaddr_storage *to, socklen_t *to_len)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int fd, err;

	if (is_hcomm(kind)) {
		err = hcomm_addr((struct sockaddr_hcomm *)to, node, port);
		*to_len = sizeof(struct sockaddr_hcomm);
	} else {
		err = ip_addr(ip, port, to, to_len);
	}
	if (err)
		return err;
	fd = make(kind, to->ss_family, buffer);
	if (fd < 0)
		return fd;
	if (is_hcomm(kind)) {
		err = hcomm_addr((struct sockaddr_hcomm *)&ss, HCOMM_NODE_ANY,
				 HCOMM_PORT_ANY);
		len = sizeof(struct sockaddr_hcomm);
	} else if (local) {
		err = ip_addr(local, 0, &ss, &len);
	}
	if (err) {
		close(fd);
		return err;
	}
	if ((local || (is_hcomm(kind) && is_datagram(kind))) &&
	    bind(fd, (struct sockaddr *)&ss, len))
		return close_with(fd);
	if (!is_datagram(kind) && connect(fd, (struct sockaddr *)to, *to_len))
		return close_with(fd);
	return fd;
}
