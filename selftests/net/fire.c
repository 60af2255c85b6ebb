// SPDX-License-Identifier: GPL-2.0
/*
 * Delivery under fire: sockets of all types between two nodes carry messages
 * whose lengths and bytes follow from their numbers, while links are cut and
 * made bad. Any message lost, doubled, out of order or changed is found.
 *
 * The two nodes are network namespaces hn1 and hn2 of one guest.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nodes.h"

enum { MAX_LEN = 256 << 10, BASE_PORT = 6000, MAX_PAIRS = 64, STUCK_S = 15 };

static const struct { int type; const char *name; } types[] = {
	{ SOCK_SEQPACKET, "seqpacket" }, { SOCK_RDM, "rdm" },
	{ SOCK_STREAM, "stream" },
};

struct pair {
	int nr;
	int type;
	uint64_t messages;
	_Atomic uint64_t sent;
	_Atomic uint64_t received;
	pthread_t tx, rx;
};

struct event {
	const char *name;	/* what the helper calls it */
	const char *text;
	int ms;			/* how long it lasts */
	int bound_ms;		/* longest stall; 0: only reported */
};

static const struct event events[] = {
	{ "none", "nothing", 1000, 0 },
	{ "carrier", "carrier down", 1500, 50 },
	{ "address", "address removed", 1500, 50 },
	{ "silence", "100 % loss one way", 2000, 650 },
	{ "loss", "5 % loss", 3000, 0 },
	{ "reorder", "30 % reorder, 5 % duplicates", 2000, 0 },
	{ "delay", "200 ms delay", 2000, 0 },
	{ "both", "both links down for 2 s", 2000, 0 },
};

enum { NR_EVENTS = sizeof(events) / sizeof(events[0]) };

static struct pair pairs[MAX_PAIRS];
static pthread_barrier_t ready;
static int nr_pairs;
static _Atomic uint64_t total_received, total_bytes;
static _Atomic uint64_t last_rx_ns, longest_ns;
static _Atomic int failed, stop_events;
static uint64_t seed = 1;
static int scale = 1;
static bool with_events;
static _Atomic unsigned int event_now;

__attribute__((format(printf, 1, 2)))
static void fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("FAIL: ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	fflush(stdout);
	failed = 1;
	_exit(1);
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

static uint64_t key(const struct pair *p, uint64_t n)
{
	return mix(seed * 1000003 + p->nr * 0x9e3779b97f4a7c15ull + n);
}

/* Log-uniform from 1 byte to 256 KiB: as many below 1 KiB as above. */
static size_t length(const struct pair *p, uint64_t n)
{
	uint64_t k = key(p, n);
	unsigned int bits = k % 19;
	size_t len = ((size_t)1 << bits) | ((k >> 8) & (((size_t)1 << bits) - 1));

	return len > MAX_LEN ? MAX_LEN : len;
}

static void fill(const struct pair *p, uint64_t n, uint8_t *buf, size_t len)
{
	uint64_t k = key(p, n) | 1;
	size_t i = 0;

	for (; i + 8 <= len; i += 8) {
		k = k * 6364136223846793005ull + 1442695040888963407ull;
		memcpy(buf + i, &k, 8);
	}
	k = mix(k);
	memcpy(buf + i, &k, len - i);
}

static int make_socket(const struct pair *p, int node)
{
	int fd;

	enter(node);
	fd = socket(family, p->type, 0);
	if (fd < 0)
		fail("socket: %s", strerror(errno));
	return fd;
}

static void send_all(int fd, const uint8_t *p, size_t len, int type)
{
	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			fail("send: %s", strerror(errno));
		if (type != SOCK_STREAM && (size_t)n != len)
			fail("send: %zd of %zu bytes", n, len);
		p += n;
		len -= n;
	}
}

/* Nobody is done before each event had its turn. */
static void await_events(void)
{
	while (event_now < NR_EVENTS && !failed)
		usleep(20000);
}

static bool all_await_events(void)
{
	int i;

	for (i = 0; i < nr_pairs; i++)
		if (pairs[i].received + 1 < pairs[i].messages)
			return false;
	return with_events && event_now < NR_EVENTS;
}

