// SPDX-License-Identifier: GPL-2.0
/* Makes sockets in each of their states. */
#include "surface.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/*
 * With connections, and SOCK_RDM.
 *
 * pending	 listening, a connection waits to be accepted
 * accepted	 connected, made by accept()
 * readable	 a message of TEN bytes waits
 * full		 the send buffer is full, and nobody reads
 * full-shut-wr	 likewise, and we said that nothing follows
 * peer-shut-wr	 the peer said that nothing follows
 * peer-closed	 the peer has closed, with nothing unread
 * reset	 the peer has closed with something unread; not heard of yet
 * reset-seen	 likewise, and the error was fetched by SO_ERROR
 * data-reset	 likewise, and there is a message from before that
 * refused	 connect() has failed
 * refused-soon	 it has failed in the background, which was not heard of yet
 * refused-seen	 likewise, and the error was fetched by SO_ERROR
 * no-node	 a new socket where no node is configured
 * congested	 the default destination takes no more
 * errors	 something is in the error queue
 */
const char *const state_names[2][32] = {
	{
		"fresh", "bound", "listening", "pending", "connecting",
		"connected", "accepted", "readable", "full", "full-shut-wr",
		"peer-shut-wr", "peer-shut-rd", "peer-closed", "shut-rd",
		"shut-wr", "shut-rdwr", "reset", "reset-seen", "data-reset",
		"refused", "refused-soon", "refused-seen", "no-node", NULL,
	},
	{
		"fresh", "bound", "connected", "readable", "congested", "full",
		"errors", "no-node", NULL,
	},
};

static int space[3];	/* own node, peer, where there is no node */
static int here;
static int live_fd[2], packed_fd[2];
static uint32_t live[2], packed[2];

static void enter(int i)
{
	if (here == i)
		return;
	if (setns(space[i], CLONE_NEWNET))
		die("setns: %s", strerror(errno));
	here = i;
}

static int open_in(int i, int type)
{
	int fd;

	enter(i);
	fd = socket(family, type | SOCK_CLOEXEC, 0);
	enter(0);
	if (fd < 0)
		die("socket: %s", strerror(errno));
	return fd;
}

int socket_at(uint32_t node, int type)
{
	return open_in(node == own_node ? 0 : 1, type);
}

struct sockaddr_hcomm address(uint32_t node, uint32_t port)
{
	return (struct sockaddr_hcomm){
		.shc_family = family, .shc_node = node, .shc_port = port,
	};
}

uint32_t port_of(int fd)
{
	struct sockaddr_hcomm sa = {};
	socklen_t len = sizeof(sa);

	if (getsockname(fd, (void *)&sa, &len))
		die("getsockname: %s", strerror(errno));
	return sa.shc_port;
}

/* What has come of @events (or an error) within @ms. */
int await(int fd, int events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, ms) > 0 ? p.revents : 0;
}

void nonblocking(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

static bool bind_any(int fd)
{
	struct sockaddr_hcomm sa = address(0, 0);

	return !bind(fd, (void *)&sa, sizeof(sa));
}

static void small_buffers(int fd)
{
	int rx = 4096, tx = 128 << 10;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rx, sizeof(rx)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &tx, sizeof(tx)))
		die("buffers: %s", strerror(errno));
}

int listener_at(uint32_t node, int type, int backlog, uint32_t *port)
{
	int fd = socket_at(node, type);

	small_buffers(fd);
	if (!bind_any(fd) || listen(fd, backlog))
		die("listen: %s", strerror(errno));
	*port = port_of(fd);
	return fd;
}

uint32_t live_port(int type)
{
	return live[type == SOCK_STREAM];
}

uint32_t packed_port(int type)
{
	return packed[type == SOCK_STREAM];
}

