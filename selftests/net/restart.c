// SPDX-License-Identifier: GPL-2.0
/*
 * The peer restarts, under traffic: its processes are killed, the module is
 * unloaded and loaded, and all begins again. What was cut off must have been
 * reported by ECONNRESET, nothing may arrive twice, and nothing that was sent to
 * one incarnation of the peer may arrive at the next one.
 *
 * restart send ROUNDS SOCKETS HELPER: on node 1; HELPER works on node 2
 * restart serve RUN SOCKETS LOG: on node 2
 * restart report LOG: likewise: a line for each socket: messages, first, last
 *
 * Every message has the number of the run of the receiver that it is for, its
 * own number, which is never used again, and a checksum.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nodes.h"

enum {
	BASE_PORT = 6500, MAX_PAIRS = 48, MAX_LEN = 64 << 10, MAGIC = 0x7265736d,
	ENOUGH = 20, PATIENCE_S = 60,
};

static const struct { int type; const char *name; } types[] = {
	{ SOCK_SEQPACKET, "seqpacket" }, { SOCK_RDM, "rdm" },
	{ SOCK_STREAM, "stream" },
};

struct head {
	uint32_t magic;
	uint32_t pair;
	uint32_t run;
	uint32_t len;		/* with this head */
	uint64_t number;
	uint64_t sum;
};

/* What a receiver notes, in memory that outlives it. */
struct note {
	uint64_t messages;
	uint64_t first;
	uint64_t last;
	char wrong[104];
};

struct pair {
	int nr;
	int type;
	_Atomic int fd;
	_Atomic uint64_t sent;		/* in this run */
	_Atomic uint64_t lost;		/* of them, by SOCK_RDM's records */
	_Atomic int resets;		/* in this round */
	_Atomic bool quiet;		/* it has seen that it is to pause */
};

static struct pair pairs[MAX_PAIRS];
static int nr_pairs;
static _Atomic int run_now, paused, stop;

__attribute__((noreturn, format(printf, 1, 2)))
static void fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("FAIL: ");
	vprintf(fmt, args);
	printf("\n");
	fflush(stdout);
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

static uint64_t sum_of(const struct head *h)
{
	const uint8_t *p = (const void *)h;
	uint64_t sum = mix(h->number ^ (uint64_t)h->run << 32 ^ h->pair);
	size_t i;

	for (i = sizeof(*h); i + 8 <= h->len; i += 8) {
		uint64_t v;

		memcpy(&v, p + i, 8);
		sum = (sum ^ v) * 0x9e3779b97f4a7c15ull;
	}
	return mix(sum ^ h->len);
}

static void make(struct head *h, int pair, int run, uint64_t number)
{
	uint64_t k = mix(number * 1000 + pair);
	size_t extra = k % 3 ? k % 2000 : k % (MAX_LEN - sizeof(*h)), i;
	uint8_t *p = (void *)h;

	*h = (struct head){
		.magic = MAGIC, .pair = pair, .run = run, .number = number,
		.len = sizeof(*h) + extra,
	};
	for (i = sizeof(*h); i < h->len; i++)
		p[i] = k >> i % 57;
	h->sum = sum_of(h);
}

static void make_pairs(int sockets)
{
	size_t t;
	int i;

	for (t = 0; t < sizeof(types) / sizeof(types[0]); t++)
		for (i = 0; i < sockets && nr_pairs < MAX_PAIRS; i++) {
			pairs[nr_pairs].nr = nr_pairs;
			pairs[nr_pairs].fd = -1;
			pairs[nr_pairs++].type = types[t].type;
		}
}

/* ---- the receiver ---- */

static struct note *notes;

__attribute__((format(printf, 2, 3)))
static void wrong(struct note *n, const char *fmt, ...)
{
	va_list args;

	if (n->wrong[0])
		return;
	va_start(args, fmt);
	vsnprintf(n->wrong, sizeof(n->wrong), fmt, args);
	va_end(args);
}

static void check(struct pair *p, const struct head *h, ssize_t len)
{
	struct note *n = &notes[p->nr];

	if (len < (ssize_t)sizeof(*h) || h->magic != MAGIC ||
	    (ssize_t)h->len != len || h->sum != sum_of(h) ||
	    h->pair != (uint32_t)p->nr) {
		wrong(n, "a message of %zd bytes that nobody sent", len);
		return;
	}
	if (h->run != (uint32_t)run_now)
		wrong(n, "message %llu for run %u arrives in run %d",
		      (unsigned long long)h->number, h->run, run_now);
	if (n->messages && h->number <= n->last)
		wrong(n, "message %llu after message %llu",
		      (unsigned long long)h->number,
		      (unsigned long long)n->last);
	if (n->messages && p->type != SOCK_RDM && h->number > n->last + 1)
		wrong(n, "messages %llu to %llu are missing",
		      (unsigned long long)n->last + 1,
		      (unsigned long long)h->number - 1);
	if (!n->messages)
		n->first = h->number;
	n->last = h->number;
	n->messages++;
}

