// SPDX-License-Identifier: GPL-2.0
/*
 * all_reduce of libhcomm, and the same over TCP. All ranks do the same; they
 * come from hcomm_run, or are servers that the client asks.
 */
#include "perf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WARM_ROUNDS	2

/**
 * struct job - the ranks and what connects them
 * @rank: own number
 * @nr: how many
 * @nodes: node of each, or NULL if the environment says it
 * @ip: IP address of each from rank 1 on, or NULL
 * @id: the same number on all ranks
 * @comm: over AF_HCOMM, or NULL
 * @tcp: over TCP, or NULL
 * @send: own elements
 * @recv: the sum
 * @count: how many
 */
struct job {
	uint32_t rank, nr;
	char **nodes, **ip;
	uint64_t id;
	struct hcomm_comm *comm;
	struct tcp_ranks *tcp;
	float *send, *recv;
	size_t count;
};

/* Cuts "a,b,c" into words, in place. */
static char **cut(char *text, uint32_t *nr)
{
	char **list = allocate((strlen(text) / 2 + 2) * sizeof(*list));
	char *word;

	*nr = 0;
	while ((word = strsep(&text, ",")))
		list[(*nr)++] = word;
	return list;
}

static int node_number(const char *text, uint32_t *node)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || !v ||
	    v > UINT32_MAX)
		return -EINVAL;
	*node = (uint32_t)v;
	return 0;
}

/* The values are small whole numbers: their sums are exact in any order. */
static float element(size_t i)
{
	return (float)((uint32_t)i * 2654435761U >> 20);
}

static void fill(struct job *j)
{
	size_t i;

	for (i = 0; i < j->count; i++)
		j->send[i] = element(i) + (float)j->rank;
}

static uint32_t wrong_elements(const struct job *j)
{
	float ranks = (float)(j->nr * (j->nr - 1) / 2);
	uint32_t bad = 0;
	size_t i;

	for (i = 0; i < j->count; i++)
		bad += j->recv[i] != (float)j->nr * element(i) + ranks;
	return bad;
}

static bool by_tcp(const struct options *o)
{
	return o->kind == KIND_TCP || o->vs == KIND_TCP;
}

static int explain(struct job *j, enum kind kind, int err)
{
	const char *text = kind == KIND_TCP ? "" :
			   hcomm_comm_error_text(j->comm);

	fail("rank %u: %s: %s%s%s", j->rank, kind == KIND_TCP ? "tcp" :
	     "hcomm", hcomm_strerror(err), *text ? ": " : "", text);
	return err;
}

static int reduce(struct job *j, enum kind kind, const float *send,
		  float *recv, size_t count)
{
	if (kind == KIND_TCP)
		return tcp_all_reduce(j->tcp, send, recv, count);
	return hcomm_all_reduce(j->comm, send, recv, count, HCOMM_F32,
				HCOMM_SUM);
}

/* A number that rank 0 knows. */
static int tell(struct job *j, enum kind kind, uint32_t *val)
{
	float own = j->rank ? 0 : (float)*val, all;
	int err = reduce(j, kind, &own, &all, 1);

	if (!err)
		*val = (uint32_t)all;
	return err;
}

static int open_comm(struct job *j, const struct options *o)
{
	struct hcomm_comm_attr attr = HCOMM_COMM_ATTR_INIT;
	struct sockaddr_hcomm addrs[MAX_RANKS];
	uint32_t q, node;
	int err;

	if (!j->nodes)
		return hcomm_comm_create_env(&j->comm);
	for (q = 0; q < j->nr; q++) {
		err = node_number(j->nodes[q], &node);
		if (!err)
			err = hcomm_addr(&addrs[q], node, o->port + 1 + q);
		if (err)
			return err;
	}
	attr.rank = j->rank;
	attr.nranks = j->nr;
	attr.addrs = addrs;
	attr.job = j->id;
	return hcomm_comm_create(&attr, &j->comm);
}