void prepare_states(void)
{
	struct sockaddr_hcomm sa;
	char path[64];
	int i, fd;

	space[0] = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/run/netns/hn%u", peer_node);
	space[1] = open(path, O_RDONLY | O_CLOEXEC);
	if (space[0] < 0 || space[1] < 0)
		die("%s: %s", path, strerror(errno));
	if (unshare(CLONE_NEWNET))
		die("unshare: %s", strerror(errno));
	space[2] = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	here = 2;
	enter(0);
	for (i = 0; i < 2; i++) {
		int type = i ? SOCK_STREAM : SOCK_SEQPACKET;

		live_fd[i] = listener_at(peer_node, type, 16, &live[i]);
		nonblocking(live_fd[i], true);
		/* One waits, and there is room for one. */
		packed_fd[i] = listener_at(peer_node, type, 1, &packed[i]);
		fd = socket_at(own_node, type);
		sa = address(peer_node, packed[i]);
		if (connect(fd, (void *)&sa, sizeof(sa)))
			die("connect: %s", strerror(errno));
	}
}

/* A connection from node 1 to the other node. */
bool connected_pair(int type, int *fd, int *peer)
{
	struct sockaddr_hcomm sa = address(peer_node, live_port(type));
	socklen_t len = sizeof(sa);

	*fd = socket_at(own_node, type);
	small_buffers(*fd);
	*peer = -1;
	if (connect(*fd, (void *)&sa, sizeof(sa)))
		return false;
	/* Connections of earlier calls may be before it. */
	do {
		if (*peer >= 0)
			close(*peer);
		await(live_fd[type == SOCK_STREAM], POLLIN, 2000);
		*peer = accept4(live_fd[type == SOCK_STREAM], (void *)&sa, &len,
				SOCK_CLOEXEC);
	} while (*peer >= 0 && sa.shc_port != port_of(*fd));
	return *peer >= 0;
}

