// SPDX-License-Identifier: GPL-2.0
/* The server: a process for each client. */
#include "perf.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int data_socket(int ctl, const struct options *o)
{
	uint32_t ready[READY_MAX] = { 0 };
	int fd, err, conn;

	fd = sock_serve(o->kind, is_hcomm(o->kind) ? NULL : o->bind,
			&ready[READY_PORT], o->buffer);
	if (fd < 0)
		ready[READY_ERROR] = (uint32_t)-fd;
	err = ctl_send(ctl, ready, READY_MAX);
	if (err || fd < 0 || is_datagram(o->kind)) {
		if (err && fd >= 0)
			close(fd);
		return err ? err : fd;
	}
	conn = sock_accept(fd, o->kind);
	close(fd);
	return conn;
}

static int serve_run(int ctl, const struct options *o)
{
	uint32_t res[RES_MAX] = { 0 };
	struct sunk got = { 0 };
	struct cpu cpu;
	int fd, err;

	fd = data_socket(ctl, o);
	if (fd < 0) {
		/* What the client was not told before it hears now. */
		res[RES_ERROR] = (uint32_t)-fd;
		ctl_send(ctl, res, RES_MAX);
		return fd;
	}
	cpu = cpu_now();
	if (o->test == TEST_LAT)
		err = echo(fd, o->kind, o->size);
	else
		err = sink(fd, o->kind, o->size, o->count ? 0 : o->warm_ms,
			   &got);
	cpu = cpu_since(&cpu);
	res[RES_ERROR] = (uint32_t)-err;
	put64(&res[RES_BYTES], got.bytes);
	put64(&res[RES_ALL], got.all);
	put64(&res[RES_MSGS], got.msgs);
	put64(&res[RES_NS], (uint64_t)(got.seconds * 1e9));
	put64(&res[RES_CPU], (uint64_t)(cpu.process * 1e9));
	put64(&res[RES_MACHINE], (uint64_t)(cpu.machine * 1e9));
	put64(&res[RES_ID], machine_id());
	err = ctl_send(ctl, res, RES_MAX);
	/* It closes first: what was sent is not lost. */
	ctl_recv(ctl, res, 1);
	close(fd);
	return err;
}

static int serve_ranks(int ctl, const struct options *o, uint32_t rank,
		       uint32_t len)
{
	uint32_t ready[READY_MAX] = { 0 }, res[RES_MAX] = { 0 };
	char *text;
	int err;

	if (!len || len > MAX_TEXT)
		return -EPROTO;
	text = allocate(len);
	err = ctl_recv_text(ctl, text, len);
	if (!err)
		err = ctl_send(ctl, ready, READY_MAX);
	if (!err) {
		err = ranks_serve(o, rank, text);
		res[RES_ERROR] = (uint32_t)-err;
		err = ctl_send(ctl, res, RES_MAX);
		ctl_recv(ctl, res, 1);
	}
	free(text);
	return err;
}

/* Nothing that a client sends is used before it was checked. */
static int take(const uint32_t *req, struct options *o)
{
	uint32_t max = req[REQ_TEST] == TEST_ALLREDUCE ? MAX_SIZE : MAX_MSG;

	if (req[REQ_MAGIC] != MAGIC || req[REQ_TEST] > TEST_ALLREDUCE ||
	    req[REQ_KIND] >= KIND_NONE || req[REQ_VS] > KIND_NONE)
		return -EPROTO;
	if (!req[REQ_SIZE] || req[REQ_SIZE] > max || req[REQ_MS] > MAX_MS ||
	    req[REQ_WARM] > MAX_MS || req[REQ_BUFFER] > INT32_MAX ||
	    !req[REQ_PAIRS] || req[REQ_PAIRS] > MAX_PAIRS)
		return -ERANGE;
	o->test = req[REQ_TEST];
	o->kind = req[REQ_KIND];
	o->vs = req[REQ_VS];
	o->size = req[REQ_SIZE];
	o->count = req[REQ_COUNT];
	o->ms = req[REQ_MS];
	o->warm_ms = req[REQ_WARM];
	o->buffer = req[REQ_BUFFER];
	o->pairs = req[REQ_PAIRS];
	o->port = req[REQ_PORT];
	return 0;
}

static int client(int ctl, struct options o)
{
	uint32_t req[REQ_MAX], ready[READY_MAX] = { 0 };
	int err;

	err = ctl_recv(ctl, req, REQ_MAX);
	if (!err)
		err = take(req, &o);
	if (!err && o.test == TEST_ALLREDUCE)
		err = serve_ranks(ctl, &o, req[REQ_RANK], req[REQ_TEXT]);
	else if (!err)
		err = serve_run(ctl, &o);
	if (!err)
		return EXIT_OK;
	if (err == -EPROTO || err == -ERANGE) {
		ready[READY_ERROR] = (uint32_t)-err;
		ctl_send(ctl, ready, READY_MAX);
	}
	return fail("client: %s", strerror(-err));
}

static int welcome(int fd, enum kind kind, const struct options *o,
		   int *listener, int nr)
{
	int ctl = sock_accept(fd, kind), i;
	pid_t pid;

	if (ctl < 0) {
		/* That one went away; others may come. */
		fail("accept: %s", strerror(-ctl));
		return ctl == -EBADF || ctl == -EINVAL ? EXIT_FAILED : 0;
	}
	pid = o->once ? 0 : fork();
	if (pid) {
		if (pid < 0)
			fail("fork: %s", strerror(errno));
		close(ctl);
		return 0;
	}
	for (i = 0; i < nr; i++)
		close(listener[i]);
	exit(client(ctl, *o));
}

int serve(const struct options *o)
{
	static const enum kind kinds[] = { KIND_SEQPACKET, KIND_TCP };
	enum kind kind_of[2];
	struct pollfd p[2];
	int listener[2];
	int i, nr = 0;

	for (i = 0; i < 2; i++) {
		uint32_t port = o->port;
		int fd = sock_serve(kinds[i], kinds[i] == KIND_TCP ? o->bind :
				    NULL, &port, 0);

		if (fd < 0 && kinds[i] == KIND_SEQPACKET &&
		    fd == -EAFNOSUPPORT) {
			fputs("hcomm module not loaded? Only TCP and UDP can be measured.\n",
			      stderr);
			continue;
		}
		if (fd < 0)
			return fail("port %u (%s): %s", o->port,
				    kind_names[kinds[i]], strerror(-fd));
		kind_of[nr] = kinds[i];
		listener[nr] = fd;
		p[nr].fd = fd;
		p[nr++].events = POLLIN;
	}
	/* Scripts wait for it. */
	printf("hcomm_perf: ready on port %u\n", o->port);
	fflush(stdout);
	for (;;) {
		if (poll(p, (nfds_t)nr, 1000) < 0 && errno != EINTR)
			return fail("poll: %s", strerror(errno));
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		for (i = 0; i < nr; i++)
			if (p[i].revents &&
			    welcome(p[i].fd, kind_of[i], o, listener, nr))
				return EXIT_FAILED;
	}
}
