// SPDX-License-Identifier: GPL-2.0
/*
 * The whole surface of system calls: each call of a table is made on sockets
 * of each type in each state they can have, and must give what the table says.
 *
 * surface [-n NODE] [-c CALL] [-x CALL] [-s STATE] [-q] [-v] TABLE, on node 1;
 * NODE is where the other ends are (2). -c: only calls that begin so; -x: all
 * but these; -q: where the state makes no difference, only some states. The
 * nodes are network namespaces hn1 and hn2 of one guest.
 */
#include "surface.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ROWS = 4096, MAX_CALLS = 512, HUNG_S = 6, TRIES = 5, SOME = 6 };

/* What the table says of some calls, types and states. */
struct row {
	int first, last;	/* calls */
	char *types, *states, *result;
};

unsigned int family = AF_HCOMM;
uint32_t own_node = 1, peer_node = 2;
_Atomic bool hung;

static struct row rows[MAX_ROWS];
static char *calls[MAX_CALLS];
static char *groups[64][2];
static int nr_rows, nr_calls, nr_groups;
static pthread_t main_thread;
static _Atomic time_t cell_began;

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("surface: ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	exit(1);
}

bool is(const char *a, const char *b)
{
	return !strcmp(a, b);
}

/* A result as the table writes it: a number, or the name of an error. */
void put(struct cell *c, long result)
{
	if (result < 0)
		snprintf(c->got, sizeof(c->got), "%s", strerrorname_np(errno));
	else
		snprintf(c->got, sizeof(c->got), "%ld", result);
}

void put_text(struct cell *c, const char *text)
{
	snprintf(c->got, sizeof(c->got), "%s", text);
}

void *bad_address(void)
{
	return (void *)16;
}

/* Memory of which only the first half can be read; never given back. */
void *half_readable(size_t len)
{
	static char *area;
	const size_t half = 1 << 20;

	if (!area) {
		area = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (area == MAP_FAILED || mprotect(area + half, half, 0))
			die("mmap: %s", strerror(errno));
	}
	return area + half - len / 2;
}

/* One of a list a,b,c; a * is all, conn the types with connections. */
static bool has(const char *list, const char *name)
{
	size_t n = strlen(name);
	const char *p;
	int i;

	if (is(list, "*") || (is(list, "conn") && !is(name, "rdm")))
		return true;
	for (p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		if (!strncmp(p, name, n) && (!p[n] || p[n] == ','))
			return true;
		for (i = 0; i < nr_groups; i++) {
			size_t g = strlen(groups[i][0]);

			if (!strncmp(p, groups[i][0], g) &&
			    (!p[g] || p[g] == ',') && has(groups[i][1], name))
				return true;
		}
	}
	return false;
}

static const char space[] = " \t\n";

static void read_row(char *line, const char *path, int number, int first)
{
	struct row *r = &rows[nr_rows++];
	char *save = NULL, *end;

	r->types = strtok_r(line, space, &save);
	r->states = strtok_r(NULL, space, &save);
	r->result = strtok_r(NULL, space, &save);
	end = strtok_r(NULL, space, &save);
	if (!r->result || end || nr_rows == MAX_ROWS || first == nr_calls)
		die("%s:%d: a row is TYPES STATES RESULT, after calls", path,
		    number);
	r->types = strdup(r->types);
	r->states = strdup(r->states);
	r->result = strdup(r->result);
	r->first = first;
	r->last = nr_calls;
}

/*
 * Lines that begin with a name are calls, CALL or CALL:ARGUMENT; the rows that
 * follow, which are indented, hold for all calls since the last row.
 */
static void read_table(const char *path)
{
	FILE *f = fopen(path, "r");
	int number = 0, first = 0;
	bool in_rows = false;
	char line[512], *p;

	if (!f)
		die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		number++;
		line[strcspn(line, "#")] = 0;
		if (!line[strspn(line, space)])
			continue;
		if (isspace((unsigned char)*line)) {
			read_row(line, path, number, first);
			in_rows = true;
			continue;
		}
		p = strtok(line, space);
		if (is(p, "group")) {
			groups[nr_groups][0] = strdup(strtok(NULL, space));
			groups[nr_groups++][1] = strdup(strtok(NULL, space));
			continue;
		}
		if (in_rows)
			first = nr_calls;
		in_rows = false;
		for (; p; p = strtok(NULL, space))
			calls[nr_calls++] = strdup(p);
	}
	fclose(f);
}

static const char *expected(int call, const char *type, const char *state)
{
	int i;

	/* The last row that fits holds. */
	for (i = nr_rows - 1; i >= 0; i--)
		if (call >= rows[i].first && call < rows[i].last &&
		    has(rows[i].types, type) && has(rows[i].states, state))
			return rows[i].result;
	return NULL;
}

/* Whether the state makes a difference. */
static bool depends(int call, const char *type, const char *const *states)
{
	const char *first = expected(call, type, states[0]), *other;
	size_t i;

	for (i = 1; states[i]; i++) {
		other = expected(call, type, states[i]);
		if (!first || !other || !is(first, other))
			return true;
	}
	return false;
}