static void *sender(void *arg)
{
	struct pair *p = arg;
	struct sockaddr_hcomm to = addr(2, BASE_PORT + p->nr);
	uint8_t *buf = malloc(MAX_LEN);
	int fd = make_socket(p, 1);
	uint64_t n;

	pthread_barrier_wait(&ready);
	if (connect(fd, (void *)&to, sizeof(to)))
		fail("connect: %s", strerror(errno));
	for (n = 0; n < p->messages; n++) {
		size_t len = length(p, n);

		if (with_events && n + 1 == p->messages)
			await_events();
		fill(p, n, buf, len);
		send_all(fd, buf, len, p->type);
		p->sent = n + 1;
	}
	/* Nothing that was sent may be lost by closing. */
	if (p->type != SOCK_RDM)
		shutdown(fd, SHUT_WR);
	while (p->received < p->messages && !failed)
		usleep(10000);
	close(fd);
	free(buf);
	return NULL;
}

static void diagnose(struct pair *p, uint64_t n, const uint8_t *got, size_t len)
{
	uint8_t *buf = malloc(MAX_LEN);
	uint64_t from = n > 5000 ? n - 5000 : 0, k;

	for (k = from; k < n + 5000 && k < p->messages; k++) {
		if (length(p, k) != len)
			continue;
		fill(p, k, buf, len);
		if (memcmp(buf, got, len))
			continue;
		fail("%d: message %llu instead of %llu (%s)", p->nr,
		     (unsigned long long)k, (unsigned long long)n,
		     k < n ? "doubled or out of order" : "lost");
	}
	fail("%d: message %llu has changed, %zu bytes instead of %zu", p->nr,
	     (unsigned long long)n, len, length(p, n));
}

static void note_rx(size_t len)
{
	uint64_t now = now_ns(), gap = now - atomic_exchange(&last_rx_ns, now);
	uint64_t old = longest_ns;

	/* Another thread may have been later and come here first. */
	if ((int64_t)gap < 0)
		gap = 0;
	while (gap > old &&
	       !atomic_compare_exchange_weak(&longest_ns, &old, gap))
		;
	total_received++;
	total_bytes += len;
}

static void *receiver(void *arg)
{
	struct pair *p = arg;
	struct sockaddr_hcomm me = addr(0, BASE_PORT + p->nr);
	uint8_t *buf = malloc(MAX_LEN + 1), *want = malloc(MAX_LEN);
	int fd = make_socket(p, 2), conn = fd;
	uint64_t n;
	ssize_t got;

	if (bind(fd, (void *)&me, sizeof(me)))
		fail("bind: %s", strerror(errno));
	if (p->type != SOCK_RDM && listen(fd, 4))
		fail("listen: %s", strerror(errno));
	pthread_barrier_wait(&ready);
	if (p->type != SOCK_RDM) {
		conn = accept(fd, NULL, NULL);
		if (conn < 0)
			fail("accept: %s", strerror(errno));
	}
	for (n = 0; n < p->messages; n++) {
		size_t len = length(p, n);

		got = recv(conn, buf, p->type == SOCK_STREAM ? len :
			   MAX_LEN + 1, MSG_WAITALL);
		if (got < 0)
			fail("%d: recv of %llu: %s", p->nr,
			     (unsigned long long)n, strerror(errno));
		fill(p, n, want, len);
		if ((size_t)got != len || memcmp(buf, want, len))
			diagnose(p, n, buf, got);
		p->received = n + 1;
		note_rx(len);
	}
	if (p->type != SOCK_RDM) {
		got = recv(conn, buf, MAX_LEN, 0);
		if (got)
			fail("%d: something follows the end", p->nr);
	}
	got = recv(conn, buf, MAX_LEN, MSG_DONTWAIT);
	if (got > 0)
		fail("%d: more messages than were sent", p->nr);
	free(want);
	free(buf);
	return NULL;
}

/*
 * The shell that makes the events is started before there are threads and
 * buffers: forking this process would itself stall it.
 */
static struct shell shell;

static void run(const char *helper, const struct event *e, const char *what)
{
	char command[512];

	snprintf(command, sizeof(command), "%s %s %s", helper, e->name, what);
	if (shell_run(&shell, command))
		fail("event failed: %s", command);
}

/* Goes round the events, on one link and on the other, until told to stop. */
static unsigned int bound_ms(const struct event *e)
{
	return e->bound_ms * scale;
}

/*
 * With this load on one processor somebody waits in any case: bounds are beyond
 * what was seen without an event. failover.c has the bounds by themselves.
 */
