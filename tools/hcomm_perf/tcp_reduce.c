// SPDX-License-Identifier: GPL-2.0
/*
 * all_reduce over TCP, for comparison: each rank owns a segment, gets all
 * others' part of it, and sends out the sum as it grows; or, for small
 * buffers, each sends all to each.
 */
#include "perf.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ONE_STEP_BYTES	4096
#define BLOCK		4096	/* elements that are summed at a time */

/**
 * struct conn - the way to another rank
 * @fd: connection
 * @tx: bytes of this all_reduce that were sent
 * @rx: bytes that were received
 * @part: its part of what this rank sums
 */
struct conn {
	int fd;
	size_t tx, rx;
	float *part;
};

struct tcp_ranks {
	uint32_t rank, nr;
	struct conn *conn;
	size_t room;		/* bytes of each part */
};

bool takes_one_step(size_t bytes)
{
	return bytes <= ONE_STEP_BYTES;
}

static int connect_to(struct tcp_ranks *t, uint32_t rank, const char *ip,
		      const char *local, uint32_t port, uint32_t buffer)
{
	double end = now() + QUIET_MS / 1000.0;
	struct timespec pause = { 0, 20000000 };
	struct sockaddr_storage to;
	socklen_t len;
	int fd;

	/* It may not listen yet. */
	for (;;) {
		fd = sock_connect(KIND_TCP, 0, ip, local, port, buffer, &to,
				  &len);
		if (fd != -ECONNREFUSED || now() > end)
			break;
		nanosleep(&pause, NULL);
	}
	if (fd < 0)
		return fd;
	t->conn[rank].fd = fd;
	return ctl_send(fd, &t->rank, 1);
}

static int accept_from_lower(struct tcp_ranks *t, int listener)
{
	uint32_t rank, i;
	int fd, err;

	for (i = 0; i < t->rank; i++) {
		fd = sock_accept(listener, KIND_TCP);
		if (fd < 0)
			return fd == -EAGAIN ? -ETIMEDOUT : fd;
		err = ctl_recv(fd, &rank, 1);
		if (!err && (rank >= t->rank || t->conn[rank].fd >= 0))
			err = -EPROTO;
		if (err) {
			close(fd);
			return err;
		}
		t->conn[rank].fd = fd;
	}
	return 0;
}

/*
 * Connects all with all: the higher rank listens.
 * @ip: addresses of the ranks from 1 on
 */
int tcp_ranks_new(struct tcp_ranks **out, uint32_t rank, uint32_t nr,
		  char *const *ip, const char *local, uint32_t port,
		  uint32_t buffer)
{
	struct tcp_ranks *t = allocate(sizeof(*t));
	uint32_t q, own = port + rank;
	int err = 0, listener = -1;

	t->rank = rank;
	t->nr = nr;
	t->conn = allocate(nr * sizeof(*t->conn));
	for (q = 0; q < nr; q++)
		t->conn[q].fd = -1;
	if (rank) {
		listener = sock_serve(KIND_TCP, local, &own, buffer);
		if (listener < 0)
			err = listener;
	}
	for (q = rank + 1; q < nr && !err; q++)
		err = connect_to(t, q, ip[q - 1], local, port + q, buffer);
	if (!err && rank)
		err = accept_from_lower(t, listener);
	if (listener >= 0)
		close(listener);
	if (err) {
		tcp_ranks_free(t);
		return err;
	}
	*out = t;
	return 0;
}

void tcp_ranks_free(struct tcp_ranks *t)
{
	uint32_t q;

	if (!t)
		return;
	for (q = 0; q < t->nr; q++) {
		if (t->conn[q].fd >= 0)
			close(t->conn[q].fd);
		free(t->conn[q].part);
	}
	free(t->conn);
	free(t);
}

static int make_room(struct tcp_ranks *t, size_t bytes)
{
	uint32_t q;

	if (bytes <= t->room)
		return 0;
	for (q = 0; q < t->nr; q++) {
		free(t->conn[q].part);
		t->conn[q].part = malloc(bytes);
		if (!t->conn[q].part) {
			t->room = 0;
			return -ENOMEM;
		}
	}
	t->room = bytes;
	return 0;
}

/* In the order of the ranks, as libhcomm does it. */
static void sum(struct tcp_ranks *t, const float *own, float *dst,
		size_t first, size_t end)
{
	size_t i, n;
	uint32_t q;

	for (; first < end; first += n) {
		n = end - first < BLOCK ? end - first : BLOCK;
		for (q = 0; q < t->nr; q++) {
			const float *src = q == t->rank ? own :
					   t->conn[q].part;
			const float *restrict from = src + first;
			float *restrict to = dst + first;

			if (!q)
				memcpy(to, from, n * sizeof(*to));
			else
				for (i = 0; i < n; i++)
					to[i] += from[i];
		}
	}
}

/**
 * struct work - an all_reduce that goes on
 * @send: of this rank
 * @recv: result
 * @count: elements
 * @mine: first element that this rank sums
 * @nr_mine: how many it sums
 * @summed: so far
 * @one_step: all send all to all
 */
