// SPDX-License-Identifier: LGPL-2.1 OR MIT
#include "engine.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* How long to look for the cause when a peer has gone, and to tell others. */
#define GRACE_MS	250
#define TELL_MS		500
/* How long to read on after an error, so that what was told is not lost. */
#define DRAIN_MS	250
/* So often the blocked sockets are asked again while others move. */
#define PASSES_PER_POLL	8
/* So many useless wake-ups before sleeping a little. */
#define IDLE_MAX	16

static inline size_t next_piece(const struct hc_comm *c, const struct hc_xfer *x)
{
	size_t left = x->len - x->done;

	return left < c->piece ? left : c->piece;
}

static inline bool ready(const struct hc_comm *c, const struct hc_xfer *x)
{
	return x && (ptrdiff_t)(x->done + next_piece(c, x)) <= x->limit;
}

void hc_begin(struct hc_comm *c, enum hc_kind kind, uint64_t count,
	      unsigned int type, unsigned int op, uint32_t root,
	      unsigned int algo)
{
	c->call.seq++;
	c->call.kind = (uint8_t)kind;
	c->call.type = (uint8_t)type;
	c->call.op = (uint8_t)op;
	c->call.algo = (uint8_t)algo;
	c->call.root = root;
	c->call.count = count;
	c->pool_used = 0;
	c->deadline = 0;
	c->idle = 0;
}

static struct hc_xfer *post(struct hc_comm *c, struct hc_peer *p, bool send,
			    void *buf, size_t len, size_t ring, ptrdiff_t limit,
			    unsigned int step)
{
	struct hc_xfer *x = &c->pool[c->pool_used++];

	x->next = NULL;
	x->peer = p;
	x->buf = buf;
	x->len = len;
	x->ring = ring;
	x->limit = limit;
	x->done = 0;
	x->step = (uint16_t)step;
	x->finished = false;
	if (!p->active) {
		p->active = true;
		p->tx_blocked = false;
		/* The answer is seldom there already: save a useless call. */
		p->rx_blocked = true;
		c->active[c->nactive++] = p;
	}
	if (send) {
		*p->tx_tail = x;
		p->tx_tail = &x->next;
	} else {
		*p->rx_tail = x;
		p->rx_tail = &x->next;
	}
	return x;
}

struct hc_xfer *hc_post_send(struct hc_comm *c, uint32_t to, const void *buf,
			     size_t len, ptrdiff_t limit, unsigned int step)
{
	return post(c, &c->peers[to], true, (void *)(uintptr_t)buf, len, 0, limit, step);
}

struct hc_xfer *hc_post_recv(struct hc_comm *c, uint32_t from, void *buf,
			     size_t len, size_t ring, ptrdiff_t limit,
			     unsigned int step)
{
	return post(c, &c->peers[from], false, buf, len, ring, limit, step);
}

static void put_hdr(const struct hc_comm *c, uint8_t out[HC_HDR_LEN],
		    const struct hc_xfer *x, size_t n)
{
	struct hc_hdr h = {
		.call = c->call,
		.offset = x->done,
		.len = (uint32_t)n,
		.rank = c->rank,
		.step = x->step,
		.msg = HC_MSG_DATA,
	};

	hc_hdr_put(out, &h);
}

#define ERROR_LEN	(HC_HDR_LEN + HC_TEXT_LEN)

static void put_error(const struct hc_comm *c, uint8_t out[ERROR_LEN], int err)
{
	struct hc_hdr h = {
		.call = c->call,
		.len = HC_TEXT_LEN,
		.rank = c->rank,
		.err = (uint32_t)err,
		.msg = HC_MSG_ERROR,
	};

	hc_hdr_put(out, &h);
	memcpy(out + HC_HDR_LEN, c->text, HC_TEXT_LEN);
}