static void go_round(const char *helper)
{
	uint64_t usual = 0;
	size_t i;

	while (!stop_events) {
		for (i = 0; i < NR_EVENTS && !stop_events; i++) {
			const struct event *e = &events[i];
			uint64_t before = total_received, ms;

			longest_ns = 0;
			last_rx_ns = now_ns();
			run(helper, e, "begin");
			usleep(e->ms * 1000);
			run(helper, e, "end");
			usleep(500000);
			ms = longest_ns / 1000000;
			printf("event: %-30s longest stall %5llu ms  %7llu messages\n",
			       e->text, (unsigned long long)ms,
			       (unsigned long long)(total_received - before));
			fflush(stdout);
			if (!e->bound_ms)
				usual = !strcmp(e->name, "none") ? ms : usual;
			else if (!stop_events && ms > usual + bound_ms(e))
				fail("%s: stall of %llu ms, bound %llu ms",
				     e->text, (unsigned long long)ms,
				     (unsigned long long)usual + bound_ms(e));
			event_now++;
		}
	}
}

static void *events_thread(void *arg)
{
	go_round(arg);
	return NULL;
}

/* Says how far it is, and ends a run that has stopped moving. */
static void *watch(void *arg)
{
	uint64_t seen = 0, now, since = now_ns();
	int i, tick = 0;

	(void)arg;
	for (;;) {
		usleep(1000000);
		if (++tick % 5 == 0) {
			printf("progress: %llu messages, %.0f MB\n",
			       (unsigned long long)total_received,
			       total_bytes / 1e6);
			fflush(stdout);
		}
		now = total_received + ((uint64_t)event_now << 48);
		/* On a slow machine the commands of an event take their time. */
		if (now != seen || all_await_events()) {
			seen = now;
			since = now_ns();
		}
		if (now_ns() - since < STUCK_S * 1000000000ull)
			continue;
		for (i = 0; i < nr_pairs; i++)
			printf("pair %d: sent %llu received %llu of %llu\n", i,
			       (unsigned long long)pairs[i].sent,
			       (unsigned long long)pairs[i].received,
			       (unsigned long long)pairs[i].messages);
		fail("nothing has moved for %d s", STUCK_S);
	}
	return NULL;
}

static void start(uint64_t messages, int sockets)
{
	size_t t;
	int i;

	for (t = 0; t < sizeof(types) / sizeof(types[0]); t++)
		for (i = 0; i < sockets; i++) {
			struct pair *p = &pairs[nr_pairs];

			p->nr = nr_pairs++;
			p->type = types[t].type;
			p->messages = messages;
			if (pthread_create(&p->rx, NULL, receiver, p) ||
			    pthread_create(&p->tx, NULL, sender, p))
				fail("pthread_create");
		}
}

int main(int argc, char **argv)
{
	uint64_t messages = 20000;
	const char *helper = NULL;
	int sockets = 8, opt, i;
	pthread_t ev, dog;
	uint64_t t0;

	while ((opt = getopt(argc, argv, "m:s:e:x:r:")) != -1) {
		switch (opt) {
		case 'm':
			messages = strtoull(optarg, NULL, 0);
			break;
		case 's':
			sockets = atoi(optarg);
			break;
		case 'e':
			helper = optarg;
			break;
		case 'x':
			scale = atoi(optarg);
			break;
		case 'r':
			seed = strtoull(optarg, NULL, 0);
			break;
		default:
			fprintf(stderr, "Usage: fire [-m MESSAGES] [-s SOCKETS] [-e EVENT-HELPER] [-x SCALE] [-r SEED]\n");
			return 1;
		}
	}
	if (sockets < 1 || sockets * 3 > MAX_PAIRS)
		return 1;
	read_family();
	if (helper)
		shell_start(&shell);
	with_events = helper;
	t0 = now_ns();
	last_rx_ns = t0;
	pthread_barrier_init(&ready, NULL, 6 * sockets);
	start(messages / (3 * sockets) + 1, sockets);
	if (pthread_create(&dog, NULL, watch, NULL))
		fail("pthread_create");
	if (helper && pthread_create(&ev, NULL, events_thread, (void *)helper))
		fail("pthread_create");
	for (i = 0; i < nr_pairs; i++)
		pthread_join(pairs[i].rx, NULL);
	stop_events = 1;
	for (i = 0; i < nr_pairs; i++)
		pthread_join(pairs[i].tx, NULL);
	if (helper)
		pthread_join(ev, NULL);
	printf("%llu messages, %.1f MB in %.1f s: 0 lost, 0 doubled, 0 reordered, 0 changed\n",
	       (unsigned long long)total_received, total_bytes / 1e6,
	       (now_ns() - t0) / 1e9);
	return failed;
}