/* Sends until nothing more is taken, and nothing moves either. */
void fill(int fd)
{
	static char piece[FULL_PIECE];
	int i, queued = 0, sent = 0, before, was = -1;

	/* What is not acknowledged now must be all that was sent too much. */
	ioctl(fd, TIOCOUTQ, &before);
	for (i = 0; i < 200; i++, was = sent) {
		while (send(fd, piece, sizeof(piece),
			    MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
			sent += sizeof(piece);
		ioctl(fd, TIOCOUTQ, &queued);
		if (sent == was && sent - (queued - before) == WINDOW)
			break;
		poll(NULL, 0, i < 20 ? 1 : 10);
	}
	while (send(fd, piece, TEN, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
	/* SOCK_RDM: of the times when there was room again. */
	while (!recv(fd, piece, sizeof(piece), MSG_ERRQUEUE))
		;
}

static bool connected_state(struct cell *c)
{
	const char *s = c->state;
	int err;
	socklen_t len = sizeof(err);

	if (!connected_pair(c->type, &c->fd, &c->peer))
		return false;
	if (is(s, "readable") || is(s, "data-reset")) {
		if (send(c->peer, "0123456789", TEN, 0) != TEN ||
		    !(await(c->fd, POLLIN, 2000) & POLLIN))
			return false;
	}
	if (!strncmp(s, "full", 4))
		fill(c->fd);
	if (!strncmp(s, "peer-shut", 9)) {
		bool wr = is(s, "peer-shut-wr");

		if (shutdown(c->peer, wr ? SHUT_WR : SHUT_RD))
			return false;
		return !wr || await(c->fd, POLLRDHUP, 2000) & POLLRDHUP;
	}
	if (is(s, "peer-closed")) {
		close(c->peer);
		c->peer = -1;
		return await(c->fd, POLLRDHUP, 2000) & POLLRDHUP;
	}
	if (is(s, "shut-rd"))
		return !shutdown(c->fd, SHUT_RD);
	if (is(s, "shut-wr") || is(s, "full-shut-wr"))
		return !shutdown(c->fd, SHUT_WR);
	if (is(s, "shut-rdwr"))
		return !shutdown(c->fd, SHUT_RDWR);
	if (is(s, "reset") || is(s, "reset-seen") || is(s, "data-reset")) {
		if (send(c->fd, "0123456789", TEN, 0) != TEN ||
		    !(await(c->peer, POLLIN, 2000) & POLLIN))
			return false;
		close(c->peer);
		c->peer = -1;
		if (!(await(c->fd, 0, 2000) & POLLERR))
			return false;
		if (is(s, "reset-seen"))
			return !getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err,
					   &len) && err == ECONNRESET;
	}
	return true;
}

static bool pending_state(struct cell *c)
{
	struct sockaddr_hcomm sa;
	uint32_t port;

	c->fd = listener_at(own_node, c->type, 4, &port);
	if (is(c->state, "listening"))
		return true;
	sa = address(own_node, port);
	c->peer = socket_at(peer_node, c->type);
	if (connect(c->peer, (void *)&sa, sizeof(sa)))
		return false;
	if (!is(c->state, "accepted"))
		return true;
	port = c->fd;
	c->fd = accept(c->fd, NULL, NULL);
	close(port);
	return c->fd >= 0;
}

static bool refused_state(struct cell *c)
{
	struct sockaddr_hcomm sa = address(peer_node, PORT_DEAD);
	socklen_t len = sizeof(int);
	int err;

	c->fd = socket_at(own_node, c->type);
	nonblocking(c->fd, !is(c->state, "refused"));
	if (!connect(c->fd, (void *)&sa, sizeof(sa)))
		return false;
	if (is(c->state, "refused"))
		return errno == ECONNREFUSED;
	if (errno != EINPROGRESS || !(await(c->fd, 0, 2000) & POLLERR))
		return false;
	nonblocking(c->fd, false);
	if (is(c->state, "refused-seen"))
		return !getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &len) &&
		       err == ECONNREFUSED;
	return true;
}

static bool connecting_state(struct cell *c)
{
	struct sockaddr_hcomm sa = address(peer_node, packed_port(c->type));

	c->fd = socket_at(own_node, c->type);
	nonblocking(c->fd, true);
	if (!connect(c->fd, (void *)&sa, sizeof(sa)) || errno != EINPROGRESS)
		return false;
	nonblocking(c->fd, false);
	return true;
}

static bool rdm_state(struct cell *c)
{
	struct sockaddr_hcomm sa;
	int i, want = is(c->state, "full") ? MAX_PEERS : 1;

	c->fd = socket_at(own_node, SOCK_RDM);
	small_buffers(c->fd);
	if (is(c->state, "errors")) {
		sa = address(peer_node, PORT_DEAD);
		return sendto(c->fd, "0123456789", TEN, 0, (void *)&sa,
			      sizeof(sa)) == TEN &&
		       await(c->fd, 0, 2000) & POLLERR;
	}
	for (i = 0; i < want; i++) {
		c->peer = socket_at(peer_node, SOCK_RDM);
		c->peers[c->nr_peers++] = c->peer;
		if (!bind_any(c->peer))
			return false;
		sa = address(peer_node, port_of(c->peer));
		if (connect(c->fd, (void *)&sa, sizeof(sa)))
			return false;
		if (is(c->state, "congested") || is(c->state, "full"))
			fill(c->fd);
	}
	if (!is(c->state, "readable"))
		return true;
	sa = address(own_node, port_of(c->fd));
	return sendto(c->peer, "0123456789", TEN, 0, (void *)&sa,
		      sizeof(sa)) == TEN && await(c->fd, POLLIN, 2000) & POLLIN;
}

bool make_state(struct cell *c)
{
	const char *s = c->state;
	bool ok = true;

	c->fd = -1;
	c->peer = -1;
	c->nr_peers = 0;
	if (is(s, "fresh"))
		c->fd = socket_at(own_node, c->type);
	else if (is(s, "no-node"))
		c->fd = open_in(2, c->type);
	else if (is(s, "bound"))
		ok = bind_any(c->fd = socket_at(own_node, c->type));
	else if (c->type == SOCK_RDM)
		return rdm_state(c);
	else if (is(s, "listening") || is(s, "pending") || is(s, "accepted"))
		ok = pending_state(c);
	else if (is(s, "connecting"))
		ok = connecting_state(c);
	else if (!strncmp(s, "refused", 7))
		ok = refused_state(c);
	else
		ok = connected_state(c);
	if (c->peer >= 0)
		c->peers[c->nr_peers++] = c->peer;
	return ok;
}

void end_state(struct cell *c)
{
	int i, fd;

	if (c->fd >= 0)
		close(c->fd);
	for (i = 0; i < c->nr_peers; i++)
		close(c->peers[i]);
	/* What the call itself has connected. */
	for (i = 0; i < 2; i++)
		while ((fd = accept4(live_fd[i], NULL, NULL, 0)) >= 0)
			close(fd);
}