void hc_tell(struct hc_comm *c, struct hc_peer *p)
{
	uint8_t out[ERROR_LEN];

	put_error(c, out, atomic_load_explicit(&c->err, memory_order_relaxed));
	send(p->fd, out, sizeof(out), MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(p->fd, SHUT_WR);
}

/*
 * Tell all others. One that does not read is tried for a while; meanwhile what
 * it sends is thrown away, since it may be stuck in sending to us.
 */
static void tell_all(struct hc_comm *c, int err)
{
	uint8_t out[ERROR_LEN], waste[HC_HDR_LEN];
	int64_t end = 0, now;
	uint32_t i, n = 0, left;

	put_error(c, out, err);
	for (i = 0; i < c->n; i++)
		if (c->peers[i].fd >= 0)
			c->pfd_peer[n++] = &c->peers[i];
	for (;;) {
		left = 0;
		for (i = 0; i < n; i++) {
			struct hc_peer *p = c->pfd_peer[i];
			ssize_t r;

			do {
				r = send(p->fd, out, sizeof(out),
					 MSG_DONTWAIT | MSG_NOSIGNAL);
			} while (r < 0 && errno == EINTR);
			if (r < 0 && (errno == EAGAIN || errno == ENOBUFS))
				c->pfd_peer[left++] = p;
		}
		n = left;
		if (!n)
			return;
		now = hc_now_ms();
		if (!end)
			end = now + TELL_MS;
		if (now >= end)
			return;
		for (i = 0; i < n; i++)
			c->pfds[i] = (struct pollfd){
				.fd = c->pfd_peer[i]->fd, .events = POLLIN | POLLOUT };
		if (poll(c->pfds, n, (int)(end - now)) <= 0)
			continue;
		for (i = 0; i < n; i++)
			if (c->pfds[i].revents & POLLIN &&
			    recv(c->pfds[i].fd, waste, sizeof(waste), MSG_DONTWAIT) < 0)
				continue;
	}
}

static int set_error(struct hc_comm *c, int err)
{
	uint32_t i;

	atomic_store_explicit(&c->err, err, memory_order_release);
	tell_all(c, err);
	/* All do so, and each knows from the end of the others that they know. */
	for (i = 0; i < c->n; i++)
		if (c->peers[i].fd >= 0)
			shutdown(c->peers[i].fd, SHUT_WR);
	hc_drain(c, DRAIN_MS);
	return -err;
}

int hc_fail(struct hc_comm *c, int err, const char *fmt, ...)
{
	int old = atomic_load_explicit(&c->err, memory_order_relaxed);
	va_list ap;

	if (old)
		return -old;
	va_start(ap, fmt);
	vsnprintf(c->text, sizeof(c->text), fmt, ap);
	va_end(ap);
	return set_error(c, err);
}

/* Another rank reports an error: it is ours, too. */
static int take_error(struct hc_comm *c, const struct hc_hdr *h,
		      const uint8_t *text, size_t len)
{
	/* Only what an errno can be: the value goes to the caller. */
	int err = h->err > 0 && h->err < 4096 ? (int)h->err : EPROTO;
	size_t i;

	if (len >= sizeof(c->text))
		len = sizeof(c->text) - 1;
	for (i = 0; i < len && text[i]; i++)
		c->text[i] = text[i] >= ' ' && text[i] < 0x7f ? (char)text[i] : '?';
	c->text[i] = '\0';
	return set_error(c, err);
}

/*
 * A peer has gone. If that is because a rank has found an error, its message
 * is on its way or behind other data: it names the cause, so look for it.
 */
static int fail_gone(struct hc_comm *c, struct hc_peer *p, int err)
{
	uint8_t in[ERROR_LEN];
	int64_t end = hc_now_ms() + GRACE_MS;
	char text[128] = "";
	uint32_t i, n = 0;

	hc_transport.last_error(p->fd, text, sizeof(text));
	for (i = 0; i < c->n; i++)
		if (c->peers[i].fd >= 0)
			c->pfds[n++] = (struct pollfd){
				.fd = c->peers[i].fd, .events = POLLIN };
	while (n) {
		int64_t now = hc_now_ms();
		uint32_t left = 0;

		if (now >= end || poll(c->pfds, n, (int)(end - now)) == 0)
			break;
		for (i = 0; i < n; i++) {
			struct hc_hdr h;
			ssize_t r = 1;

			if (c->pfds[i].revents)
				r = recv(c->pfds[i].fd, in, sizeof(in), MSG_DONTWAIT);
			if (r > 0 && c->pfds[i].revents && hc_hdr_get(in, (size_t)r, &h) &&
			    h.msg == HC_MSG_ERROR)
				return take_error(c, &h, in + HC_HDR_LEN,
						  (size_t)r - HC_HDR_LEN);
			if (r > 0 || (r < 0 && (errno == EAGAIN || errno == EINTR ||
						errno == ECONNRESET)))
				c->pfds[left++] = c->pfds[i];
		}
		n = left;
	}
	/* Errors that say more than "gone" stay. */
	if (err != ETIMEDOUT && err != EHOSTUNREACH && err != ENOMEM && err != EMSGSIZE)
		err = ECONNRESET;
	return hc_fail(c, err, "%s #%" PRIu64 ": rank %" PRIu32 " (node %" PRIu32 "): %s%s%s",
		       hc_kind_name(c->call.kind), c->call.seq, p->rank,
		       c->addrs[p->rank].node, hcomm_strerror(err),
		       *text ? ": " : "", text);
}

/* 1: a message was sent; 0: the socket takes none now. */
static int try_tx(struct hc_comm *c, struct hc_peer *p)
{
	struct hc_xfer *x = p->tx;
	size_t n = next_piece(c, x);
	uint8_t hdr[HC_HDR_LEN];
	struct iovec iov[2] = {
		{ .iov_base = hdr, .iov_len = sizeof(hdr) },
		{ .iov_base = n ? x->buf + x->done : NULL, .iov_len = n },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = n ? 2 : 1 };
	ssize_t r;

	put_hdr(c, hdr, x, n);
	do {
		r = sendmsg(p->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (r < 0 && errno == EINTR);
	if (r < 0) {
		if (errno == EAGAIN || errno == ENOBUFS) {
			p->tx_blocked = true;
			return 0;
		}
		return fail_gone(c, p, errno);
	}
	if ((size_t)r != sizeof(hdr) + n)
		return hc_fail(c, EPROTO, "%s #%" PRIu64 ": a message to rank %" PRIu32 " was cut short",
			       hc_kind_name(c->call.kind), c->call.seq, p->rank);
	x->done += n;
	if (x->done == x->len) {
		x->finished = true;
		p->tx = x->next;
		if (!p->tx)
			p->tx_tail = &p->tx;
	}
	return 1;
}

/* Check the header of a data message. */
static int check_hdr(struct hc_comm *c, struct hc_peer *p, const struct hc_hdr *h)
{
	char text[HC_TEXT_LEN];

	if (hc_call_same(&h->call, p->rank, &c->call, c->rank, text, sizeof(text)))
		return 0;
	return hc_fail(c, EPROTO, "%s", text);
}

static int fail_garbage(struct hc_comm *c, struct hc_peer *p)
{
	return hc_fail(c, EPROTO, "%s #%" PRIu64 ": a message from rank %" PRIu32 " makes no sense",
		       hc_kind_name(c->call.kind), c->call.seq, p->rank);
}

/* 1: a message was received; 0: none there. Without MSG_DONTWAIT it waits. */
static int try_rx(struct hc_comm *c, struct hc_peer *p, int flags)
{
	struct hc_xfer *x = p->rx;
	size_t n = next_piece(c, x), room;
	size_t at = x->ring ? x->done % x->ring : x->done;
	uint8_t hdr[HC_HDR_LEN], rest[HC_TEXT_LEN];
	struct iovec iov[3] = {
		{ .iov_base = hdr, .iov_len = sizeof(hdr) },
		{ .iov_base = n ? x->buf + at : NULL, .iov_len = n },
		/* an error message may be longer than the piece */
		{ .iov_base = rest, .iov_len = sizeof(rest) },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 3 };
	struct hc_hdr h;
	ssize_t r;
	int err;

	r = recvmsg(p->fd, &msg, flags);
	if (r < 0) {
		if (errno == EAGAIN || errno == EINTR) {
			p->rx_blocked = true;
			return 0;
		}
		return fail_gone(c, p, errno);
	}
	p->peeked_for = HC_NEVER;
	if (r == 0)
		return fail_gone(c, p, 0);
	if (!hc_hdr_get(hdr, (size_t)r, &h))
		return fail_garbage(c, p);
	if (h.msg == HC_MSG_ERROR) {
		uint8_t text[HC_TEXT_LEN] = { 0 };

		room = n < sizeof(text) ? n : sizeof(text);
		if (room)
			memcpy(text, x->buf + at, room);
		memcpy(text + room, rest, sizeof(text) - room);
		return take_error(c, &h, text, (size_t)r - HC_HDR_LEN);
	}
	err = check_hdr(c, p, &h);
	if (err)
		return err;
	if (h.rank != p->rank || h.step != x->step || h.offset != x->done ||
	    h.len != n || (size_t)r != sizeof(hdr) + n)
		return fail_garbage(c, p);
	x->done += n;
	if (x->done == x->len) {
		x->finished = true;
		p->rx = x->next;
		if (!p->rx)
			p->rx_tail = &p->rx;
	}
	return 1;
}

/*
 * Look at the next message of a peer from which this step needs nothing: a
 * rank that is in another call may never send to those who wait for it, but
 * somebody has its message. 1: there was one, 0: none, negative: an error.
 */
int hc_peek(struct hc_comm *c, struct hc_peer *p)
{
	uint8_t in[ERROR_LEN];
	struct hc_hdr h;
	ssize_t r;
	int err;

	r = recv(p->fd, in, sizeof(in), MSG_PEEK | MSG_DONTWAIT);
	if (r < 0 && errno == ECONNRESET)
		/* Told once; what came before it may still be there. */
		r = recv(p->fd, in, sizeof(in), MSG_PEEK | MSG_DONTWAIT);
	if (r < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (r <= 0) {
		/* It may have finished and left: wrong only if we need it. */
		p->gone = true;
		return 0;
	}
	if (!hc_hdr_get(in, (size_t)r, &h))
		return fail_garbage(c, p);
	if (h.msg == HC_MSG_ERROR)
		return take_error(c, &h, in + HC_HDR_LEN, (size_t)r - HC_HDR_LEN);
	p->peeked_for = c->call.seq;
	/* One that is ahead has done what we are doing. */
	if (h.call.seq > c->call.seq)
		return 1;
	err = check_hdr(c, p, &h);
	return err ? err : 1;
}

static int fail_timeout(struct hc_comm *c)
{
	char list[96] = "";
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < c->nactive; i++) {
		struct hc_peer *p = c->active[i];
		int r;

		if (!ready(c, p->rx) && !ready(c, p->tx))
			continue;
		if (at + 48 > sizeof(list)) {
			snprintf(list + at, sizeof(list) - at, ", ...");
			break;
		}
		r = snprintf(list + at, sizeof(list) - at, "%s%" PRIu32 " (%snode %" PRIu32 ")",
			     at ? ", " : "", p->rank, ready(c, p->rx) ? "" : "to send, ",
			     c->addrs[p->rank].node);
		at += (size_t)r;
	}
	return hc_fail(c, ETIMEDOUT, "%s #%" PRIu64 ": rank %" PRIu32
		       " has waited %" PRIu32 " ms for rank %s",
		       hc_kind_name(c->call.kind), c->call.seq, c->rank,
		       c->timeout_ms, list);
}

/*
 * Ask poll() about all that is blocked, waiting if @wait, and about peers
 * whose next message nobody has looked at.
 */
static int ask(struct hc_comm *c, bool wait)
{
	int timeout = 0, r;
	uint32_t i, n = 0;

	for (i = 0; i < c->n; i++) {
		struct hc_peer *p = &c->peers[i];
		short events = 0;

		if (p->fd < 0)
			continue;
		if (ready(c, p->rx) || (p->peeked_for != c->call.seq && !p->gone))
			events |= POLLIN;
		if (ready(c, p->tx))
			events |= POLLOUT;
		if (!events)
			continue;
		c->pfds[n] = (struct pollfd){ .fd = p->fd, .events = events };
		c->pfd_peer[n++] = p;
	}
	if (wait) {
		int64_t now = hc_now_ms(), left;

		if (!c->deadline)
			c->deadline = now + c->timeout_ms;
		left = c->deadline - now;
		if (left <= 0)
			return fail_timeout(c);
		timeout = left > 1000 ? 1000 : (int)left;
		/* A socket that is never as ready as it says must not spin. */
		if (++c->idle > IDLE_MAX)
			poll(NULL, 0, 1);
	}
	r = poll(c->pfds, n, timeout);
	if (r < 0 && errno != EINTR && errno != EAGAIN)
		return hc_fail(c, errno, "poll: %s", hcomm_strerror(errno));
	if (r <= 0)
		return 0;
	for (i = 0; i < n; i++) {
		struct hc_peer *p = c->pfd_peer[i];
		short got = c->pfds[i].revents;
		bool end = got & (POLLERR | POLLHUP);

		if (!got)
			continue;
		if (ready(c, p->tx) && (got & POLLOUT || end))
			p->tx_blocked = false;
		if (ready(c, p->rx)) {
			if (got & POLLIN || end)
				p->rx_blocked = false;
		} else if (got & POLLIN || end) {
			r = hc_peek(c, p);
			if (r < 0)
				return r;
			if (r == 0 && end)
				p->gone = true;
		}
	}
	return 0;
}

/*
 * The one peer to wait for in recvmsg(), which saves the call of poll(), or
 * NULL. It must be one that the others do not wait for us to go past: the only
 * one left; the one that the collective needs next; any, when all has been
 * sent. And nothing may be waiting to be sent, nor much to be received from
 * others meanwhile.
 */
static struct hc_peer *wait_for_one(struct hc_comm *c)
{
	struct hc_peer *first = NULL;
	bool tx = false, more = false;
	size_t bytes = 0;
	uint32_t i;

	if (c->deadline)
		return NULL;
	for (i = 0; i < c->nactive; i++) {
		struct hc_peer *p = c->active[i];

		if (ready(c, p->tx))
			return NULL;
		tx |= p->tx != NULL;
		if (!ready(c, p->rx))
			continue;
		more |= first != NULL;
		bytes += p->rx->len;
		if (!first)
			first = p;
	}
	if (!more)
		return first;
	if (bytes > c->piece)
		return NULL;
	if (c->want && c->want->peer->rx == c->want && ready(c, c->want))
		return c->want->peer;
	return tx ? NULL : first;
}

/* Nothing moves: wait until something can. 1: it moved while waiting. */
static int wait_ready(struct hc_comm *c)
{
	struct hc_peer *p = wait_for_one(c);
	int r;

	if (p) {
		/* SO_RCVTIMEO is short; then poll() watches all. */
		r = try_rx(c, p, 0);
		if (r)
			return r;
	}
	return ask(c, true);
}

static void drop_idle_peers(struct hc_comm *c)
{
	uint32_t i = 0;

	while (i < c->nactive) {
		struct hc_peer *p = c->active[i];

		if (p->tx || p->rx) {
			i++;
			continue;
		}
		p->active = false;
		c->active[i] = c->active[--c->nactive];
	}
}

int hc_advance(struct hc_comm *c)
{
	for (;;) {
		bool blocked = false;
		int moved = 0, r;
		uint32_t i;

		/* One message per direction and turn: nobody is left behind. */
		for (i = 0; i < c->nactive; i++) {
			struct hc_peer *p = c->active[i];

			if (ready(c, p->tx)) {
				if (!p->tx_blocked) {
					r = try_tx(c, p);
					if (r < 0)
						return r;
					moved += r;
				}
				blocked |= p->tx_blocked;
			}
			if (ready(c, p->rx)) {
				if (!p->rx_blocked) {
					r = try_rx(c, p, MSG_DONTWAIT);
					if (r < 0)
						return r;
					moved += r;
				}
				blocked |= p->rx_blocked;
			}
		}
		if (!moved) {
			moved = wait_ready(c);
			if (moved < 0)
				return moved;
		} else if (blocked && ++c->busy_passes % PASSES_PER_POLL == 0) {
			r = ask(c, false);
			if (r < 0)
				return r;
		}
		if (moved) {
			c->deadline = 0;
			c->idle = 0;
			drop_idle_peers(c);
			return 0;
		}
	}
}

int hc_wait(struct hc_comm *c, const struct hc_xfer *x, size_t end)
{
	int ret = 0;

	c->want = x;
	while (!ret && !x->finished && (x->done < end || !x->len))
		ret = hc_advance(c);
	c->want = NULL;
	return ret;
}

int hc_finish(struct hc_comm *c)
{
	int ret = 0;

	while (!ret && c->nactive)
		ret = hc_advance(c);
	return ret;
}

/*
 * A socket that is closed with unread data resets the connection, and the
 * reset may overtake what was told. So read on until the peers have ended,
 * too, for up to @ms.
 */
void hc_drain(struct hc_comm *c, int ms)
{
	int64_t end = hc_now_ms() + ms, now;
	uint8_t waste[HC_HDR_LEN];
	uint32_t i, n;

	for (;;) {
		for (i = 0, n = 0; i < c->n; i++) {
			if (c->peers[i].fd < 0 || c->peers[i].ended)
				continue;
			c->pfds[n] = (struct pollfd){ .fd = c->peers[i].fd, .events = POLLIN };
			c->pfd_peer[n++] = &c->peers[i];
		}
		now = hc_now_ms();
		if (!n || now > end || poll(c->pfds, n, (int)(end - now)) == 0)
			return;
		for (i = 0; i < n; i++) {
			ssize_t r;

			if (!c->pfds[i].revents)
				continue;
			r = recv(c->pfds[i].fd, waste, sizeof(waste), MSG_DONTWAIT);
			if (r == 0 || (r < 0 && errno != EAGAIN && errno != EINTR &&
				       errno != ECONNRESET))
				c->pfd_peer[i]->ended = true;
		}
	}
}
