// SPDX-License-Identifier: GPL-2.0
/* Calls about names and connections. */
#include "surface.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* An address that is wrong in its form; false: the argument is another. */
static bool misform(const char *arg, struct sockaddr_hcomm *sa, socklen_t *len)
{
	if (is(arg, "short"))
		*len = sizeof(*sa) - 1;
	else if (is(arg, "empty"))
		*len = 0;
	else if (is(arg, "long"))
		*len = sizeof(*sa) + 1;
	else if (is(arg, "storage"))
		*len = sizeof(struct sockaddr_storage);
	else if (is(arg, "huge"))
		*len = sizeof(struct sockaddr_storage) + 1;
	else if (is(arg, "negative"))
		*len = -1;
	else if (is(arg, "family"))
		sa->shc_family = AF_INET;
	else if (is(arg, "unspec"))
		sa->shc_family = AF_UNSPEC;
	else if (is(arg, "reserved0"))
		sa->shc_reserved0 = 1;
	else if (is(arg, "reserved1"))
		sa->shc_reserved1 = 1;
	else
		return false;
	return true;
}

/* Addresses lie in front of zeros, so that long ones can be read. */
struct long_address {
	struct sockaddr_hcomm sa;
	char more[256];
};

static void do_bind(struct cell *c)
{
	struct long_address a = { .sa = address(0, 0) };
	socklen_t len = sizeof(a.sa);
	void *p = &a;
	int other = -1;
	long r;

	if (misform(c->arg, &a.sa, &len))
		;
	else if (is(c->arg, "own-node"))
		a.sa.shc_node = own_node;
	else if (is(c->arg, "other-node"))
		a.sa.shc_node = NODE_NONE;
	else if (is(c->arg, "fault"))
		p = bad_address();
	else if (is(c->arg, "privileged") || is(c->arg, "privileged-user"))
		a.sa.shc_port = 1023;
	else if (is(c->arg, "first-free-user"))
		a.sa.shc_port = 1024;
	if (is(c->arg, "in-use")) {
		struct sockaddr_hcomm any = address(0, 0);

		other = is(c->state, "no-node") ? c->fd :
			socket_at(own_node, c->type);
		if (bind(other, (void *)&any, sizeof(any)) &&
		    other != c->fd)
			die("bind: %s", strerror(errno));
		a.sa.shc_port = port_of(other);
	}
	if (strstr(c->arg, "-user") && seteuid(65534))
		die("seteuid: %s", strerror(errno));
	r = bind(c->fd, p, len);
	if (strstr(c->arg, "-user")) {
		int err = errno;

		if (seteuid(0))
			die("seteuid: %s", strerror(errno));
		errno = err;
	}
	put(c, r);
	if (other >= 0 && other != c->fd)
		close(other);
}

static void do_connect(struct cell *c)
{
	struct long_address a = { .sa = address(peer_node, 0) };
	socklen_t len = sizeof(a.sa);
	void *p = &a;
	int other = -1;

	a.sa.shc_port = c->type == SOCK_RDM ? PORT_DEAD : live_port(c->type);
	if (misform(c->arg, &a.sa, &len))
		;
	else if (is(c->arg, "refused"))
		a.sa.shc_port = PORT_DEAD;
	else if (is(c->arg, "no-route"))
		a.sa.shc_node = NODE_NONE;
	else if (is(c->arg, "node0"))
		a.sa.shc_node = 0;
	else if (is(c->arg, "port0"))
		a.sa.shc_port = 0;
	else if (is(c->arg, "fault"))
		p = bad_address();
	else if (is(c->arg, "other-type"))
		a.sa.shc_port = live_port(c->type == SOCK_STREAM ?
					  SOCK_SEQPACKET : SOCK_STREAM);
	/* One that is being made already would be waited for. */
	if (is(c->arg, "nonblock") || is(c->state, "connecting"))
		nonblocking(c->fd, true);
	put(c, connect(c->fd, p, len));
	if (is(c->arg, "again")) {
		/* As the errors of the first call were fetched. */
		put(c, connect(c->fd, p, len));
	}
	if (is(c->arg, "nonblock") && is(c->got, "EINPROGRESS")) {
		int err = -1;
		socklen_t n = sizeof(err);

		if (await(c->fd, POLLOUT, 2000) != POLLOUT)
			put_text(c, "EINPROGRESS, then not POLLOUT");
		else if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &n) ||
			 err)
			put_text(c, "EINPROGRESS, then SO_ERROR");
		else if (connect(c->fd, p, len))
			put_text(c, "EINPROGRESS, then not 0");
		else if (!connect(c->fd, p, len) || errno != EISCONN)
			put_text(c, "EINPROGRESS, then not EISCONN");
	}
	if (other >= 0)
		close(other);
}

static void do_listen(struct cell *c)
{
	put(c, listen(c->fd, is(c->arg, "zero") ? 0 :
		      is(c->arg, "negative") ? -1 : 4));
	if (is(c->got, "0") && is(c->state, "fresh") && !port_of(c->fd))
		put_text(c, "0, but no port");
}