static ssize_t read_one(int fd, int type, uint8_t *buf)
{
	struct head *h = (void *)buf;
	ssize_t n;

	if (type != SOCK_STREAM)
		return recv(fd, buf, MAX_LEN, 0);
	n = recv(fd, buf, sizeof(*h), MSG_WAITALL);
	if (n != sizeof(*h) || h->magic != MAGIC || h->len < sizeof(*h) ||
	    h->len > MAX_LEN)
		return n;
	if (h->len == sizeof(*h))
		return n;
	n = recv(fd, buf + sizeof(*h), h->len - sizeof(*h), MSG_WAITALL);
	return n < 0 ? n : n + (ssize_t)sizeof(*h);
}

static void *receive(void *arg)
{
	struct pair *p = arg;
	uint8_t *buf = malloc(MAX_LEN);
	uint32_t hello = run_now;
	int fd = p->fd;
	ssize_t n;

	if (p->type != SOCK_RDM) {
		fd = accept(fd, NULL, NULL);
		if (fd < 0 || send(fd, &hello, sizeof(hello), 0) < 0)
			fail("accept: %s", strerror(errno));
	}
	while ((n = read_one(fd, p->type, buf)) > 0)
		check(p, (void *)buf, n);
	wrong(&notes[p->nr], "recv: %s", n ? strerror(errno) : "the end");
	return NULL;
}

static int serve(int run, int sockets, const char *log)
{
	int fd = open(log, O_RDWR | O_CREAT | O_TRUNC, 0600), i;
	pthread_t t;
	FILE *f;

	run_now = run;
	make_pairs(sockets);
	if (fd < 0 || ftruncate(fd, sizeof(*notes) * MAX_PAIRS))
		fail("%s: %s", log, strerror(errno));
	notes = mmap(NULL, sizeof(*notes) * MAX_PAIRS, PROT_READ | PROT_WRITE,
		     MAP_SHARED, fd, 0);
	if (notes == MAP_FAILED)
		fail("mmap: %s", strerror(errno));
	for (i = 0; i < nr_pairs; i++) {
		struct sockaddr_hcomm sa = addr(0, BASE_PORT + i);

		pairs[i].fd = socket(family, pairs[i].type, 0);
		if (bind(pairs[i].fd, (void *)&sa, sizeof(sa)) ||
		    (pairs[i].type != SOCK_RDM && listen(pairs[i].fd, 4)))
			fail("bind: %s", strerror(errno));
		if (pthread_create(&t, NULL, receive, &pairs[i]))
			fail("pthread_create");
	}
	/* It is there: whoever wants to end it finds it. */
	f = fopen("/run/restart.pid", "w");
	fprintf(f, "%d\n", getpid());
	fclose(f);
	for (;;)
		pause();
}

static int report(const char *log)
{
	static struct note n[MAX_PAIRS];
	FILE *f = fopen(log, "r");
	int i;

	if (!f || fread(n, sizeof(n), 1, f) != 1)
		return 1;
	for (i = 0; i < MAX_PAIRS; i++)
		printf("%llu %llu %llu %s\n", (unsigned long long)n[i].messages,
		       (unsigned long long)n[i].first,
		       (unsigned long long)n[i].last,
		       n[i].wrong[0] ? n[i].wrong : "-");
	return 0;
}

/* ---- the sender ---- */

/* Until the pause is over, or the connection. */
static void rest(struct pair *p)
{
	struct pollfd pf = { .fd = p->fd };

	while (paused && !stop) {
		p->quiet = true;
		if (poll(&pf, 1, 1) > 0)
			break;
	}
	p->quiet = false;
}

/* The run of the receiver, which says it first; 0: nothing came of it. */
static uint32_t connect_to(struct pair *p)
{
	struct sockaddr_hcomm to = addr(2, BASE_PORT + p->nr);
	uint32_t run = 0;
	int fd = socket(family, p->type, 0);

	if (fd < 0)
		fail("socket: %s", strerror(errno));
	p->fd = fd;
	if (!connect(fd, (void *)&to, sizeof(to)) &&
	    recv(fd, &run, sizeof(run), MSG_WAITALL) == sizeof(run))
		return run;
	close(fd);
	p->fd = -1;
	usleep(5000);
	return 0;
}

