// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * How ranks find one another. Each listens on its port, connects to the lower
 * ranks and is connected to by the higher. A connection counts when both have
 * said hello. Whoever else comes to the port is shown the door without any
 * effect on the others; ranks that are not there yet are tried again. When all
 * stand connected, a round in which all hear from all ends it, so that it
 * succeeds on all ranks or on none.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "engine.h"

#define RETRY_FIRST_MS	5
#define RETRY_LAST_MS	200
#define GUESTS		32	/* connections that have not said hello */
#define GUEST_MS	5000	/* and how long they may take */
#define PORT_BUSY_MS	2000	/* how long to wait for our own port */
#define LAST_WORDS_MS	1000	/* how long one that fails tells the others */
#define SLICE_MS	50	/* SO_RCVTIMEO, see wait_ready() */

enum state {
	AWAY,			/* not connected; lower ranks: try at .when */
	CONNECTING,
	GREETED,		/* our hello is out, theirs is awaited */
	READY,
};

struct contact {
	enum state state;
	int fd;			/* until it is ready */
	int64_t when;
	int backoff;
	int err;		/* of the last try, 0: none */
	const char *why;	/* more than err says, or NULL */
	bool heard;		/* ready, and its next message is in order */
};

struct guest {
	int fd;
	uint32_t node;
	int64_t since;
};

struct boot {
	struct hc_comm *c;
	struct hc_hello hello;
	struct contact *contact;
	struct pollfd *pfds;
	uint32_t *who;		/* of each pollfd: rank, or n + guest, or the listener */
	struct guest guest[GUESTS];
	int64_t now;
	uint32_t nready;
	unsigned long strangers;
	int lfd;
	bool failed;		/* only telling the others */
};

static void guest_close(struct guest *g)
{
	close(g->fd);
	g->fd = -1;
}

/* Try again later. */
static void go_away(struct boot *b, uint32_t rank, int err, const char *why)
{
	struct contact *t = &b->contact[rank];
	struct hc_peer *p = &b->c->peers[rank];

	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	if (t->state == READY)
		b->nready--;
	t->state = AWAY;
	t->heard = false;
	if (err || why) {
		t->err = err;
		t->why = why;
	}
	t->when = b->now + t->backoff;
	/* The ranks spread by themselves: each begins at another time. */
	t->backoff += t->backoff / 2 + 1;
	if (t->backoff > RETRY_LAST_MS)
		t->backoff = RETRY_LAST_MS;
}

static void be_ready(struct boot *b, uint32_t rank, int fd)
{
	struct contact *t = &b->contact[rank];

	b->c->peers[rank].fd = fd;
	t->fd = -1;
	t->state = READY;
	t->heard = false;
	b->nready++;
	if (b->failed)
		hc_tell(b->c, &b->c->peers[rank]);
}

/* Errors that waiting will not cure. */
static bool hopeless(int err)
{
	switch (err) {
	case EAFNOSUPPORT:
	case EACCES:
	case EPERM:
	case EMFILE:
	case ENFILE:
	case EINVAL:
	case ENOMEM:
		return true;
	default:
		return false;
	}
}

static int fail_connect(struct boot *b, uint32_t rank, int err)
{
	struct hc_comm *c = b->c;

	return hc_fail(c, err, "comm_create: rank %u cannot connect to rank %u (%u:%u): %s",
		       c->rank, rank, c->addrs[rank].node, c->addrs[rank].port,
		       hcomm_strerror(err));
}

