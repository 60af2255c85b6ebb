// SPDX-License-Identifier: GPL-2.0
/* hcomm_perf: how fast hcomm is, beside TCP or UDP. */
#include "perf.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

static const char usage[] =
	"Usage: hcomm_perf server [ -p PORT ] [ -B ADDR ] [ -1 ]\n"
	"       hcomm_perf lat NODE [ OPTIONS ]         round trips\n"
	"       hcomm_perf bw NODE [ OPTIONS ]          throughput one way\n"
	"       hcomm_perf allreduce NODE,... [ OPTIONS ]\n"
	"  -k, --socket TYPE   seqpacket (default), stream, rdm, or tcp, udp without\n"
	"                      the module and without NODE\n"
	"  -v, --vs TYPE       the same over tcp or udp, in turn\n"
	"  -P, --peer ADDR     IP address of the server, for tcp and udp; allreduce:\n"
	"                      one for each NODE, with commas\n"
	"  -s, --size BYTES    of a message (lat 64, bw 64K) or a buffer (8M)\n"
	"  -t, --time SECONDS  of a run (1)\n"
	"  -c, --count N       round trips, messages or rounds of a run instead\n"
	"  -n, --pairs N       runs of each (5)\n"
	"  -w, --warmup SEC    of each run that is not measured (0.2)\n"
	"  -b, --buffer BYTES  send and receive buffers of all sockets\n"
	"  -p, --port PORT     of the server (5300)\n"
	"  -B, --bind ADDR     own IP address\n"
	"  -1, --once          the server ends after one client\n"
	"  -j, --json          JSON\n"
	"  -V, --version  -h, --help\n";

static int wrong(const char *fmt, const char *a, const char *b)
{
	fputs("Error: ", stderr);
	fprintf(stderr, fmt, a, b);
	fputs(".\n", stderr);
	return EXIT_USAGE;
}

/* A whole number with a unit of @step. */
static int number(const char *what, const char *text, const char *units,
		  uint32_t step, uint32_t min, uint32_t max, uint32_t *val)
{
	unsigned long long v;
	const char *u;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || errno)
		return wrong("%s: \"%s\" is not a number", what, text);
	if (*end) {
		u = strchr(units, *end);
		if (!u || end[1])
			return wrong("%s: \"%s\" has an unknown unit", what,
				     text);
		for (; u >= units && v <= UINT32_MAX; u--)
			v *= step;
	}
	if (v < min || v > max) {
		fprintf(stderr, "Error: %s: %s is not in the range %u to %u.\n",
			what, text, min, max);
		return EXIT_USAGE;
	}
	*val = (uint32_t)v;
	return 0;
}

static int seconds(const char *what, const char *text, double min,
		   uint32_t *ms)
{
	char *end;
	double v = strtod(text, &end);

	if (!*text || *end || !(v >= min && v <= MAX_MS / 1000.0)) {
		fprintf(stderr, "Error: %s: \"%s\" is not %g to %u seconds.\n",
			what, text, min, MAX_MS / 1000);
		return EXIT_USAGE;
	}
	*ms = (uint32_t)lround(v * 1000);
	return 0;
}

static int kind_of(const char *what, const char *text, enum kind first,
		   enum kind *kind)
{
	for (*kind = first; *kind < KIND_NONE; (*kind)++)
		if (!strcmp(text, kind_names[*kind]))
			return 0;
	return wrong(first ? "%s: \"%s\" is neither tcp nor udp" :
		     "%s: \"%s\" is none of seqpacket, stream, rdm, tcp, udp",
		     what, text);
}

