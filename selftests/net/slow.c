// SPDX-License-Identifier: GPL-2.0
/*
 * One SOCK_RDM socket sends to many destinations; one of them stops reading and
 * starts again, in turns. What the others receive in the two kinds of turns is
 * compared.
 *
 * slow [-s SIZE] [-n PAIRS-OF-TURNS] [-t MS] [-d DESTINATIONS] [-r RATE]. RATE
 * is in messages per second to each. Without it they are sent as fast as they
 * are taken; then the processor is what the turns compete for, and half of a
 * rate is enough. The two nodes are network namespaces hn1 and hn2 of one guest.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "nodes.h"

enum {
	MAX_DEST = 64, BASE_PORT = 6700, MAX_SIZE = 1 << 20,
	LEAST_PERCENT = 95, LEAST_UNPACED = 50, MOST_MIB = 64, MAX_TURNS = 64,
};

struct dest {
	int nr;
	int fd;
	_Atomic bool congested;
	uint64_t sent;
	_Atomic uint64_t received;
	pthread_t thread;
};

static struct dest dests[MAX_DEST];
static int nr_dests = 16;
static size_t size = 8192;
static int rate;
static _Atomic bool stopped;	/* the last one does not read */
static _Atomic bool done;	/* nothing more is sent */
static _Atomic bool ended;	/* nothing more is read */
static int most_queued;

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

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void *receive(void *arg)
{
	struct timeval tv = { .tv_usec = 100000 };
	struct dest *d = arg;
	uint64_t *buf = malloc(MAX_SIZE);
	bool last = d->nr == nr_dests - 1;

	setsockopt(d->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	while (!ended) {
		ssize_t n;

		if (last && stopped) {
			usleep(1000);
			continue;
		}
		n = recv(d->fd, buf, MAX_SIZE, 0);
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n != (ssize_t)size)
			fail("destination %d: recv: %zd, %s", d->nr, n,
			     strerror(errno));
		if (buf[0] != d->received)
			fail("destination %d: message %llu instead of %llu",
			     d->nr, (unsigned long long)buf[0],
			     (unsigned long long)d->received);
		d->received++;
	}
	return NULL;
}