static int open_job(struct job *j, const struct options *o)
{
	int err = 0;

	j->count = o->size / sizeof(float);
	j->send = allocate(j->count * sizeof(float));
	j->recv = allocate(j->count * sizeof(float));
	fill(j);
	/* Both the same way, unless the user wants another. */
	if (o->vs == KIND_TCP)
		setenv("HCOMM_ALGO", takes_one_step(j->count * sizeof(float)) ?
		       "all_reduce:oneshot" : "all_reduce:twoshot", 0);
	if (o->kind != KIND_TCP) {
		err = open_comm(j, o);
		if (err) {
			const char *text = hcomm_comm_error_text(NULL);

			fail("rank %u: %s%s%s", j->rank, hcomm_strerror(err),
			     *text ? ": " : "", text);
			return err;
		}
		j->rank = (uint32_t)hcomm_comm_rank(j->comm);
		j->nr = (uint32_t)hcomm_comm_size(j->comm);
	}
	if (by_tcp(o)) {
		err = tcp_ranks_new(&j->tcp, j->rank, j->nr, j->ip, o->bind,
				    o->port + 1, o->buffer);
		if (err)
			fail("rank %u: connecting by TCP: %s", j->rank,
			     strerror(-err));
	}
	return err;
}

static void close_job(struct job *j)
{
	tcp_ranks_free(j->tcp);
	hcomm_comm_destroy(j->comm);
	free(j->send);
	free(j->recv);
}

/* Rank 0 finds out how many rounds fill the time. */
static int rounds(struct job *j, const struct options *o, enum kind kind,
		  uint32_t *nr)
{
	double begin, per_round;
	uint32_t i;
	int err = 0;

	*nr = o->count;
	for (i = 0; i < WARM_ROUNDS && !err; i++)
		err = reduce(j, kind, j->send, j->recv, j->count);
	if (err || o->count)
		return err;
	begin = now();
	err = reduce(j, kind, j->send, j->recv, j->count);
	per_round = now() - begin;
	if (err)
		return err;
	*nr = (uint32_t)(o->ms / 1000.0 / (per_round > 1e-6 ? per_round :
					   1e-6));
	*nr = *nr < 3 ? 3 : *nr > 1000000 ? 1000000 : *nr;
	return tell(j, kind, nr);
}

/* What each rank says of itself at the end of a run. */
enum { SAY_ID, SAY_CPU = 4, SAY_MACHINE, SAY_WRONG, SAY_MAX };

static int gather(struct job *j, enum kind kind, const struct cpu *cpu,
		  uint32_t wrong, struct run *r)
{
	size_t n = (size_t)j->nr * SAY_MAX;
	float *own = allocate(n * sizeof(*own)), *all;
	uint64_t id = machine_id();
	uint32_t q, k;
	int i, err;

	all = allocate(n * sizeof(*all));
	for (i = 0; i < 4; i++)
		own[j->rank * SAY_MAX + SAY_ID + (uint32_t)i] =
			(float)(id >> 16 * i & 0xffff);
	own[j->rank * SAY_MAX + SAY_CPU] = (float)cpu->process;
	own[j->rank * SAY_MAX + SAY_MACHINE] = (float)cpu->machine;
	own[j->rank * SAY_MAX + SAY_WRONG] = (float)wrong;
	err = reduce(j, kind, own, all, n);
	for (q = 0; q < j->nr && !err; q++) {
		const float *v = all + q * SAY_MAX;

		r->cpu.process += (double)v[SAY_CPU];
		/* Each machine once. */
		for (k = 0; k < q; k++)
			if (!memcmp(all + k * SAY_MAX, v, 4 * sizeof(*v)))
				break;
		if (k == q)
			r->cpu.machine += (double)v[SAY_MACHINE];
		if (v[SAY_WRONG] > 0) {
			fail("rank %u: %.0f wrong elements", q,
			     (double)v[SAY_WRONG]);
			err = -EILSEQ;
		}
	}
	free(own);
	free(all);
	return err;
}

static int run(struct job *j, const struct options *o, enum kind kind,
	       struct samples *s, struct run *r)
{
	uint32_t nr, i, before = s->nr;
	struct cpu cpu;
	double t, last;
	int err;

	err = rounds(j, o, kind, &nr);
	if (err)
		return explain(j, kind, err);
	cpu = cpu_now();
	last = now();
	for (i = 0; i < nr && !err; i++) {
		err = reduce(j, kind, j->send, j->recv, j->count);
		t = now();
		samples_add(s, t - last);
		last = t;
	}
	cpu = cpu_since(&cpu);
	if (!err)
		err = gather(j, kind, &cpu, wrong_elements(j), r);
	if (err)
		return err == -EILSEQ ? err : explain(j, kind, err);
	r->value = samples_quantile(s, before, 0.5);
	r->messages = nr;
	r->bytes = (double)nr * (double)(j->count * sizeof(float));
	return 0;
}

