// SPDX-License-Identifier: GPL-2.0
/*
 * hcomm_run: start the ranks of a job, on this node or others.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hcomm/hcomm.h>

#define RANKS_MAX	16384
#define GRACE_MS	3000	/* between SIGTERM and SIGKILL */
#define STATUS_USAGE	1
#define STATUS_TIMEOUT	124
#define STATUS_EXEC	127

struct rank {
	pid_t pid;		/* 0: has ended */
	uint32_t node;
	int out[2];		/* pipes from stdout and stderr, -1: none */
	char *line[2];		/* what has come of a line without its end */
	size_t len[2];
	bool skip[2];		/* the rest of a line that was too long */
};

#define LINE_MAX_LEN	8192

static struct {
	uint32_t n;
	uint32_t port;
	int64_t timeout_ms;
	bool label;
	bool verbose;
	bool keep_going;
	const char *launch;
	char **argv;
	uint32_t here;		/* this node */
} opt = { .port = 20000 };

static struct rank *ranks;
static uint32_t alive;
static int status;		/* of the first that failed */
static int64_t kill_at;		/* SIGKILL then; 0: not ending */

static void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

static void die(const char *fmt, ...)
{
	va_list ap;

	fputs("hcomm_run: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(STATUS_USAGE);
}

static void *need(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static bool number(const char *s, const char *end, uint32_t min, uint32_t max, uint32_t *value)
{
	uint64_t v = 0;

	if (s == end)
		return false;
	for (; s < end; s++) {
		if (!isdigit((unsigned char)*s) || v > max)
			return false;
		v = v * 10 + (uint64_t)(*s - '0');
	}
	*value = (uint32_t)v;
	return v >= min && v <= max;
}

static uint32_t number_arg(const char *name, const char *s, uint32_t min, uint32_t max)
{
	uint32_t v;

	if (!number(s, s + strlen(s), min, max, &v))
		die("%s: \"%s\" is not a number from %u to %u", name, s, min, max);
	return v;
}

/*
 * "node[:count],...": ranks in that order, @each places where no count is
 * given. Round again from the start if there are more ranks than places.
 */
static void place_ranks(const char *name, const char *list, bool counts)
{
	uint32_t *nodes = NULL, *count = NULL, len = 0, i, k, r;
	const char *s = list;

	for (;;) {
		const char *end = s + strcspn(s, ",");
		const char *colon = counts ? memchr(s, ':', (size_t)(end - s)) : NULL;

		nodes = need(realloc(nodes, (len + 1) * sizeof(*nodes)));
		count = need(realloc(count, (len + 1) * sizeof(*count)));
		count[len] = 1;
		if (!number(s, colon ? colon : end, 1, UINT32_MAX, &nodes[len]) ||
		    (colon && !number(colon + 1, end, 1, RANKS_MAX, &count[len])))
			die("%s: \"%.*s\" is not NODE%s", name, (int)(end - s), s,
			    counts ? "[:COUNT]" : "");
		len++;
		if (!*end)
			break;
		s = end + 1;
	}
	for (i = 0, k = 0, r = 0; r < opt.n; r++) {
		ranks[r].node = nodes[i];
		if (++k == count[i]) {
			k = 0;
			i = (i + 1) % len;
		}
	}
	free(nodes);
	free(count);
}

/* A growing string. */
struct text {
	char *s;
	size_t len;
};

static void add(struct text *t, const char *s, size_t n)
{
	t->s = need(realloc(t->s, t->len + n + 1));
	memcpy(t->s + t->len, s, n);
	t->len += n;
	t->s[t->len] = '\0';
}

static void add_quoted(struct text *t, const char *s)
{
	add(t, "'", 1);
	for (; *s; s++) {
		if (*s == '\'')
			add(t, "'\\''", 4);
		else
			add(t, s, 1);
	}
	add(t, "'", 1);
}

struct args {
	char **v;
	size_t n;
};

static void push(struct args *a, char *s)
{
	a->v = need(realloc(a->v, (a->n + 2) * sizeof(*a->v)));
	a->v[a->n++] = s;
	a->v[a->n] = NULL;
}

/*
 * The launch command for a rank on another node, cut at spaces. %n is the
 * node, %r the rank, %c the whole command as one word that a shell reads back
 * (for ssh); without %c the command follows as words of its own.
 */
static void launch_args(struct args *a, uint32_t rank, const struct args *command)
{
	bool whole = false;
	char number_text[16];
	const char *s = opt.launch;
	size_t i;

	while (*s) {
		struct text word = { 0 };

		while (*s == ' ' || *s == '\t')
			s++;
		if (!*s)
			break;
		add(&word, "", 0);
		for (; *s && *s != ' ' && *s != '\t'; s++) {
			if (*s != '%' || !s[1]) {
				add(&word, s, 1);
				continue;
			}
			s++;
			if (*s == 'n' || *s == 'r') {
				snprintf(number_text, sizeof(number_text), "%u",
					 *s == 'n' ? ranks[rank].node : rank);
				add(&word, number_text, strlen(number_text));
			} else if (*s == 'c') {
				for (i = 0; i < command->n; i++) {
					if (i)
						add(&word, " ", 1);
					add_quoted(&word, command->v[i]);
				}
				whole = true;
			} else if (*s == '%') {
				add(&word, "%", 1);
			} else {
				die("--launch: %%%c is unknown; there are %%n, %%r, %%c and %%%%", *s);
			}
		}
		push(a, word.s);
	}
	if (!a->n)
		die("--launch: the command is empty");
	for (i = 0; !whole && i < command->n; i++)
		push(a, command->v[i]);
}

static char *setting(const char *name, const char *value)
{
	char *s = need(malloc(strlen(name) + strlen(value) + 2));

	sprintf(s, "%s=%s", name, value);
	return s;
}

/* What a rank on another node gets of our environment besides its own. */
static bool passes_on(const char *var)
{
	static const char *const own[] = { "HCOMM_RANK=", "HCOMM_SIZE=", "HCOMM_ADDRS=" };
	size_t i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strncmp(var, own[i], strlen(own[i])))
			return false;
	return !strncmp(var, "HCOMM_", 6) || !strncmp(var, "LD_LIBRARY_PATH=", 16);
}

extern char **environ;

static void child(uint32_t r, const char *addrs, int out, int err, const sigset_t *mask)
{
	char rank_text[16], size_text[16];
	struct args command = { 0 }, args = { 0 };
	int null;

	/* If we are killed, so are they. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, mask, NULL);
	null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, 0) < 0 || (out >= 0 && (dup2(out, 1) < 0 || dup2(err, 2) < 0)))
		_exit(STATUS_EXEC);
	/* Nothing that was left open here, by us or by our parent. */
	closefrom(3);

	snprintf(rank_text, sizeof(rank_text), "%u", r);
	snprintf(size_text, sizeof(size_text), "%u", opt.n);
	if (ranks[r].node == opt.here) {
		setenv("HCOMM_RANK", rank_text, 1);
		setenv("HCOMM_SIZE", size_text, 1);
		setenv("HCOMM_ADDRS", addrs, 1);
		execvp(opt.argv[0], opt.argv);
		fprintf(stderr, "hcomm_run: %s: %s\n", opt.argv[0], strerror(errno));
		_exit(STATUS_EXEC);
	}
	/* A launcher may pass on no environment: the command brings it along. */
	push(&command, (char *)"env");
	for (char **e = environ; *e; e++)
		if (passes_on(*e))
			push(&command, *e);
	push(&command, setting("HCOMM_RANK", rank_text));
	push(&command, setting("HCOMM_SIZE", size_text));
	push(&command, setting("HCOMM_ADDRS", addrs));
	for (char **v = opt.argv; *v; v++)
		push(&command, *v);
	launch_args(&args, r, &command);
	execvp(args.v[0], args.v);
	fprintf(stderr, "hcomm_run: %s: %s\n", args.v[0], strerror(errno));
	_exit(STATUS_EXEC);
}

static void start(uint32_t r, const char *addrs, const sigset_t *mask)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 };
	struct rank *k = &ranks[r];

	if (opt.label && (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)))
		die("pipe: %s", strerror(errno));
	fflush(NULL);
	k->pid = fork();
	if (k->pid < 0)
		die("fork: %s", strerror(errno));
	if (!k->pid)
		child(r, addrs, out[1], err[1], mask);
	/* Both do it: whoever comes first, it is done before it is needed. */
	setpgid(k->pid, k->pid);
	alive++;
	k->out[0] = out[0];
	k->out[1] = err[0];
	if (opt.label) {
		close(out[1]);
		close(err[1]);
		fcntl(out[0], F_SETFL, O_NONBLOCK);
		fcntl(err[0], F_SETFL, O_NONBLOCK);
	}
	if (opt.verbose)
		fprintf(stderr, "hcomm_run: rank %u on node %u is process %d\n", r, k->node, (int)k->pid);
}