struct work {
	const float *send;
	float *recv;
	size_t count, mine, nr_mine, summed;
	bool one_step;
};

static size_t seg(const struct tcp_ranks *t, const struct work *w, uint32_t q)
{
	return w->count * q / t->nr;
}

static size_t seg_bytes(const struct tcp_ranks *t, const struct work *w,
			uint32_t q)
{
	if (w->one_step)
		return 0;
	return (seg(t, w, q + 1) - seg(t, w, q)) * sizeof(float);
}

/* What can be sent to @q now; 0: nothing. */
static size_t to_send(struct tcp_ranks *t, const struct work *w, uint32_t q,
		      const char **from)
{
	const struct conn *c = &t->conn[q];
	size_t first = w->one_step ? w->count * sizeof(float) :
				     seg_bytes(t, w, q);

	if (c->tx < first) {
		*from = (const char *)(w->send + (w->one_step ? 0 :
						  seg(t, w, q))) + c->tx;
		return first - c->tx;
	}
	if (w->one_step)
		return 0;
	*from = (const char *)(w->recv + w->mine) + (c->tx - first);
	return w->summed * sizeof(float) - (c->tx - first);
}

/* Where the next bytes of @q go; 0: nothing more comes. */
static size_t to_recv(struct tcp_ranks *t, const struct work *w, uint32_t q,
		      char **to)
{
	const struct conn *c = &t->conn[q];
	size_t first = w->nr_mine * sizeof(float);

	if (c->rx < first) {
		*to = (char *)c->part + c->rx;
		return first - c->rx;
	}
	*to = (char *)(w->recv + seg(t, w, q)) + (c->rx - first);
	return first + seg_bytes(t, w, q) - c->rx;
}

static int move(struct tcp_ranks *t, struct work *w, uint32_t q, bool *moved)
{
	struct conn *c = &t->conn[q];
	const char *from;
	size_t len;
	ssize_t n;
	char *to;

	len = to_recv(t, w, q, &to);
	if (len) {
		n = recv(c->fd, to, len, MSG_DONTWAIT);
		if (!n)
			return -ECONNRESET;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n > 0) {
			c->rx += (size_t)n;
			*moved = true;
		}
	}
	len = to_send(t, w, q, &from);
	if (len) {
		n = send(c->fd, from, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n > 0) {
			c->tx += (size_t)n;
			*moved = true;
		}
	}
	return 0;
}

static void sum_arrived(struct tcp_ranks *t, struct work *w)
{
	size_t have = w->nr_mine;
	uint32_t q;

	for (q = 0; q < t->nr; q++)
		if (q != t->rank && t->conn[q].rx / sizeof(float) < have)
			have = t->conn[q].rx / sizeof(float);
	if (have == w->summed)
		return;
	sum(t, w->send + w->mine, w->recv + w->mine, w->summed, have);
	w->summed = have;
}

static int wait_for_more(struct tcp_ranks *t, struct work *w)
{
	struct pollfd p[MAX_RANKS];
	const char *from;
	uint32_t q;
	char *to;
	int n;

	for (q = 0; q < t->nr; q++) {
		p[q].fd = q == t->rank ? -1 : t->conn[q].fd;
		p[q].events = 0;
		if (q == t->rank)
			continue;
		if (to_recv(t, w, q, &to))
			p[q].events |= POLLIN;
		if (to_send(t, w, q, &from))
			p[q].events |= POLLOUT;
		if (!p[q].events)
			p[q].fd = -1;
	}
	n = poll(p, t->nr, QUIET_MS);
	if (n < 0 && errno != EINTR)
		return -errno;
	return n ? 0 : -ETIMEDOUT;
}

static bool complete(struct tcp_ranks *t, const struct work *w)
{
	const char *from;
	uint32_t q;
	char *to;

	for (q = 0; q < t->nr; q++)
		if (q != t->rank && (to_recv(t, w, q, &to) ||
				     to_send(t, w, q, &from)))
			return false;
	return w->summed == w->nr_mine;
}

int tcp_all_reduce(struct tcp_ranks *t, const float *send, float *recv,
		   size_t count)
{
	struct work w = { .send = send, .recv = recv, .count = count };
	bool moved;
	uint32_t q;
	int err;

	w.one_step = takes_one_step(count * sizeof(float));
	w.mine = w.one_step ? 0 : seg(t, &w, t->rank);
	w.nr_mine = w.one_step ? count : seg(t, &w, t->rank + 1) - w.mine;
	err = make_room(t, w.nr_mine * sizeof(float));
	for (q = 0; q < t->nr; q++)
		t->conn[q].tx = t->conn[q].rx = 0;
	/* Alone, or with nothing of its own to sum. */
	sum_arrived(t, &w);
	while (!err && !complete(t, &w)) {
		moved = false;
		for (q = 0; q < t->nr && !err; q++)
			if (q != t->rank)
				err = move(t, &w, q, &moved);
		sum_arrived(t, &w);
		if (!err && !moved && !complete(t, &w))
			err = wait_for_more(t, &w);
	}
	return err;
}