static int all_runs(struct job *j, const struct options *o, struct side *a,
		    struct side *b)
{
	uint32_t i;
	int err;

	err = open_job(j, o);
	for (i = 0; i < o->pairs && !err; i++) {
		err = run(j, o, o->kind, &a->all, &a->run[i]);
		if (!err && o->vs != KIND_NONE)
			err = run(j, o, o->vs, &b->all, &b->run[i]);
	}
	close_job(j);
	return err;
}

static struct side blank_side(const struct options *o)
{
	struct side s = { .run = allocate(o->pairs * sizeof(*s.run)) };

	return s;
}

/* A rank whose results nobody looks at. */
static int follow(struct job *j, const struct options *o)
{
	struct side a = blank_side(o), b = blank_side(o);
	int err = all_runs(j, o, &a, &b);

	free(a.run);
	free(a.all.us);
	free(b.run);
	free(b.all.us);
	return err;
}

/* @text: "NODE,NODE,... IP,IP,... JOB", a part that is not there is "-" */
int ranks_serve(const struct options *o, uint32_t rank, char *text)
{
	char *nodes = strsep(&text, " "), *ips = strsep(&text, " ");
	struct job j = { .rank = rank };
	struct options own = *o;
	uint32_t nr_ip, q;
	int err = 0;

	if (!ips || !text)
		return -EPROTO;
	j.id = strtoull(text, NULL, 16);
	j.ip = cut(ips, &nr_ip);
	j.nodes = cut(nodes, &j.nr);
	if (j.nr < 2 || j.nr > MAX_RANKS || !rank || rank >= j.nr ||
	    (o->kind != KIND_SEQPACKET && o->kind != KIND_TCP) ||
	    (o->vs != KIND_TCP && o->vs != KIND_NONE) ||
	    (by_tcp(o) && nr_ip != j.nr - 1) || !o->port ||
	    o->port >= 65535 - MAX_RANKS)
		err = -EPROTO;
	for (q = 0; by_tcp(o) && !err && q < nr_ip; q++)
		err = ip_check(j.ip[q]);
	if (!err)
		err = follow(&j, &own);
	free(j.nodes);
	free(j.ip);
	return err;
}

/* Asks the servers to be ranks 1 and up. */
static int ask(const struct options *o, struct job *j, const char *text,
	       int *ctl)
{
	uint32_t req[REQ_MAX] = {
		[REQ_MAGIC] = MAGIC, [REQ_TEST] = o->test,
		[REQ_KIND] = o->kind, [REQ_SIZE] = o->size,
		[REQ_COUNT] = o->count, [REQ_MS] = o->ms,
		[REQ_BUFFER] = o->buffer, [REQ_PAIRS] = o->pairs,
		[REQ_VS] = o->vs, [REQ_PORT] = o->port,
		[REQ_TEXT] = (uint32_t)strlen(text) + 1,
	};
	uint32_t ready[READY_MAX], node = 0, q;
	int err;

	for (q = 1; q < j->nr; q++) {
		if (is_hcomm(o->kind))
			node_number(j->nodes[q], &node);
		ctl[q] = client_connect(o, o->kind, node, is_hcomm(o->kind) ?
					NULL : j->ip[q - 1]);
		if (ctl[q] < 0)
			return EXIT_FAILED;
		req[REQ_RANK] = q;
		err = ctl_send(ctl[q], req, REQ_MAX);
		if (!err)
			err = ctl_send_text(ctl[q], text, req[REQ_TEXT]);
		if (!err)
			err = ctl_recv(ctl[q], ready, READY_MAX);
		if (!err)
			err = -(int)ready[READY_ERROR];
		if (err)
			return fail("server of rank %u: %s", q,
				    strerror(-err));
	}
	return 0;
}