static void signal_all(int sig)
{
	uint32_t r;

	for (r = 0; r < opt.n; r++)
		if (ranks[r].pid > 0)
			kill(-ranks[r].pid, sig);
}

/* The job is over: those that are left are asked to end, then made to. */
static void end_all(void)
{
	if (kill_at)
		return;
	kill_at = now_ms() + GRACE_MS;
	signal_all(SIGTERM);
	/* One that is stopped must wake up for it. */
	signal_all(SIGCONT);
}

static void write_all(int fd, const char *s, size_t n)
{
	while (n) {
		ssize_t r = write(fd, s, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 && errno == EAGAIN) {
			struct pollfd p = { .fd = fd, .events = POLLOUT };

			poll(&p, 1, -1);
			continue;
		}
		if (r <= 0)
			return;
		s += r;
		n -= (size_t)r;
	}
}

/* A whole line in one write, so that ranks do not mix within it. */
static void put_line(uint32_t r, int which, const char *s, size_t n)
{
	char out[LINE_MAX_LEN + 32];
	int at = snprintf(out, sizeof(out), "[%u] ", r);

	memcpy(out + at, s, n);
	out[(size_t)at + n] = '\n';
	write_all(which + 1, out, (size_t)at + n + 1);
}

/* False: the pipe is at its end. */
static bool forward(uint32_t r, int which)
{
	struct rank *k = &ranks[r];
	char buf[65536], *s = buf, *nl;
	ssize_t got = read(k->out[which], buf, sizeof(buf));
	size_t left;

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got == 0) {
		if (k->len[which])
			put_line(r, which, k->line[which], k->len[which]);
		k->len[which] = 0;
		return false;
	}
	if (!k->line[which])
		k->line[which] = need(malloc(LINE_MAX_LEN));
	for (left = (size_t)got; left; ) {
		size_t n, room = LINE_MAX_LEN - k->len[which];

		nl = memchr(s, '\n', left);
		n = nl ? (size_t)(nl - s) : left;
		if (n > room) {
			/* A very long line is cut in several. */
			n = room;
			nl = NULL;
		}
		memcpy(k->line[which] + k->len[which], s, n);
		k->len[which] += n;
		s += n;
		left -= n;
		if (nl || k->len[which] == LINE_MAX_LEN) {
			put_line(r, which, k->line[which], k->len[which]);
			k->len[which] = 0;
		}
		if (nl) {
			s++;
			left--;
		}
	}
	return true;
}