/* The destinations that take messages again. */
static void read_records(int fd)
{
	char control[256];

	for (;;) {
		struct msghdr m = {
			.msg_control = control, .msg_controllen = sizeof(control),
		};
		struct hcomm_sock_err *e;

		if (recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return;
		e = (void *)CMSG_DATA(CMSG_FIRSTHDR(&m));
		if (!e->see_writable)
			fail("a record of %s", strerror(e->see_errno));
		dests[e->see_offender.shc_port - BASE_PORT].congested = false;
	}
}

static void note_queued(int fd)
{
	int queued = 0;

	ioctl(fd, TIOCOUTQ, &queued);
	if (queued > most_queued)
		most_queued = queued;
}

/*
 * Waits for the next time to send, if there is one. What was missed is not made
 * up for: no turn is faster than the rate.
 */
static void pace(struct timespec *next)
{
	struct timespec t;

	if (!rate)
		return;
	clock_gettime(CLOCK_MONOTONIC, &t);
	if (t.tv_sec > next->tv_sec ||
	    (t.tv_sec == next->tv_sec && t.tv_nsec > next->tv_nsec))
		*next = t;
	next->tv_nsec += 1000000000 / rate;
	next->tv_sec += next->tv_nsec / 1000000000;
	next->tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

static void *send_all(void *arg)
{
	struct timespec next;
	struct pollfd p = { .fd = *(int *)arg };
	uint64_t *buf = calloc(1, MAX_SIZE);
	int i, open;
	ssize_t n;

	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!done) {
		open = 0;
		pace(&next);
		for (i = 0; i < nr_dests && !done; i++) {
			struct sockaddr_hcomm to = addr(2, BASE_PORT + i);
			struct dest *d = &dests[i];

			if (d->congested)
				continue;
			open++;
			buf[0] = d->sent;
			n = sendto(p.fd, buf, size, MSG_DONTWAIT, (void *)&to,
				   sizeof(to));
			if (n == (ssize_t)size) {
				d->sent++;
				continue;
			}
			note_queued(p.fd);
			if (errno == ENOBUFS) {
				d->congested = true;
			} else if (errno == EAGAIN) {
				p.events = POLLOUT;
				poll(&p, 1, 100);
			} else {
				fail("sendto: %s", strerror(errno));
			}
		}
		if (!open) {
			/* Records are errors, which are always told. */
			p.events = 0;
			poll(&p, 1, 100);
		}
		read_records(p.fd);
	}
	return NULL;
}

static void start(int *fd)
{
	pthread_t t;
	int i;

	enter(2);
	for (i = 0; i < nr_dests; i++) {
		struct sockaddr_hcomm sa = addr(0, BASE_PORT + i);

		dests[i].nr = i;
		dests[i].fd = socket(family, SOCK_RDM, 0);
		if (bind(dests[i].fd, (void *)&sa, sizeof(sa)))
			fail("bind: %s", strerror(errno));
		if (pthread_create(&dests[i].thread, NULL, receive, &dests[i]))
			fail("pthread_create");
	}
	enter(1);
	*fd = socket(family, SOCK_RDM, 0);
	if (*fd < 0 || pthread_create(&t, NULL, send_all, fd))
		fail("socket: %s", strerror(errno));
}

/* What the others receive in a turn, in messages per second. */
static double turn(int ms)
{
	uint64_t before = 0, after = 0;
	double t0;
	int i;

	t0 = now();
	for (i = 0; i < nr_dests - 1; i++)
		before += dests[i].received;
	usleep(ms * 1000);
	for (i = 0; i < nr_dests - 1; i++)
		after += dests[i].received;
	return (after - before) / (now() - t0);
}

static long available(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib >> 10;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Until the last one has enough, or takes some again. */
static void await_last(bool congested)
{
	double end = now() + 20;

	while (dests[nr_dests - 1].congested != congested) {
		if (now() > end)
			fail("destination %d %s", nr_dests - 1, congested ?
			     "never has enough" : "takes nothing again");
		usleep(1000);
	}
}

static void await_all(void)
{
	double end = now() + 20;
	int i;

	for (i = 0; i < nr_dests; i++)
		while (dests[i].received < dests[i].sent) {
			if (now() > end)
				fail("destination %d: sent %llu, received %llu",
				     i, (unsigned long long)dests[i].sent,
				     (unsigned long long)dests[i].received);
			usleep(1000);
		}
}

static void run(int turns, int ms)
{
	double ratios[MAX_TURNS], rates[2], ratio;
	long least = 0, base, mib;
	int i;

	turn(ms);
	base = available();
	least = base;
	for (i = 0; i < turns; i++) {
		uint64_t taken;

		rates[0] = turn(ms);
		stopped = true;
		await_last(true);
		taken = dests[nr_dests - 1].received;
		rates[1] = turn(ms);
		mib = available();
		if (mib < least)
			least = mib;
		/* One that was being read when it stopped. */
		if (dests[nr_dests - 1].received > taken + 1 ||
		    !dests[nr_dests - 1].congested)
			fail("destination %d takes more while it does not read",
			     nr_dests - 1);
		stopped = false;
		await_last(false);
		ratios[i] = rates[1] / rates[0];
		printf("turn %d: %9.0f messages/s to the others, %9.0f while one does not read\n",
		       i + 1, rates[0], rates[1]);
		fflush(stdout);
	}
	done = true;
	usleep(200000);
	await_all();
	ended = true;
	/* Of turns side by side: the machine has other things to do, too. */
	qsort(ratios, turns, sizeof(double), compare);
	ratio = ratios[turns / 2];
	printf("%zu bytes to %d destinations: %.0f %% of the rate while one does not read; at most %d bytes queued, %ld MiB of memory\n",
	       size, nr_dests, ratio * 100, most_queued, base - least);
	fflush(stdout);
	if (ratio * 100 < (rate ? LEAST_PERCENT : LEAST_UNPACED))
		fail("less than %d %%", rate ? LEAST_PERCENT : LEAST_UNPACED);
	if (base - least > MOST_MIB)
		fail("more than %d MiB of memory", MOST_MIB);
}

int main(int argc, char **argv)
{
	int opt, turns = 5, ms = 1000, fd;

	while ((opt = getopt(argc, argv, "s:n:t:d:r:")) != -1) {
		if (opt == 's')
			size = strtoul(optarg, NULL, 0);
		else if (opt == 'n')
			turns = atoi(optarg);
		else if (opt == 't')
			ms = atoi(optarg);
		else if (opt == 'r')
			rate = atoi(optarg);
		else if (opt == 'd')
			nr_dests = atoi(optarg);
		else
			return 1;
	}
	if (size < sizeof(uint64_t) || size > MAX_SIZE || turns < 1 ||
	    turns > MAX_TURNS || nr_dests < 2 || nr_dests > MAX_DEST)
		return 1;
	read_family();
	start(&fd);
	run(turns, ms);
	return 0;
}