static bool send_all(struct pair *p, const void *buf, size_t len)
{
	const uint8_t *b = buf;

	while (len) {
		ssize_t n = send(p->fd, b, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd pf = { .fd = p->fd, .events = POLLOUT };

			/* A message that is not begun can wait for later. */
			if (paused && b == buf)
				rest(p);
			if (paused)
				p->quiet = true;
			poll(&pf, 1, 20);
			continue;
		}
		p->quiet = false;
		if (n < 0)
			return false;
		b += n;
		len -= n;
	}
	return true;
}

static void *send_connected(void *arg)
{
	struct pair *p = arg;
	uint8_t *buf = malloc(MAX_LEN);
	struct head *h = (void *)buf;
	uint64_t number = 1;

	while (!stop) {
		uint32_t run = connect_to(p);

		if (!run)
			continue;
		if (run != (uint32_t)run_now)
			fail("pair %d: the greeting of run %u in run %d", p->nr,
			     run, run_now);
		p->sent = 0;
		while (!stop) {
			rest(p);
			make(h, p->nr, run, number++);
			if (!send_all(p, buf, h->len))
				break;
			p->sent++;
		}
		if (stop)
			break;
		if (errno != ECONNRESET)
			fail("pair %d: cut off with %s", p->nr, strerror(errno));
		close(p->fd);
		p->fd = -1;
		p->resets++;
		rest(p);
	}
	free(buf);
	return NULL;
}