static void drain(uint32_t r)
{
	int which;

	for (which = 0; which < 2; which++) {
		struct rank *k = &ranks[r];

		if (k->out[which] < 0)
			continue;
		while (forward(r, which)) {
			struct pollfd p = { .fd = k->out[which], .events = POLLIN };

			if (poll(&p, 1, 0) <= 0)
				break;
		}
		if (k->len[which])
			put_line(r, which, k->line[which], k->len[which]);
		free(k->line[which]);
		k->line[which] = NULL;
		close(k->out[which]);
		k->out[which] = -1;
	}
}

static void reap(void)
{
	int st, code;
	pid_t pid;
	uint32_t r;

	while ((pid = waitpid(-1, &st, WNOHANG)) > 0) {
		for (r = 0; r < opt.n && ranks[r].pid != pid; r++)
			;
		if (r == opt.n)
			continue;
		code = WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st);
		ranks[r].pid = 0;
		alive--;
		drain(r);
		if (opt.verbose || (code && !status && !kill_at)) {
			if (WIFSIGNALED(st))
				fprintf(stderr, "hcomm_run: rank %u on node %u: killed by signal %d (%s)\n",
					r, ranks[r].node, WTERMSIG(st), strsignal(WTERMSIG(st)));
			else
				fprintf(stderr, "hcomm_run: rank %u on node %u: exit status %d\n",
					r, ranks[r].node, code);
		}
		if (!code || kill_at)
			continue;
		if (!status)
			status = code;
		if (!opt.keep_going)
			end_all();
	}
}