static int option(int c, struct options *o)
{
	switch (c) {
	case 'k':
		return kind_of("socket", optarg, KIND_SEQPACKET, &o->kind);
	case 'v':
		return kind_of("vs", optarg, KIND_TCP, &o->vs);
	case 'P':
		o->peers = optarg;
		return 0;
	case 's':
		return number("size", optarg, "KMG", 1024, 1, MAX_SIZE,
			      &o->size);
	case 't':
		return seconds("time", optarg, 0.01, &o->ms);
	case 'c':
		return number("count", optarg, "", 1, 1, UINT32_MAX,
			      &o->count);
	case 'n':
		return number("pairs", optarg, "", 1, 1, MAX_PAIRS, &o->pairs);
	case 'w':
		return seconds("warmup", optarg, 0, &o->warm_ms);
	case 'b':
		return number("buffer", optarg, "KMG", 1024, 1, INT32_MAX,
			      &o->buffer);
	case 'p':
		return number("port", optarg, "", 1, 1, 65000, &o->port);
	case 'B':
		o->bind = optarg;
		if (ip_check(optarg))
			return wrong("bind: \"%s\" is not an IP address%s",
				     optarg, "");
		return 0;
	case '1':
		o->once = true;
		return 0;
	case 'j':
		out_mode.json = true;
		return 0;
	}
	fputs(usage, stderr);
	return EXIT_USAGE;
}

static int options(int argc, char **argv, struct options *o)
{
	static const struct option names[] = {
		{ "socket", 1, NULL, 'k' }, { "vs", 1, NULL, 'v' },
		{ "peer", 1, NULL, 'P' }, { "size", 1, NULL, 's' },
		{ "time", 1, NULL, 't' }, { "count", 1, NULL, 'c' },
		{ "pairs", 1, NULL, 'n' }, { "warmup", 1, NULL, 'w' },
		{ "buffer", 1, NULL, 'b' }, { "port", 1, NULL, 'p' },
		{ "bind", 1, NULL, 'B' }, { "once", 0, NULL, '1' },
		{ "json", 0, NULL, 'j' }, { "version", 0, NULL, 'V' },
		{ "help", 0, NULL, 'h' }, {}
	};
	int c, err = 0;

	while (!err && (c = getopt_long(argc, argv, "k:v:P:s:t:c:n:w:b:p:B:1jVh",
					names, NULL)) != -1) {
		if (c == 'V') {
			printf("hcomm_perf, version %s\n", VERSION);
			exit(EXIT_OK);
		}
		if (c == 'h') {
			fputs(usage, stdout);
			exit(EXIT_OK);
		}
		err = option(c, o);
	}
	return err;
}

static int check_peers(const struct options *o)
{
	char addr[256];
	const char *p, *end;

	if (!o->peers)
		return wrong("%s needs --peer%s", kind_names[o->vs == KIND_NONE ?
			     o->kind : o->vs], "");
	if (strlen(o->peers) > MAX_TEXT / 2)
		return wrong("--peer is too long%s%s", "", "");
	for (p = o->peers;; p = end + 1) {
		end = strchrnul(p, ',');
		if (*end && o->test != TEST_ALLREDUCE)
			return wrong("peer: \"%s\" is more than one address%s",
				     o->peers, "");
		snprintf(addr, sizeof(addr), "%.*s", (int)(end - p), p);
		if (ip_check(addr))
			return wrong("peer: \"%s\" is not an IP address%s",
				     addr, "");
		if (!*end)
			return 0;
	}
}

static int check_nodes(struct options *o)
{
	const char *p, *end;
	char node[16];

	if (strlen(o->nodes) > MAX_TEXT / 4)
		return wrong("too many nodes%s%s", "", "");
	for (p = o->nodes;; p = end + 1) {
		end = strchrnul(p, ',');
		if (*end && o->test != TEST_ALLREDUCE)
			return wrong("\"%s\" is more than one node%s",
				     o->nodes, "");
		snprintf(node, sizeof(node), "%.*s", (int)(end - p), p);
		if (number("node", node, "", 1, 1, UINT32_MAX, &o->node))
			return EXIT_USAGE;
		if (!*end)
			return 0;
	}
}