static bool say_hello(struct boot *b, int fd, uint32_t to)
{
	uint8_t out[HC_HELLO_LEN];

	b->hello.to = to;
	hc_hello_put(out, &b->hello);
	return send(fd, out, sizeof(out), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(out);
}

static int start_connect(struct boot *b, uint32_t rank)
{
	struct hc_comm *c = b->c;
	int fd = hc_transport.connect(&c->addrs[rank], c->timeout_ms);

	if (fd < 0) {
		if (hopeless(-fd))
			return fail_connect(b, rank, -fd);
		go_away(b, rank, -fd, NULL);
		return 0;
	}
	b->contact[rank].fd = fd;
	b->contact[rank].state = CONNECTING;
	return 0;
}

static int end_connect(struct boot *b, uint32_t rank)
{
	int fd = b->contact[rank].fd, err = 0;
	socklen_t len = sizeof(err);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		err = errno;
	if (err && hopeless(err))
		return fail_connect(b, rank, err);
	if (err)
		go_away(b, rank, err, NULL);
	else if (!say_hello(b, fd, rank))
		go_away(b, rank, ECONNRESET, NULL);
	else
		b->contact[rank].state = GREETED;
	return 0;
}

/* Other settings or another version: no use in going on. */
static int check_settings(struct boot *b, const struct hc_hello *theirs)
{
	char text[HC_TEXT_LEN - 16];

	if (hc_hello_fits(theirs, &b->hello, text, sizeof(text)))
		return 0;
	return hc_fail(b->c, EPROTONOSUPPORT, "comm_create: %s", text);
}

/* The answer of a lower rank. */
static int hear_answer(struct boot *b, uint32_t rank)
{
	struct hc_comm *c = b->c;
	int fd = b->contact[rank].fd;
	uint8_t in[HC_HELLO_LEN + 1];
	struct hc_hello h;
	ssize_t r = recv(fd, in, sizeof(in), MSG_DONTWAIT);
	int ret;

	if (r < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (r <= 0) {
		go_away(b, rank, r ? errno : ECONNRESET, NULL);
		return 0;
	}
	if (!hc_hello_get(in, (size_t)r, &h)) {
		go_away(b, rank, 0, "another program listens there");
		return 0;
	}
	if (h.job != b->hello.job || h.nranks != c->n || h.rank != rank || h.to != c->rank) {
		go_away(b, rank, 0, "it has another HCOMM_ADDRS, HCOMM_SIZE or HCOMM_JOB");
		return 0;
	}
	ret = check_settings(b, &h);
	if (!ret || b->failed)
		be_ready(b, rank, fd);
	return ret;
}

static int let_in(struct boot *b)
{
	uint32_t node = 0;
	int i, slot, fd;

	/* Not more than fit at a time, so that the others get their turn. */
	for (i = 0; i < GUESTS; i++) {
		fd = hc_transport.accept(b->lfd, &node);
		if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM)
			return hc_fail(b->c, -fd, "comm_create: rank %u cannot accept a connection: %s",
				       b->c->rank, hcomm_strerror(fd));
		if (fd < 0)
			return 0;
		for (slot = 0; slot < GUESTS && b->guest[slot].fd >= 0; slot++)
			;
		if (slot == GUESTS) {
			/* The one who has been silent longest has to go. */
			int k;

			for (slot = 0, k = 1; k < GUESTS; k++)
				if (b->guest[k].since < b->guest[slot].since)
					slot = k;
			guest_close(&b->guest[slot]);
			b->strangers++;
		}
		b->guest[slot] = (struct guest){ .fd = fd, .node = node, .since = b->now };
	}
	return 0;
}

/* The first words of someone who has come to our port. */
static int hear_guest(struct boot *b, struct guest *g)
{
	struct hc_comm *c = b->c;
	uint8_t in[HC_HELLO_LEN + 1];
	struct hc_hello h;
	ssize_t r = recv(g->fd, in, sizeof(in), MSG_DONTWAIT);
	int ret;

	if (r < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (r <= 0 || !hc_hello_get(in, (size_t)r, &h)) {
		b->strangers++;
		guest_close(g);
		return 0;
	}
	if (h.job != b->hello.job || h.nranks != c->n || h.to != c->rank ||
	    h.rank <= c->rank || h.rank >= c->n ||
	    (g->node && g->node != c->addrs[h.rank].node)) {
		/* The answer tells it what it has come to. */
		say_hello(b, g->fd, h.rank);
		b->strangers++;
		guest_close(g);
		return 0;
	}
	if (!say_hello(b, g->fd, h.rank)) {
		guest_close(g);
		return 0;
	}
	ret = check_settings(b, &h);
	if (ret && !b->failed)
		return ret;
	/* A second one of the same rank: it has given up the first. */
	if (b->contact[h.rank].state == READY)
		go_away(b, h.rank, 0, NULL);
	be_ready(b, h.rank, g->fd);
	g->fd = -1;
	return 0;
}

/* Something from a rank that is ready: it is further, has failed or has gone. */
static int hear_ready(struct boot *b, uint32_t rank)
{
	struct hc_peer *p = &b->c->peers[rank];
	int ret;

	if (b->failed) {
		b->contact[rank].heard = true;
		return 0;
	}
	ret = hc_peek(b->c, p);
	if (ret < 0)
		return ret;
	if (ret > 0)
		b->contact[rank].heard = true;
	if (p->gone) {
		p->gone = false;
		go_away(b, rank, ECONNRESET, NULL);
	}
	return 0;
}

static int fail_missing(struct boot *b)
{
	struct hc_comm *c = b->c;
	char list[128], strangers[64] = "";
	size_t at = 0;
	uint32_t r;

	for (r = 0; r < c->n; r++) {
		const struct contact *t = &b->contact[r];
		int n;

		if (r == c->rank || t->state == READY)
			continue;
		n = snprintf(list + at, sizeof(list) - at, "%srank %u (%u:%u%s%s)",
			     at ? ", " : "", r, c->addrs[r].node, c->addrs[r].port,
			     t->why || t->err ? ", " : "",
			     t->why ? t->why : t->err ? hcomm_strerror(t->err) : "");
		if (n < 0 || (size_t)n >= sizeof(list) - at)
			break;
		at += (size_t)n;
	}
	if (b->strangers)
		snprintf(strangers, sizeof(strangers), "; %lu others turned away", b->strangers);
	return hc_fail(c, ETIMEDOUT, "comm_create: rank %u has waited %u ms for %s%s",
		       c->rank, c->timeout_ms, list, strangers);
}

static int open_port(struct boot *b, int64_t end)
{
	struct hc_comm *c = b->c;
	const struct hc_addr *self = &c->addrs[c->rank];
	uint32_t max, want;
	int ret;

	for (;;) {
		b->lfd = hc_transport.listen(self, c->n < 128 ? 128 : (int)c->n,
					     c->timeout_ms);
		b->now = hc_now_ms();
		/* The last user of the port may be just closing it. */
		if (b->lfd != -EADDRINUSE || b->now >= end)
			break;
		poll(NULL, 0, 10);
	}
	if (b->lfd < 0) {
		ret = b->lfd;
		b->lfd = -1;
		return hc_fail(c, -ret, "comm_create: rank %u cannot listen on %u:%u: %s",
			       c->rank, self->node, self->port, hcomm_strerror(ret));
	}
	ret = hc_transport.max_msg(b->lfd, &max);
	if (ret)
		return hc_fail(c, -ret, "comm_create: maximum message: %s", hcomm_strerror(ret));
	max = max <= HC_HDR_LEN ? 0 : (max - HC_HDR_LEN) / HC_PIECE_ALIGN * HC_PIECE_ALIGN;
	want = c->piece ? c->piece : HC_PIECE_DEFAULT;
	if (!max || (c->piece && c->piece > max))
		return hc_fail(c, EINVAL, "comm_create: piece size is %u, the maximum %u", want, max);
	c->piece = want < max ? want : max;
	return 0;
}

/* Poll once and deal with all that has happened. */
static int turn(struct boot *b, int64_t end)
{
	struct hc_comm *c = b->c;
	int64_t next = end;
	uint32_t r, n = 0, i;
	int ret;

	b->now = hc_now_ms();
	for (r = 0; r < c->n; r++) {
		struct contact *t = &b->contact[r];
		short events = POLLIN;

		if (r == c->rank)
			continue;
		if (t->state == AWAY && r < c->rank && t->when <= b->now) {
			ret = start_connect(b, r);
			if (ret)
				return ret;
		}
		if (t->state == AWAY) {
			if (r < c->rank && t->when < next)
				next = t->when;
			continue;
		}
		if (t->state == READY && t->heard)
			continue;
		if (t->state == CONNECTING)
			events = POLLOUT;
		b->pfds[n] = (struct pollfd){
			.fd = t->state == READY ? c->peers[r].fd : t->fd,
			.events = events,
		};
		b->who[n++] = r;
	}
	for (i = 0; i < GUESTS; i++) {
		struct guest *g = &b->guest[i];

		if (g->fd >= 0 && b->now - g->since > GUEST_MS) {
			guest_close(g);
			b->strangers++;
		}
		if (g->fd < 0)
			continue;
		b->pfds[n] = (struct pollfd){ .fd = g->fd, .events = POLLIN };
		b->who[n++] = c->n + i;
	}
	b->pfds[n] = (struct pollfd){ .fd = b->lfd, .events = POLLIN };
	b->who[n++] = UINT32_MAX;

	next -= b->now;
	ret = poll(b->pfds, n, next > 1000 ? 1000 : next < 0 ? 0 : (int)next);
	b->now = hc_now_ms();
	if (ret < 0 && errno != EINTR && errno != EAGAIN)
		return hc_fail(c, errno, "comm_create: poll: %s", hcomm_strerror(errno));
	/* Ranks before guests: a guest may take the place of a rank. */
	for (i = 0; ret > 0 && i < n; i++) {
		int err = 0;

		if (!b->pfds[i].revents)
			continue;
		r = b->who[i];
		if (r == UINT32_MAX) {
			err = let_in(b);
		} else if (r >= c->n) {
			err = hear_guest(b, &b->guest[r - c->n]);
		} else if (b->contact[r].state == CONNECTING) {
			err = end_connect(b, r);
		} else if (b->contact[r].state == GREETED) {
			err = hear_answer(b, r);
		} else if (b->contact[r].state == READY) {
			err = hear_ready(b, r);
		}
		if (err)
			return err;
	}
	return 0;
}

/*
 * This rank has failed. Others may not stand connected to it yet, and would
 * wait in vain: connect a little longer, only to tell them why.
 */
static void last_words(struct boot *b)
{
	int64_t end = b->now + LAST_WORDS_MS;

	b->failed = true;
	while (b->nready < b->c->n - 1 && b->now < end) {
		if (turn(b, end))
			/* out of descriptors, say */
			poll(NULL, 0, 10);
	}
}

static int connect_all(struct boot *b)
{
	struct hc_comm *c = b->c;
	int64_t begin = hc_now_ms(), end = begin + c->timeout_ms;
	int ret;

	ret = open_port(b, begin + (c->timeout_ms < PORT_BUSY_MS ? c->timeout_ms : PORT_BUSY_MS));
	if (ret)
		return ret;
	b->hello = (struct hc_hello){
		.abi = HC_LIB_ABI,
		.job = HC_HASH_INIT,
		.rank = c->rank,
		.nranks = c->n,
		.little = (const union { uint16_t v; uint8_t b; }){ 1 }.b,
		.piece = c->piece,
		.flags = c->flags,
		.algo_reduce = c->algos.reduce,
		.algo_bcast = c->algos.bcast,
	};
	b->hello.job = hc_hash_u64(b->hello.job, c->job);
	for (uint32_t r = 0; r < c->n; r++)
		b->hello.job = hc_hash_u64(b->hello.job,
					   (uint64_t)c->addrs[r].node << 32 | c->addrs[r].port);
	while (b->nready < c->n - 1) {
		ret = turn(b, end);
		if (ret) {
			last_words(b);
			return ret;
		}
		if (b->nready < c->n - 1 && b->now >= end)
			return fail_missing(b);
	}
	return 0;
}

static int set_up_sockets(struct hc_comm *c)
{
	const struct timeval slice = { .tv_usec = SLICE_MS * 1000 };
	uint32_t r;

	for (r = 0; r < c->n; r++) {
		int fd = c->peers[r].fd, flags;

		if (fd < 0)
			continue;
		/* Where waiting is not wanted, each call says so. */
		flags = fcntl(fd, F_GETFL);
		if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) ||
		    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof(slice)))
			return hc_fail(c, errno, "comm_create: setting up a socket: %s",
				       hcomm_strerror(errno));
	}
	return 0;
}