static void handle_signal(int sfd)
{
	struct signalfd_siginfo si;

	while (read(sfd, &si, sizeof(si)) == sizeof(si)) {
		switch (si.ssi_signo) {
		case SIGCHLD:
			break;
		case SIGINT:
		case SIGTERM:
		case SIGHUP:
		case SIGQUIT:
			/* The second time we do not ask again. */
			if (!status)
				status = 128 + (int)si.ssi_signo;
			if (kill_at) {
				signal_all(SIGKILL);
			} else {
				kill_at = now_ms() + GRACE_MS;
				signal_all((int)si.ssi_signo);
				signal_all(SIGCONT);
			}
			break;
		case SIGTSTP:
			signal_all(SIGSTOP);
			raise(SIGSTOP);
			signal_all(SIGCONT);
			break;
		default:
			signal_all((int)si.ssi_signo);
		}
	}
}

static void watch(int sfd)
{
	struct pollfd *p = need(calloc(2 * (size_t)opt.n + 1, sizeof(*p)));
	uint32_t *who = need(calloc(2 * (size_t)opt.n + 1, sizeof(*who)));
	int64_t end = opt.timeout_ms ? now_ms() + opt.timeout_ms : INT64_MAX;

	while (alive) {
		int64_t now = now_ms(), next = kill_at ? kill_at : end;
		nfds_t n = 0, i;
		uint32_t r;

		if (kill_at && now >= kill_at) {
			signal_all(SIGKILL);
			kill_at = now + 1000;
			next = kill_at;
		} else if (!kill_at && now >= end) {
			fprintf(stderr, "hcomm_run: timeout after %lld s\n",
				(long long)(opt.timeout_ms / 1000));
			status = STATUS_TIMEOUT;
			end_all();
			next = kill_at;
		}
		p[n] = (struct pollfd){ .fd = sfd, .events = POLLIN };
		who[n++] = UINT32_MAX;
		for (r = 0; r < opt.n; r++)
			for (int which = 0; which < 2; which++) {
				if (ranks[r].out[which] < 0)
					continue;
				p[n] = (struct pollfd){ .fd = ranks[r].out[which], .events = POLLIN };
				who[n++] = 2 * r + (uint32_t)which;
			}
		poll(p, n, next == INT64_MAX ? -1 : next - now > 1000000 ? 1000000 : (int)(next - now));
		for (i = 1; i < n; i++) {
			if (!p[i].revents)
				continue;
			if (!forward(who[i] / 2, who[i] % 2)) {
				close(ranks[who[i] / 2].out[who[i] % 2]);
				ranks[who[i] / 2].out[who[i] % 2] = -1;
			}
		}
		handle_signal(sfd);
		reap();
	}
	free(p);
	free(who);
}