static void do_accept(struct cell *c)
{
	struct sockaddr_hcomm sa, want;
	socklen_t len = sizeof(sa), wlen = sizeof(want);
	void *name = &sa;
	socklen_t *plen = &len;
	int flags = 0, fd, fl;

	if (is(c->arg, "nonblock"))
		flags = SOCK_NONBLOCK;
	else if (is(c->arg, "cloexec"))
		flags = SOCK_CLOEXEC;
	else if (is(c->arg, "bad-flags"))
		flags = 1;
	else if (is(c->arg, "no-name"))
		name = NULL, plen = NULL;
	else if (is(c->arg, "fault"))
		name = bad_address();
	else if (is(c->arg, "negative"))
		len = -1;
	if (!is(c->state, "pending"))
		nonblocking(c->fd, true);
	fd = accept4(c->fd, name, plen, flags);
	put(c, fd);
	if (fd < 0)
		return;
	put_text(c, "ok");
	fl = fcntl(fd, F_GETFL);
	if (!(fl & O_NONBLOCK) != !(flags & SOCK_NONBLOCK) ||
	    !(fcntl(fd, F_GETFD) & FD_CLOEXEC) != !(flags & SOCK_CLOEXEC))
		put_text(c, "ok, with other flags");
	if (name && (getsockname(c->peer, (void *)&want, &wlen) ||
		     len != sizeof(sa) || memcmp(&sa, &want, len)))
		put_text(c, "ok, with another name");
	close(fd);
}

/* NODE:PORT, where a port that is not 0 is a p, and an own node an n. */
static void put_name(struct cell *c, const struct sockaddr_hcomm *sa,
		     uint32_t node)
{
	if (sa->shc_family != family || sa->shc_reserved0 || sa->shc_reserved1)
		put_text(c, "a wrong address");
	else
		put_text(c, sa->shc_node == node ?
			 sa->shc_port ? "n:p" : "n:0" :
			 sa->shc_node ? "?:?" : sa->shc_port ? "0:p" : "0:0");
}

static void get_name(struct cell *c, uint32_t node,
		     int (*get)(int fd, struct sockaddr *sa, socklen_t *len))
{
	struct sockaddr_hcomm sa;
	socklen_t len = sizeof(sa);
	int r;

	memset(&sa, 0xff, sizeof(sa));
	if (is(c->arg, "short"))
		len = 4;
	else if (is(c->arg, "negative"))
		len = -1;
	r = get(c->fd, is(c->arg, "fault") ? bad_address() : (void *)&sa,
		&len);
	put(c, r);
	if (r)
		return;
	if (len != sizeof(sa))
		put_text(c, "not the length");
	else if (is(c->arg, "short") && sa.shc_node != 0xffffffff)
		put_text(c, "too much was written");
	else if (!is(c->arg, "short"))
		put_name(c, &sa, node);
}

static int sockname(int fd, struct sockaddr *sa, socklen_t *len)
{
	return getsockname(fd, sa, len);
}

static int peername(int fd, struct sockaddr *sa, socklen_t *len)
{
	return getpeername(fd, sa, len);
}

static void do_getsockname(struct cell *c)
{
	get_name(c, own_node, sockname);
}

static void do_getpeername(struct cell *c)
{
	get_name(c, peer_node, peername);
}

static void do_shutdown(struct cell *c)
{
	put(c, shutdown(c->fd, is(c->arg, "rd") ? SHUT_RD :
			is(c->arg, "wr") ? SHUT_WR :
			is(c->arg, "rdwr") ? SHUT_RDWR :
			is(c->arg, "bad") ? 3 : -1));
}

/* These have no state. */
static void do_socket(struct cell *c)
{
	int type = c->type, protocol = 0, fd;

	if (is(c->arg, "dgram"))
		type = SOCK_DGRAM;
	else if (is(c->arg, "raw"))
		type = SOCK_RAW;
	else if (is(c->arg, "type0"))
		type = 0;
	else if (is(c->arg, "protocol"))
		protocol = 1;
	else if (is(c->arg, "flags"))
		type |= SOCK_NONBLOCK | SOCK_CLOEXEC;
	fd = socket(family, type, protocol);
	put(c, fd);
	if (fd < 0)
		return;
	put_text(c, "ok");
	close(fd);
}

static void do_socketpair(struct cell *c)
{
	int fd[2];

	put(c, socketpair(family, c->type, 0, fd));
}

const struct call addr_calls[] = {
	{ "bind", do_bind }, { "connect", do_connect },
	{ "listen", do_listen }, { "accept", do_accept },
	{ "getsockname", do_getsockname }, { "getpeername", do_getpeername },
	{ "shutdown", do_shutdown }, { "socket", do_socket },
	{ "socketpair", do_socketpair }, { NULL, NULL },
};