static int results(const struct job *j, const int *ctl)
{
	uint32_t res[RES_MAX], q;
	int err, status = 0;

	for (q = 1; q < j->nr; q++) {
		err = ctl_recv(ctl[q], res, RES_MAX);
		if (!err)
			err = -(int)res[RES_ERROR];
		if (err)
			status = fail("server of rank %u: %s", q,
				      strerror(-err));
	}
	return status;
}

static uint64_t new_id(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec << 30 ^ (uint64_t)t.tv_nsec ^
	       (uint64_t)getpid() << 40;
}

/* Addresses of ranks 1 and up; 0 or a status. */
static int split_peers(const struct options *o, struct job *j, char *peers)
{
	uint32_t nr = 0;

	if (!by_tcp(o))
		return 0;
	j->ip = cut(peers, &nr);
	if (!j->nr)
		j->nr = nr + 1;
	if (nr == j->nr - 1)
		return 0;
	fail("--peer needs the addresses of ranks 1 to %u, it has %u",
	     j->nr - 1, nr);
	return EXIT_USAGE;
}

static char *copy(const char *text)
{
	char *p = allocate(strlen(text ? text : "") + 1);

	return strcpy(p, text ? text : "");
}

static int client_job(const struct options *o, struct job *j, char *nodes,
		      char *peers, char *text)
{
	uint32_t self = 0;
	int err;

	if (is_hcomm(o->kind)) {
		err = hcomm_node(&self);
		if (err == -EAFNOSUPPORT)
			return fail("hcomm module not loaded? There is no address family");
		if (err || !self)
			return fail("this node has no number: %s",
				    err ? strerror(-err) : "not set");
		snprintf(nodes, MAX_TEXT, "%u,%s", self, o->nodes);
		snprintf(text, MAX_TEXT, "%s %s %llx", nodes,
			 by_tcp(o) ? o->peers : "-",
			 (unsigned long long)j->id);
		j->nodes = cut(nodes, &j->nr);
	}
	err = split_peers(o, j, peers);
	if (err || is_hcomm(o->kind))
		return err;
	/* One word for each rank, as there are no nodes. */
	memset(nodes, 0, MAX_TEXT);
	while (strlen(nodes) + 1 < 2 * j->nr)
		strcat(nodes, *nodes ? ",-" : "-");
	snprintf(text, MAX_TEXT, "%s %s %llx", nodes, o->peers,
		 (unsigned long long)j->id);
	return 0;
}

int ranks_client(const struct options *o, struct side *a, struct side *b)
{
	char *peers = copy(o->peers), *text = allocate(MAX_TEXT);
	char *nodes = allocate(MAX_TEXT);
	struct job j = { .id = new_id() };
	int ctl[MAX_RANKS], err;
	uint32_t q;

	err = client_job(o, &j, nodes, peers, text);
	if (!err && j.nr > MAX_RANKS) {
		fail("more than %u ranks", MAX_RANKS);
		err = EXIT_USAGE;
	}
	for (q = 0; q < MAX_RANKS; q++)
		ctl[q] = -1;
	if (!err)
		err = ask(o, &j, text, ctl);
	if (!err && all_runs(&j, o, a, b))
		err = EXIT_FAILED;
	if (!err)
		err = results(&j, ctl);
	for (q = 0; q < MAX_RANKS; q++)
		if (ctl[q] >= 0)
			close(ctl[q]);
	free(j.nodes);
	free(j.ip);
	free(nodes);
	free(text);
	free(peers);
	return err;
}

/* A rank of hcomm_run. */
int ranks_env(const struct options *o, struct side *a, struct side *b)
{
	const char *rank = getenv("HCOMM_RANK"), *size = getenv("HCOMM_SIZE");
	char *peers = copy(o->peers);
	struct job j = { 0 };
	int err;

	j.rank = (uint32_t)strtoul(rank, NULL, 10);
	j.nr = size ? (uint32_t)strtoul(size, NULL, 10) : 0;
	if (!j.nr || j.nr > MAX_RANKS || j.rank >= j.nr) {
		fail("HCOMM_RANK and HCOMM_SIZE: rank %u of %u", j.rank, j.nr);
		free(peers);
		return EXIT_USAGE;
	}
	err = split_peers(o, &j, peers);
	if (!err && all_runs(&j, o, a, b))
		err = EXIT_FAILED;
	free(j.ip);
	free(peers);
	return err;
}
