// SPDX-License-Identifier: GPL-2.0
/* Calls that wait: signals, time limits, other threads; links that are cut. */
#include "surface.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic int signals;
static _Atomic bool stop_helper;

static void count_signal(int sig)
{
	(void)sig;
	signals++;
}

/* Signals come again and again, so that none can come too early. */
static void begin_signals(bool restart)
{
	struct sigaction sa = {
		.sa_handler = count_signal,
		.sa_flags = restart ? SA_RESTART : 0,
	};
	struct itimerval it = { { 0, 5000 }, { 0, 5000 } };

	signals = 0;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
}

static void end_signals(void)
{
	struct itimerval it = {};

	setitimer(ITIMER_REAL, &it, NULL);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void limit(int fd, int option, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	if (setsockopt(fd, SOL_SOCKET, option, &tv, sizeof(tv)))
		die("SO_RCVTIMEO: %s", strerror(errno));
}

/* One call that waits, and what ends it. */
struct waiter {
	struct cell *c;
	long (*call)(struct waiter *w);
	void (*end)(struct waiter *w);
	int listener;			/* of the other end, for connect */
	struct sockaddr_hcomm to;	/* for connect */
	_Atomic int tid;
	long result;
	int err;
};

static long wait_recv(struct waiter *w)
{
	char buf[64];

	return recv(w->c->fd, buf, sizeof(buf), 0);
}

static long wait_send(struct waiter *w)
{
	return send(w->c->fd, "0123456789", TEN, MSG_NOSIGNAL);
}

static long wait_accept(struct waiter *w)
{
	int fd = accept(w->c->fd, NULL, NULL);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static long wait_connect(struct waiter *w)
{
	return connect(w->c->fd, (void *)&w->to, sizeof(w->to));
}

static void end_recv(struct waiter *w)
{
	struct sockaddr_hcomm sa = address(own_node, port_of(w->c->fd));

	if (w->c->type == SOCK_RDM)
		sendto(w->c->peer, "0123456789", TEN, 0, (void *)&sa,
		       sizeof(sa));
	else
		send(w->c->peer, "0123456789", TEN, 0);
}

/* Everybody reads until the sender goes on. */
static void end_send(struct waiter *w)
{
	static char buf[FULL_PIECE];
	int i;

	while (!stop_helper) {
		for (i = 0; i < w->c->nr_peers; i++)
			while (recv(w->c->peers[i], buf, sizeof(buf),
				    MSG_DONTWAIT) > 0)
				;
		usleep(1000);
	}
}

static void end_accept(struct waiter *w)
{
	struct sockaddr_hcomm sa = address(own_node, port_of(w->c->fd));

	w->c->peer = socket(family, w->c->type | SOCK_NONBLOCK, 0);
	w->c->peers[w->c->nr_peers++] = w->c->peer;
	connect(w->c->peer, (void *)&sa, sizeof(sa));
}

static void end_connect(struct waiter *w)
{
	int i;

	for (i = 0; i < 2; i++) {
		int fd = accept(w->listener, NULL, NULL);

		if (fd >= 0 && w->c->nr_peers < MAX_PEERS)
			w->c->peers[w->c->nr_peers++] = fd;
	}
}

static void *helper(void *arg)
{
	struct waiter *w = arg;

	while (signals < 3 && !stop_helper)
		usleep(1000);
	if (!stop_helper)
		w->end(w);
	return NULL;
}

/* The call in a thread of its own. */
static void *other(void *arg)
{
	struct waiter *w = arg;

	w->tid = syscall(SYS_gettid);
	w->result = w->call(w);
	w->err = errno;
	return NULL;
}

static void start_thread(pthread_t *t, void *(*fn)(void *), void *arg)
{
	sigset_t set, old;

	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	if (pthread_create(t, NULL, fn, arg))
		die("pthread_create");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Until a thread sleeps. */
static void await_sleep(struct waiter *w)
{
	char path[64], state;
	int i, asleep = 0;
	FILE *f;

	for (i = 0; i < 2000 && asleep < 3; i++) {
		usleep(1000);
		if (!w->tid)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", w->tid);
		f = fopen(path, "r");
		if (f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1)
			asleep = state == 'S' ? asleep + 1 : 0;
		if (f)
			fclose(f);
	}
}

/* While one thread waits, another one makes a call that must not. */
static void second(struct cell *c, struct waiter *w, int option)
{
	struct sockaddr_hcomm sa;
	double t0;
	pthread_t t;
	int fd = -1;

	start_thread(&t, other, w);
	await_sleep(w);
	t0 = now();
	if (is(c->arg, "second-destination")) {
		sa = address(peer_node, 0);
		fd = socket_at(peer_node, SOCK_RDM);
		if (bind(fd, (void *)&sa, sizeof(sa)))
			die("bind: %s", strerror(errno));
		sa.shc_port = port_of(fd);
		put(c, sendto(c->fd, "0123456789", TEN, 0, (void *)&sa,
			      sizeof(sa)));
		close(fd);
	} else if (is(c->arg, "second-shutdown")) {
		shutdown(c->fd, SHUT_RDWR);
	} else {
		if (is(c->arg, "second-timeo"))
			limit(c->fd, option, 50);
		else
			nonblocking(c->fd, true);
		put(c, w->call(w));
	}
	if (now() - t0 > 2)
		put_text(c, "waits for the other thread");
	nonblocking(c->fd, false);
	signals = 3;
	if (is(c->arg, "second-shutdown")) {
		pthread_join(t, NULL);
		errno = w->err;
		put(c, w->result);
		return;
	}
	stop_helper = false;
	if (w->end == end_send) {
		pthread_t h;

		start_thread(&h, helper, w);
		pthread_join(t, NULL);
		stop_helper = true;
		pthread_join(h, NULL);
	} else {
		w->end(w);
		pthread_join(t, NULL);
	}
}

static void blocking(struct cell *c, struct waiter *w, int option)
{
	bool restart = strstr(c->arg, "restart");
	pthread_t t;
	double t0;

	w->c = c;
	if (!strncmp(c->arg, "second", 6)) {
		second(c, w, option);
		return;
	}
	if (is(c->arg, "timeo")) {
		limit(c->fd, option, 60);
		t0 = now();
		put(c, w->call(w));
		if (now() - t0 < 0.05)
			put_text(c, "before its time");
		return;
	}
	if (strstr(c->arg, "-timeo"))
		limit(c->fd, option, 20000);
	stop_helper = false;
	begin_signals(restart);
	if (restart)
		start_thread(&t, helper, w);
	put(c, w->call(w));
	end_signals();
	if (!restart)
		return;
	stop_helper = true;
	pthread_join(t, NULL);
}

static void do_recv(struct cell *c)
{
	struct waiter w = { .c = c, .call = wait_recv, .end = end_recv };

	blocking(c, &w, SO_RCVTIMEO);
}

static void do_send(struct cell *c)
{
	struct waiter w = { .c = c, .call = wait_send, .end = end_send };

	blocking(c, &w, SO_SNDTIMEO);
}

static void do_accept(struct cell *c)
{
	struct waiter w = { .c = c, .call = wait_accept, .end = end_accept };

	blocking(c, &w, SO_RCVTIMEO);
}

static void do_connect(struct cell *c)
{
	struct waiter w = { .c = c, .call = wait_connect, .end = end_connect };
	uint32_t port;
	int first;

	w.listener = listener_at(peer_node, c->type, 1, &port);
	w.to = address(peer_node, port);
	first = socket_at(own_node, c->type);
	if (connect(first, (void *)&w.to, sizeof(w.to)))
		die("connect: %s", strerror(errno));
	blocking(c, &w, SO_SNDTIMEO);
	close(first);
	close(w.listener);
}

/* A long send or receive of a stream that is interrupted half-way. */
static void do_part(struct cell *c)
{
	static char big[4 << 20];
	long r;

	begin_signals(false);
	if (is(c->arg, "send"))
		r = send(c->fd, big, sizeof(big), MSG_NOSIGNAL);
	else
		r = recv(c->fd, big, sizeof(big), MSG_WAITALL);
	end_signals();
	put(c, r);
	if (r > 0 && r < (long)sizeof(big))
		put_text(c, "part");
}

static void *drain(void *arg)
{
	static char buf[1 << 20];
	struct cell *c = arg;
	long *sum = malloc(sizeof(*sum)), n;

	*sum = 0;
	while ((n = recv(c->peer, buf, sizeof(buf), 0)) > 0)
		*sum += n;
	if (n < 0)
		*sum = -errno;
	return sum;
}

static void do_close(struct cell *c)
{
	struct linger l = { .l_onoff = !is(c->arg, "plain"), .l_linger = 1 };
	bool drained = is(c->arg, "drained");
	long *sum = NULL;
	int queued = 0;
	pthread_t t;
	double t0;

	if (drained)
		l.l_linger = 20;
	if (setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)))
		die("SO_LINGER: %s", strerror(errno));
	ioctl(c->fd, TIOCOUTQ, &queued);
	if (drained)
		start_thread(&t, drain, c);
	t0 = now();
	close(c->fd);
	t0 = now() - t0;
	c->fd = -1;
	put_text(c, t0 < 0.5 ? "soon" : t0 < 3 ? "waits" : "long");
	if (!drained)
		return;
	pthread_join(t, (void **)&sum);
	if (*sum < queued)
		put_text(c, "not everything arrives");
	free(sum);
}

static void command(const char *fmt, ...)
{
	char line[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (system(line))
		die("failed: %s", line);
}

static void links(const char *what)
{
	int n = atoi(getenv("HCOMM_LAB_LINKS") ? : "1"), i;

	for (i = 1; i <= n; i++)
		command("hcommctl link set %u.%d %s", peer_node, i, what);
	if (is(what, "up"))
		command("for i in $(seq 100); do hcommctl -j link show %u.1 | grep -q '\"state\":\"up\"' && exit; sleep 0.1; done; exit 1",
			peer_node);
}

/* All links are cut, and the session timeout is short. */
static void do_cut(struct cell *c)
{
	struct sockaddr_hcomm sa = address(peer_node, live_port(c->type));
	uint32_t ms = 300;
	char control[256];
	struct msghdr m = {
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *h;
	double t0;

	if (setsockopt(c->fd, SOL_HCOMM, HCOMM_SESSION_TIMEOUT, &ms,
		       sizeof(ms)))
		die("HCOMM_SESSION_TIMEOUT: %s", strerror(errno));
	links("down");
	t0 = now();
	if (is(c->arg, "connect")) {
		put(c, connect(c->fd, (void *)&sa, sizeof(sa)));
	} else if (c->type == SOCK_RDM) {
		put(c, send(c->fd, "0123456789", TEN, 0));
		if (!(await(c->fd, 0, 4000) & POLLERR))
			put_text(c, "no error");
		else if (recvmsg(c->fd, &m, MSG_ERRQUEUE) ||
			 !(h = CMSG_FIRSTHDR(&m)))
			put_text(c, "no record");
		else
			put_text(c, strerrorname_np(((struct hcomm_sock_err *)
						     CMSG_DATA(h))->see_errno));
	} else {
		limit(c->fd, SO_RCVTIMEO, 4000);
		put(c, send(c->fd, "0123456789", TEN, 0));
		put(c, recv(c->fd, control, sizeof(control), 0));
	}
	if (now() - t0 < 0.29)
		put_text(c, "before its time");
	links("up");
}

/* The last route is deleted. */
static void do_unroute(struct cell *c)
{
	struct sockaddr_hcomm sa = address(peer_node, live_port(c->type));
	char buf[64];
	int how = MSG_NOSIGNAL;

	command("hcommctl showconf > /run/surface.conf && hcommctl peer del %u",
		peer_node);
	if (is(c->arg, "recv"))
		put(c, recv(c->fd, buf, sizeof(buf), 0));
	else if (is(c->arg, "send"))
		put(c, send(c->fd, "0123456789", TEN, how));
	else if (is(c->arg, "connect"))
		put(c, connect(c->fd, (void *)&sa, sizeof(sa)));
	command("hcommctl syncconf /run/surface.conf");
	links("up");
	/* And the next one connects as ever. */
	if (!is(c->arg, "again"))
		return;
	put(c, connect(c->fd, (void *)&sa, sizeof(sa)));
}

const struct call wait_calls[] = {
	{ "blocking-recv", do_recv }, { "blocking-send", do_send },
	{ "blocking-accept", do_accept }, { "blocking-connect", do_connect },
	{ "part", do_part }, { "close", do_close }, { "cut", do_cut },
	{ "unroute", do_unroute }, { NULL, NULL },
};