static call_fn *find_call(const char *name)
{
	static const struct call *const all[] = {
		addr_calls, io_calls, opt_calls, wait_calls,
	};
	size_t n = strcspn(name, ":"), i;
	const struct call *c;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (c = all[i]; c->name; c++)
			if (strlen(c->name) == n && !strncmp(c->name, name, n))
				return c->fn;
	die("the table has a call '%s' that is not known", name);
}

/* Results that are as good as one another stand side by side: A/B. */
static bool agrees(const char *want, const char *got)
{
	size_t n = strlen(got);
	const char *p;

	for (p = want; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL)
		if (!strncmp(p, got, n) && (!p[n] || p[n] == '/'))
			return true;
	return false;
}

static void end_call(int sig)
{
	(void)sig;
}

static time_t seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/* Ends calls that do not return. */
static void *watch(void *arg)
{
	(void)arg;
	for (;;) {
		usleep(200000);
		if (cell_began && seconds() - cell_began > HUNG_S) {
			hung = true;
			pthread_kill(main_thread, SIGUSR1);
		}
	}
	return NULL;
}

static void start_watch(void)
{
	struct sigaction sa = { .sa_handler = end_call };
	pthread_t t;
	sigset_t set;

	main_thread = pthread_self();
	sigaction(SIGUSR1, &sa, NULL);
	/* Signals are for the thread that makes the calls. */
	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&t, NULL, watch, NULL))
		die("pthread_create");
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static bool run_cell(struct cell *c, call_fn *fn)
{
	int tries = 0;

	c->got[0] = 0;
	hung = false;
	cell_began = seconds();
	/* Not every state that passes by is caught the first time. */
	while (!make_state(c) && ++tries < TRIES)
		end_state(c);
	if (tries < TRIES)
		fn(c);
	else
		put_text(c, "the state cannot be made");
	if (hung)
		put_text(c, "does not return");
	end_state(c);
	cell_began = 0;
	return agrees(c->expected, c->got);
}

static void read_family(void)
{
	FILE *f = fopen("/sys/module/hcomm/parameters/family", "r");

	if (!f || fscanf(f, "%u", &family) != 1) {
		printf("SKIP: module hcomm is not loaded\n");
		exit(77);
	}
	fclose(f);
}

int main(int argc, char **argv)
{
	static const struct { int type; const char *name; } types[] = {
		{ SOCK_SEQPACKET, "seqpacket" }, { SOCK_STREAM, "stream" },
		{ SOCK_RDM, "rdm" },
	};
	const char *only_call = NULL, *only_state = NULL, *not_call = NULL;
	int opt, i, cells = 0, failed = 0;
	bool verbose = false, quick = false;
	size_t t, s;

	while ((opt = getopt(argc, argv, "n:c:x:s:qv")) != -1) {
		if (opt == 'n')
			peer_node = strtoul(optarg, NULL, 0);
		else if (opt == 'c')
			only_call = optarg;
		else if (opt == 'x')
			not_call = optarg;
		else if (opt == 'q')
			quick = true;
		else if (opt == 's')
			only_state = optarg;
		else if (opt == 'v')
			verbose = true;
		else
			return 1;
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "Usage: surface [-n NODE] [-c CALL] [-x CALL] [-s STATE] [-q] [-v] TABLE\n");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	read_family();
	read_table(argv[optind]);
	start_watch();
	prepare_states();
	for (i = 0; i < nr_calls; i++) {
		call_fn *fn = find_call(calls[i]);
		const char *colon = strchr(calls[i], ':');

		if (only_call && strncmp(calls[i], only_call,
					 strlen(only_call)))
			continue;
		if (not_call && !strncmp(calls[i], not_call, strlen(not_call)))
			continue;
		for (t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
			const char *const *states =
				state_names[types[t].type == SOCK_RDM];
			bool some = quick && !depends(i, types[t].name, states);

			for (s = 0; states[s]; s++) {
				struct cell c = {
					.type = types[t].type,
					.type_name = types[t].name,
					.state = states[s], .call = calls[i],
					.arg = colon ? colon + 1 : "",
				};
				bool ok;

				if (only_state && !is(only_state, c.state))
					continue;
				if (some && (i + s) % SOME)
					continue;
				c.expected = expected(i, c.type_name, c.state);
				if (c.expected && is(c.expected, "-"))
					continue;
				cells++;
				if (!c.expected)
					c.expected = "(not in the table)";
				ok = run_cell(&c, fn);
				failed += !ok;
				if (ok && !verbose)
					continue;
				printf("%s: %s, %s, %s: expected %s, got %s\n",
				       ok ? "ok" : "FAIL", c.call, c.type_name,
				       c.state, c.expected, c.got);
			}
		}
	}
	printf("%d cells, %d failed\n", cells, failed);
	return failed || !cells;
}