static const char usage_text[] =
"Usage: hcomm_run [OPTION]... -n N PROGRAM [ARGUMENT]...\n"
"\n"
"Start N ranks of PROGRAM that talk to one another through libhcomm.\n"
"\n"
"  -n, --ranks N          number of ranks\n"
"  -H, --hosts NODE[:COUNT],...\n"
"                         nodes, and how many ranks to put on each (default 1)\n"
"  -N, --nodes NODE,...   nodes, one rank on each in turn\n"
"  -p, --port PORT        rank R uses port PORT + R (default 20000)\n"
"  -L, --launch COMMAND   how to start a rank on another node: %n the node,\n"
"                         %r the rank, %c the command as one quoted word\n"
"                         (\"ssh host%n %c\"); without %c it is appended\n"
"  -t, --timeout SECONDS  end the job after so long, with exit status 124\n"
"  -l, --label            put [RANK] before every line of output\n"
"  -k, --keep-going       let the others go on when one fails\n"
"  -v, --verbose          say what is started and how it ended\n"
"  -V, --version\n"
"  -h, --help\n"
"\n"
"Without --hosts and --nodes all ranks are on this node. The exit status is\n"
"that of the first rank that failed, or 128 + the number of its signal.\n";

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "ranks", required_argument, NULL, 'n' },
		{ "hosts", required_argument, NULL, 'H' },
		{ "nodes", required_argument, NULL, 'N' },
		{ "port", required_argument, NULL, 'p' },
		{ "launch", required_argument, NULL, 'L' },
		{ "timeout", required_argument, NULL, 't' },
		{ "label", no_argument, NULL, 'l' },
		{ "keep-going", no_argument, NULL, 'k' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	const char *hosts = NULL, *nodes = NULL;
	struct text addrs = { 0 };
	sigset_t mask, old;
	bool elsewhere = false;
	uint32_t r;
	int c, sfd, ret;

	while ((c = getopt_long(argc, argv, "+n:H:N:p:L:t:lkvVh", longs, NULL)) != -1) {
		switch (c) {
		case 'n':
			opt.n = number_arg("-n", optarg, 1, RANKS_MAX);
			break;
		case 'H':
			hosts = optarg;
			break;
		case 'N':
			nodes = optarg;
			break;
		case 'p':
			opt.port = number_arg("--port", optarg, 1, UINT32_MAX - RANKS_MAX);
			break;
		case 'L':
			opt.launch = optarg;
			break;
		case 't':
			opt.timeout_ms = (int64_t)number_arg("--timeout", optarg, 1, 31536000) * 1000;
			break;
		case 'l':
			opt.label = true;
			break;
		case 'k':
			opt.keep_going = true;
			break;
		case 'v':
			opt.verbose = true;
			break;
		case 'V':
			printf("hcomm_run %d.%d\n", HCOMM_VERSION_MAJOR, HCOMM_VERSION_MINOR);
			return 0;
		case 'h':
			fputs(usage_text, stdout);
			return 0;
		default:
			fputs("Try \"hcomm_run --help\".\n", stderr);
			return STATUS_USAGE;
		}
	}
	if (!opt.n)
		die("-n is missing: how many ranks?");
	if (optind == argc)
		die("the program is missing");
	if (hosts && nodes)
		die("--hosts and --nodes exclude each other");
	opt.argv = argv + optind;
	ranks = need(calloc(opt.n, sizeof(*ranks)));
	for (r = 0; r < opt.n; r++)
		ranks[r].out[0] = ranks[r].out[1] = -1;

	ret = hcomm_node(&opt.here);
	if (hosts)
		place_ranks("--hosts", hosts, true);
	else if (nodes)
		place_ranks("--nodes", nodes, false);
	else if (opt.n > 1 && (ret || !opt.here))
		die("this node has no id: %s; give --hosts or --nodes",
		    ret ? hcomm_strerror(ret) : "none is configured");
	for (r = 0; r < opt.n; r++) {
		char one[32];

		if (!hosts && !nodes)
			ranks[r].node = opt.here ? opt.here : 1;
		/* One rank alone needs no node. */
		if (opt.n == 1 && !opt.here && !hosts && !nodes)
			opt.here = 1;
		/* Without the module the program says best what is wrong. */
		if (ret == -EAFNOSUPPORT && !opt.launch)
			opt.here = ranks[r].node;
		elsewhere |= ranks[r].node != opt.here;
		snprintf(one, sizeof(one), "%s%u:%u", r ? "," : "", ranks[r].node, opt.port + r);
		add(&addrs, one, strlen(one));
	}
	if (elsewhere && !opt.launch)
		die("this is node %u; ranks on other nodes need --launch", opt.here);

	sigemptyset(&mask);
	for (c = 0; c < 9; c++) {
		static const int sigs[9] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT,
					     SIGTSTP, SIGUSR1, SIGUSR2, SIGWINCH };

		sigaddset(&mask, sigs[c]);
	}
	sigprocmask(SIG_BLOCK, &mask, &old);
	signal(SIGPIPE, SIG_IGN);
	sfd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	if (sfd < 0)
		die("signalfd: %s", strerror(errno));
	for (r = 0; r < opt.n; r++)
		start(r, addrs.s, &old);
	watch(sfd);
	return status;
}