int hc_boot(struct hc_comm *c)
{
	struct boot *b = calloc(1, sizeof(*b));
	uint32_t i;
	int ret;

	if (!b)
		return hc_create_error(ENOMEM, "no memory");
	b->c = c;
	b->lfd = -1;
	for (i = 0; i < GUESTS; i++)
		b->guest[i].fd = -1;
	b->contact = calloc(c->n, sizeof(*b->contact));
	b->pfds = calloc(c->n + GUESTS + 1, sizeof(*b->pfds));
	b->who = calloc(c->n + GUESTS + 1, sizeof(*b->who));
	for (i = 0; b->contact && i < c->n; i++) {
		b->contact[i].fd = -1;
		b->contact[i].backoff = RETRY_FIRST_MS;
	}
	if (b->contact && b->pfds && b->who) {
		c->call.kind = HC_KIND_CREATE;
		ret = connect_all(b);
	} else {
		ret = hc_fail(c, ENOMEM, "comm_create: no memory for %u ranks", c->n);
	}
	for (i = 0; b->contact && i < c->n; i++)
		if (b->contact[i].fd >= 0)
			close(b->contact[i].fd);
	for (i = 0; i < GUESTS; i++)
		if (b->guest[i].fd >= 0)
			guest_close(&b->guest[i]);
	/* Before the last round: who passes it may come with the next job. */
	if (b->lfd >= 0)
		close(b->lfd);
	free(b->who);
	free(b->pfds);
	free(b->contact);
	free(b);
	if (!ret)
		ret = set_up_sockets(c);
	if (!ret) {
		/* Number 0, as what was peeked at above; users' calls begin at 1. */
		c->call.seq = HC_NEVER;
		hc_begin(c, HC_KIND_CREATE, 0, 0, 0, 0, 0);
		ret = hc_check_all(c);
	}
	if (ret)
		hc_create_error(-ret, "%s", c->text);
	return ret;
}