static int check(struct options *o, bool env)
{
	bool ip = !is_hcomm(o->kind) || o->vs != KIND_NONE;
	bool all = o->test == TEST_ALLREDUCE;

	if (!o->size)
		o->size = o->test == TEST_LAT ? 64 : all ? 8 << 20 : 64 << 10;
	if (all && (o->kind == KIND_UDP || o->vs == KIND_UDP))
		return wrong("allreduce is not there over %s%s", "udp", "");
	if (all && o->kind != KIND_SEQPACKET && o->kind != KIND_TCP)
		return wrong("allreduce is not there over %s%s",
			     kind_names[o->kind], "");
	if (o->kind == o->vs)
		return wrong("%s beside itself says nothing%s",
			     kind_names[o->kind], "");
	if (all && (o->size % sizeof(float) || o->size < sizeof(float)))
		return wrong("size: it must be a multiple of 4%s%s", "", "");
	if (!all && o->size > MAX_MSG)
		return wrong("size: a message has 16M at most%s%s", "", "");
	if (is_hcomm(o->kind) && !o->nodes && !env)
		return wrong("NODE is missing%s%s", "", "");
	if (!is_hcomm(o->kind) && o->nodes)
		return wrong("\"%s\" is not expected here: %s has no nodes",
			     o->nodes, kind_names[o->kind]);
	if (o->nodes && check_nodes(o))
		return EXIT_USAGE;
	return ip ? check_peers(o) : 0;
}

static uint32_t size_over(const struct options *o, enum kind kind)
{
	if (kind != KIND_UDP || o->size <= MAX_UDP)
		return o->size;
	fprintf(stderr, "Warning: a UDP datagram has %u bytes at most; that is the size over udp.\n",
		MAX_UDP);
	return MAX_UDP;
}

static int measure(struct options *o, bool env)
{
	struct side a = { .kind = o->kind }, b = { .kind = o->vs };
	const char *rank = getenv("HCOMM_RANK");
	bool quiet = env && rank && strcmp(rank, "0");
	uint32_t i;
	int err = 0;

	a.run = allocate(o->pairs * sizeof(*a.run));
	b.run = allocate(o->pairs * sizeof(*b.run));
	a.size = size_over(o, o->kind);
	b.size = size_over(o, o->vs);
	if (o->test == TEST_ALLREDUCE) {
		err = env ? ranks_env(o, &a, &b) : ranks_client(o, &a, &b);
	} else {
		for (i = 0; i < o->pairs && !err; i++) {
			err = client_run(o, a.kind, a.size, &a.all, &a.run[i]);
			if (!err && o->vs != KIND_NONE)
				err = client_run(o, b.kind, b.size, &b.all,
						 &b.run[i]);
		}
	}
	if (!err && !quiet)
		report(o, &a, o->vs == KIND_NONE ? NULL : &b);
	free(a.run);
	free(a.all.us);
	free(b.run);
	free(b.all.us);
	return err;
}

int main(int argc, char **argv)
{
	static const char *const words[] = {
		[TEST_LAT] = "lat", [TEST_BW] = "bw",
		[TEST_ALLREDUCE] = "allreduce", "server"
	};
	struct options o = {
		.kind = KIND_SEQPACKET, .vs = KIND_NONE, .ms = 1000,
		.warm_ms = 200, .pairs = 5, .port = DEFAULT_PORT,
	};
	unsigned int word;
	bool env;
	int err;

	err = options(argc, argv, &o);
	if (err)
		return err;
	if (optind == argc) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	for (word = 0; strcmp(argv[optind], words[word]); )
		if (++word == sizeof(words) / sizeof(words[0]))
			return wrong("\"%s\" is none of lat, bw, allreduce, server%s",
				     argv[optind], "");
	optind++;
	if (word <= TEST_ALLREDUCE && optind < argc)
		o.nodes = argv[optind++];
	if (optind < argc)
		return wrong("\"%s\" is not expected here%s", argv[optind], "");
	if (word > TEST_ALLREDUCE)
		return serve(&o);
	o.test = word;
	env = o.test == TEST_ALLREDUCE && !o.nodes && getenv("HCOMM_RANK");
	err = check(&o, env);
	if (!err)
		err = measure(&o, env);
	if (out_flush() && !err)
		err = fail("cannot write: %s", strerror(errno));
	return err;
}
