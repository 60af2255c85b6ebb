// SPDX-License-Identifier: GPL-2.0
/*
 * The loops that are measured. They make the same calls for all kinds of
 * sockets: send() and recv() on connections, sendto() and recvfrom() else. No
 * clock is read between two messages of a throughput; a timer ends it.
 */
#include "perf.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Less than @len only at the end of the data or of the time. */
static ssize_t recv_full(int fd, char *buf, size_t len)
{
	size_t got = 0;
	ssize_t n;

	while (got < len) {
		n = recv(fd, buf + got, len - got, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static ssize_t send_full(int fd, const char *buf, size_t len)
{
	size_t sent = 0;
	ssize_t n;

	while (sent < len) {
		n = send(fd, buf + sent, len - sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		sent += (size_t)n;
	}
	return (ssize_t)sent;
}

static int quiet(ssize_t err)
{
	return err == -EAGAIN ? -ETIMEDOUT : (int)err;
}

static int echo_connected(int fd, char *buf, uint32_t size)
{
	ssize_t n;

	for (;;) {
		n = recv_full(fd, buf, size);
		if (n <= 0)
			return quiet(n);
		n = send_full(fd, buf, (size_t)n);
		if (n < 0)
			return quiet(n);
	}
}

static int echo_datagrams(int fd, char *buf, uint32_t size)
{
	struct sockaddr_storage from;
	socklen_t len;
	ssize_t n;

	for (;;) {
		len = sizeof(from);
		n = recvfrom(fd, buf, size, 0, (struct sockaddr *)&from, &len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? quiet(-errno) : 0;
		do {
			n = sendto(fd, buf, (size_t)n, MSG_NOSIGNAL,
				   (struct sockaddr *)&from, len);
		} while (n < 0 && errno == EINTR);
		if (n < 0)
			return quiet(-errno);
	}
}

/* Sends back what comes, until the end. */
int echo(int fd, enum kind kind, uint32_t size)
{
	char *buf = allocate(size);
	int err;

	err = is_datagram(kind) ? echo_datagrams(fd, buf, size) :
				  echo_connected(fd, buf, size);
	free(buf);
	return err;
}

/* Takes what comes, until the end; what is measured begins after the warm-up. */
int sink(int fd, enum kind kind, uint32_t size, uint32_t warm_ms,
	 struct sunk *got)
{
	char *buf = allocate(size);
	double begin = 0, end;
	uint64_t before = 0;
	bool warm = false;
	ssize_t n;
	int err = 0;

	for (;;) {
		if (is_datagram(kind))
			n = recvfrom(fd, buf, size, 0, NULL, NULL);
		else
			n = recv(fd, buf, size, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = quiet(-errno);
		if (n <= 0)
			break;
		got->all += (uint64_t)n;
		got->msgs++;
		if (warm)
			continue;
		if (got->msgs == 1)
			stop_after(warm_ms);
		warm = stopped;
		/* From the first on, if it ends before the warm-up does. */
		if (warm || got->msgs == 1) {
			begin = now();
			before = got->all;
		}
	}
	end = now();
	stop_never();
	free(buf);
	/* The word that it ended was lost, or all was. */
	if (err == -ETIMEDOUT && kind == KIND_UDP) {
		end -= QUIET_MS / 1000.0;
		err = 0;
	}
	got->bytes = got->all - before;
	got->seconds = got->msgs ? end - begin : 0;
	return err;
}

static int pong(int fd, enum kind kind, char *buf, uint32_t size,
		const struct sockaddr *to, socklen_t to_len)
{
	ssize_t n;

	if (!is_datagram(kind)) {
		n = send_full(fd, buf, size);
		if (n >= 0)
			n = recv_full(fd, buf, size);
		if (n < 0)
			return quiet(n);
		return n == (ssize_t)size ? 0 : -EPIPE;
	}
	do {
		n = sendto(fd, buf, size, MSG_NOSIGNAL, to, to_len);
	} while (n < 0 && errno == EINTR);
	while (n >= 0) {
		n = recvfrom(fd, buf, size, 0, NULL, NULL);
		if (n >= 0)
			return n == (ssize_t)size ? 0 : -EPROTO;
		if (errno != EINTR)
			break;
		n = 0;
	}
	return quiet(-errno);
}

/* A late answer must not be taken for the next. */
static void drain(int fd, char *buf, uint32_t size)
{
	while (recv(fd, buf, size, MSG_DONTWAIT) >= 0)
		;
}

/* Round trips, until the count or the time is over. */
int ping(int fd, enum kind kind, const struct options *o, uint32_t size,
	 const struct sockaddr *to, socklen_t to_len, struct samples *s,
	 struct run *r)
{
	double begin = now(), warm = begin + o->warm_ms / 1000.0, t = begin;
	char *buf = allocate(size);
	uint32_t nr = 0, warmed = 0;
	int err = 0;

	if (kind == KIND_UDP)
		err = sock_timeout(fd, 500);
	if (!o->count)
		stop_after(o->warm_ms + o->ms);
	while (!err && (o->count ? nr < o->count : !stopped)) {
		double last = t;

		err = pong(fd, kind, buf, size, to, to_len);
		t = now();
		if (err == -ETIMEDOUT && kind == KIND_UDP && r->lost < 100) {
			r->lost++;
			drain(fd, buf, size);
			t = now();
			err = 0;
			continue;
		}
		/* A count has a tenth in front. */
		if (o->count ? warmed < o->count / 10 : t < warm) {
			warmed++;
			continue;
		}
		if (!err) {
			samples_add(s, t - last);
			nr++;
		}
	}
	stop_never();
	free(buf);
	r->messages = nr;
	r->bytes = 2.0 * size * (nr + warmed);
	return err;
}

/* Messages one way. */
int source(int fd, enum kind kind, const struct options *o, uint32_t size,
	   const struct sockaddr *to, socklen_t to_len, uint64_t *msgs)
{
	char *buf = allocate(size);
	size_t done = 0;
	ssize_t n;
	int err = 0;

	*msgs = 0;
	if (!o->count)
		stop_after(o->warm_ms + o->ms);
	while (o->count ? *msgs < o->count : !stopped) {
		if (is_datagram(kind))
			n = sendto(fd, buf, size, MSG_NOSIGNAL, to, to_len);
		else
			n = send(fd, buf + done, size - done, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err = quiet(-errno);
			break;
		}
		done += (size_t)n;
		if (done < size)
			continue;
		done = 0;
		(*msgs)++;
	}
	stop_never();
	free(buf);
	return err;
}

/* Says that nothing more comes; of UDP it may have to be said again. */
int finish(int fd, enum kind kind, const struct sockaddr *to, socklen_t to_len)
{
	if (is_datagram(kind))
		return sendto(fd, "", 0, MSG_NOSIGNAL, to, to_len) ? -errno : 0;
	return shutdown(fd, SHUT_WR) ? -errno : 0;
}
