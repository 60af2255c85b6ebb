// SPDX-License-Identifier: GPL-2.0
/* The client: one run of a round trip or of a throughput. */
#include "perf.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* Connects to a server; it said what is wrong when it returns -1. */
int client_connect(const struct options *o, enum kind kind, uint32_t node,
		   const char *ip)
{
	enum kind ctl_kind = is_hcomm(kind) ? KIND_SEQPACKET : KIND_TCP;
	struct sockaddr_storage to;
	socklen_t len;
	int fd;

	fd = sock_connect(ctl_kind, node, ip, is_hcomm(kind) ? NULL : o->bind,
			  o->port, 0, &to, &len);
	if (fd >= 0)
		return fd;
	if (fd == -EAFNOSUPPORT && is_hcomm(kind))
		fail("hcomm module not loaded? There is no address family");
	else if (is_hcomm(kind))
		fail("server at node %u, port %u: %s", node, o->port,
		     strerror(-fd));
	else
		fail("server at %s, port %u: %s", ip, o->port, strerror(-fd));
	return -1;
}

static int ask(const struct options *o, int ctl, enum kind kind, uint32_t size,
	       uint32_t *port)
{
	uint32_t req[REQ_MAX] = {
		[REQ_MAGIC] = MAGIC, [REQ_TEST] = o->test, [REQ_KIND] = kind,
		[REQ_SIZE] = size, [REQ_COUNT] = o->count, [REQ_MS] = o->ms,
		[REQ_WARM] = o->warm_ms, [REQ_BUFFER] = o->buffer,
		[REQ_PAIRS] = o->pairs, [REQ_VS] = KIND_NONE,
	};
	uint32_t ready[READY_MAX];
	int err;

	err = ctl_send(ctl, req, REQ_MAX);
	if (!err)
		err = ctl_recv(ctl, ready, READY_MAX);
	if (err)
		return fail("%s: asking the server: %s", kind_names[kind],
			    strerror(-err));
	if (ready[READY_ERROR])
		return fail("%s: the server says: %s", kind_names[kind],
			    strerror((int)ready[READY_ERROR]));
	*port = ready[READY_PORT];
	return 0;
}

/* The result; meanwhile UDP is told again that it is over. */
static int result(int ctl, int fd, enum kind kind, const struct sockaddr *to,
		  socklen_t to_len, uint32_t *res)
{
	struct pollfd p = { .fd = ctl, .events = POLLIN };
	int i, err = 0;

	for (i = 0; i < 100; i++) {
		if (!err && (!i || kind == KIND_UDP))
			err = finish(fd, kind, to, to_len);
		if (poll(&p, 1, kind == KIND_UDP ? 20 : 100) > 0)
			break;
	}
	sock_timeout(ctl, 2 * QUIET_MS);
	return ctl_recv(ctl, res, RES_MAX);
}

static void add_cpu(struct run *r, const struct cpu *own, const uint32_t *res)
{
	r->cpu = *own;
	r->cpu.process += (double)get64(&res[RES_CPU]) / 1e9;
	if (get64(&res[RES_ID]) != machine_id())
		r->cpu.machine += (double)get64(&res[RES_MACHINE]) / 1e9;
}

static int measure(const struct options *o, enum kind kind, uint32_t size,
		   int ctl, uint32_t port, struct samples *s, struct run *r)
{
	uint32_t res[RES_MAX], before = s->nr;
	struct sockaddr_storage to;
	uint64_t msgs = 0;
	struct cpu cpu;
	socklen_t len;
	int fd, err;

	fd = sock_connect(kind, o->node, o->peers, is_hcomm(kind) ? NULL :
			  o->bind, port, o->buffer, &to, &len);
	if (fd < 0)
		return fail("%s: connecting: %s", kind_names[kind],
			    strerror(-fd));
	cpu = cpu_now();
	if (o->test == TEST_LAT)
		err = ping(fd, kind, o, size, (struct sockaddr *)&to, len, s,
			   r);
	else
		err = source(fd, kind, o, size, (struct sockaddr *)&to, len,
			     &msgs);
	if (err) {
		fail("%s: %s", kind_names[kind], strerror(-err));
		close(fd);
		return EXIT_FAILED;
	}
	err = result(ctl, fd, kind, (struct sockaddr *)&to, len, res);
	cpu = cpu_since(&cpu);
	close(fd);
	if (err)
		return fail("%s: result of the server: %s", kind_names[kind],
			    strerror(-err));
	if (res[RES_ERROR])
		return fail("%s: the server says: %s", kind_names[kind],
			    strerror((int)res[RES_ERROR]));
	add_cpu(r, &cpu, res);
	if (o->test == TEST_LAT) {
		if (s->nr == before)
			return fail("%s: no round trip in the time given",
				    kind_names[kind]);
		r->value = samples_quantile(s, before, 0.5);
		return 0;
	}
	r->bytes = (double)get64(&res[RES_ALL]);
	r->messages = (double)msgs;
	if (kind == KIND_UDP)
		r->lost = (double)msgs - (double)get64(&res[RES_MSGS]);
	if (!get64(&res[RES_NS]) || !get64(&res[RES_BYTES]))
		return fail("%s: too little arrived to measure",
			    kind_names[kind]);
	r->value = (double)get64(&res[RES_BYTES]) * 1e3 /
		   (double)get64(&res[RES_NS]);
	return 0;
}

/* One run; it said what is wrong when it does not return 0. */
int client_run(const struct options *o, enum kind kind, uint32_t size,
	       struct samples *s, struct run *r)
{
	uint32_t port = 0;
	int ctl, err;

	ctl = client_connect(o, kind, o->node, o->peers);
	if (ctl < 0)
		return EXIT_FAILED;
	err = ask(o, ctl, kind, size, &port);
	if (!err)
		err = measure(o, kind, size, ctl, port, s, r);
	close(ctl);
	return err;
}