/* Records of what was lost; the peer has restarted, or nobody is there. */
static void read_errors(struct pair *p)
{
	char control[256];

	for (;;) {
		struct msghdr m = {
			.msg_control = control, .msg_controllen = sizeof(control),
		};
		struct hcomm_sock_err *e;

		if (recvmsg(p->fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return;
		if (!CMSG_FIRSTHDR(&m))
			fail("pair %d: a record of nothing", p->nr);
		e = (void *)CMSG_DATA(CMSG_FIRSTHDR(&m));
		if (e->see_writable)
			continue;
		p->lost += e->see_lost;
		if (e->see_errno == ECONNRESET)
			p->resets++;
		else if (e->see_errno != ECONNREFUSED)
			fail("pair %d: a record of %s", p->nr,
			     strerror(e->see_errno));
	}
}

static void *send_rdm(void *arg)
{
	struct pair *p = arg;
	struct sockaddr_hcomm to = addr(2, BASE_PORT + p->nr);
	uint8_t *buf = malloc(MAX_LEN);
	struct head *h = (void *)buf;
	uint64_t number = 1;

	p->fd = socket(family, SOCK_RDM, 0);
	while (!stop) {
		ssize_t n;

		if (paused) {
			p->quiet = true;
			read_errors(p);
			usleep(1000);
			continue;
		}
		p->quiet = false;
		make(h, p->nr, run_now, number);
		n = sendto(p->fd, buf, h->len, MSG_DONTWAIT, (void *)&to,
			   sizeof(to));
		read_errors(p);
		if (n > 0) {
			p->sent++;
			number++;
		} else if (errno == ENOBUFS || errno == EAGAIN) {
			usleep(1000);
		} else if (errno != ECONNREFUSED && errno != ECONNRESET) {
			fail("pair %d: sendto: %s", p->nr, strerror(errno));
		}
	}
	free(buf);
	return NULL;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static const char *helper;

static void do_help(const char *what, int arg, int sockets)
{
	char line[512];

	double t0 = now();

	snprintf(line, sizeof(line), "%s %s %d %d", helper, what, arg, sockets);
	if (system(line))
		fail("failed: %s", line);
	if (getenv("HCOMM_VERBOSE"))
		printf("%s: %.1f s\n", what, now() - t0);
}

static void read_notes(int run, struct note *n)
{
	char line[512];
	FILE *f;
	int i;

	snprintf(line, sizeof(line), "%s report %d 0", helper, run);
	f = popen(line, "r");
	for (i = 0; f && i < MAX_PAIRS; i++) {
		unsigned long long v[3];

		if (fscanf(f, "%llu %llu %llu %103[^\n]", &v[0], &v[1], &v[2],
			   n[i].wrong) != 4)
			fail("no report of run %d", run);
		n[i].messages = v[0];
		n[i].first = v[1];
		n[i].last = v[2];
	}
	if (!f || pclose(f))
		fail("no report of run %d", run);
}

/* Until the receivers have something, on all sockets. */
static void await_traffic(int run, struct note *n)
{
	double end = now() + PATIENCE_S;
	int i, few;

	do {
		read_notes(run, n);
		few = -1;
		for (i = 0; i < nr_pairs; i++)
			if (n[i].messages < ENOUGH)
				few = i;
		if (now() > end)
			fail("run %d: pair %d has only %llu messages", run, few,
			     (unsigned long long)n[few].messages);
		usleep(50000);
	} while (few >= 0);
}

static void await_quiet(void)
{
	double end = now() + PATIENCE_S;
	int i;

	paused = true;
	for (i = 0; i < nr_pairs; i++)
		while (!pairs[i].quiet && !pairs[i].resets) {
			if (now() > end)
				fail("pair %d does not pause", i);
			usleep(1000);
		}
}

/* Until all have been told, and nothing of SOCK_RDM is under way. */
static void await_resets(int run)
{
	double end = now() + PATIENCE_S;
	int i, queued;

	for (i = 0; i < nr_pairs; i++)
		for (;;) {
			queued = 0;
			if (pairs[i].type == SOCK_RDM)
				ioctl(pairs[i].fd, TIOCOUTQ, &queued);
			if (!queued && (pairs[i].resets ||
					pairs[i].type == SOCK_RDM))
				break;
			if (now() > end)
				fail("run %d: pair %d (%s) hears of no ECONNRESET, %d bytes queued",
				     run, i, types[i / (nr_pairs / 3)].name,
				     queued);
			usleep(1000);
		}
}

static void check_notes(int run, bool crash, const struct note *n,
			const struct note *old)
{
	uint64_t messages = 0, lost = 0;
	int i, resets = 0;

	for (i = 0; i < nr_pairs; i++) {
		struct pair *p = &pairs[i];
		uint64_t unknown;

		if (strcmp(n[i].wrong, "-"))
			fail("run %d, pair %d: %s", run, i, n[i].wrong);
		if (run > 1 && n[i].first <= old[i].last)
			fail("run %d, pair %d: message %llu was delivered before the restart",
			     run, i, (unsigned long long)n[i].first);
		messages += n[i].messages;
		lost += p->lost;
		resets += p->resets;
		if (p->type != SOCK_RDM)
			continue;
		/* What was neither delivered nor reported. */
		unknown = p->sent > n[i].messages + p->lost ?
			p->sent - n[i].messages - p->lost : 0;
		if (crash && (unknown || !p->resets))
			fail("run %d, pair %d: sent %llu, delivered %llu, reported %llu in %d records of ECONNRESET",
			     run, i, (unsigned long long)p->sent,
			     (unsigned long long)n[i].messages,
			     (unsigned long long)p->lost, p->resets);
	}
	printf("run %d, %s: %llu messages delivered, %d resets, %llu messages of SOCK_RDM reported lost\n",
	       run, crash ? "crash" : "plain", (unsigned long long)messages,
	       resets, (unsigned long long)lost);
	fflush(stdout);
}

static int send_main(int rounds, int sockets)
{
	static struct note n[2][MAX_PAIRS];
	pthread_t t;
	int run, i;

	make_pairs(sockets);
	run_now = 1;
	do_help("keep", 0, 0);
	do_help("serve", 1, sockets);
	for (i = 0; i < nr_pairs; i++)
		if (pthread_create(&t, NULL, pairs[i].type == SOCK_RDM ?
				   send_rdm : send_connected, &pairs[i]))
			fail("pthread_create");
	for (run = 1; run <= rounds; run++) {
		/* In every second run nothing can be said when it ends. */
		bool crash = run % 2 == 0;
		struct note *new = n[run % 2], *old = n[1 - run % 2];

		await_traffic(run, new);
		if (crash) {
			do_help("cut", 0, 0);
			await_quiet();
		}
		do_help("kill", 0, 0);
		read_notes(run, new);
		do_help("unload", 0, 0);
		do_help("load", 0, 0);
		if (crash) {
			/* What is under way now would meet the next run. */
			do_help("serve", run + 1, sockets);
			do_help("configure", 0, 0);
			do_help("heal", 0, 0);
		} else {
			do_help("configure", 0, 0);
			await_quiet();
		}
		await_resets(run);
		/* It has all been heard. */
		usleep(20000);
		check_notes(run, crash, new, old);
		for (i = 0; i < nr_pairs; i++) {
			pairs[i].resets = 0;
			pairs[i].lost = 0;
			pairs[i].sent = 0;
		}
		run_now = run + 1;
		if (!crash)
			do_help("serve", run + 1, sockets);
		paused = false;
	}
	await_traffic(rounds + 1, n[0]);
	stop = true;
	do_help("kill", 0, 0);
	printf("%d restarts: all was reported, nothing delivered twice, nothing crossed\n",
	       rounds);
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "report"))
		return report(argv[2]);
	if (argc != 5) {
		fprintf(stderr, "Usage: restart send ROUNDS SOCKETS HELPER | serve RUN SOCKETS LOG | report LOG\n");
		return 1;
	}
	read_family();
	if (!strcmp(argv[1], "serve"))
		return serve(atoi(argv[2]), atoi(argv[3]), argv[4]);
	helper = argv[4];
	return send_main(atoi(argv[2]), atoi(argv[3]));
}
