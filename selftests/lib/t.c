// SPDX-License-Identifier: GPL-2.0
#include "t.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RANKS_MAX	64
#define PORT		21000

static uint32_t node_here = 1;
static struct sockaddr_hcomm addrs[RANKS_MAX];
static uint32_t env_rank, env_size;

void t_report(const char *file, int line, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "%s:%d: %s\n", base ? base + 1 : file, line, text);
}

int t_init(void)
{
	const char *rank = getenv("HCOMM_RANK"), *list = getenv("HCOMM_ADDRS");
	char id[16];
	int ret;

	snprintf(id, sizeof(id), "%d", (int)getpid());
	setenv("HCOMM_TEST_ID", id, 0);
	if (rank && list && getenv("HCOMM_SIZE")) {
		env_rank = (uint32_t)atoi(rank);
		env_size = (uint32_t)atoi(getenv("HCOMM_SIZE"));
		for (uint32_t i = 0; i < env_size && i < RANKS_MAX; i++) {
			char *end;

			addrs[i].shc_node = (uint32_t)strtoul(list, &end, 10);
			addrs[i].shc_port = (uint32_t)strtoul(end + 1, &end, 10);
			list = end + 1;
		}
		unsetenv("HCOMM_RANK");
		return 0;
	}
	ret = t_real ? hcomm_node(&node_here) : 0;
	if (ret == -EAFNOSUPPORT || (!ret && !node_here)) {
		printf("SKIP: the hcomm module is not loaded or has no node id\n");
		return T_SKIP;
	}
	for (uint32_t i = 0; i < RANKS_MAX; i++) {
		addrs[i].shc_node = node_here;
		addrs[i].shc_port = PORT + i;
	}
	return ret ? 1 : 0;
}

bool t_is_rank(void)
{
	return env_size > 0;
}

bool t_is_threads(void)
{
	const char *s = getenv("HCOMM_TEST_THREADS");

	return s && *s == '1';
}

uint32_t t_ranks_max(uint32_t most)
{
	return env_size && env_size < most ? env_size : most;
}

struct hcomm_comm_attr t_attr(uint32_t rank, uint32_t n)
{
	struct hcomm_comm_attr attr = HCOMM_COMM_ATTR_INIT;

	attr.rank = rank;
	attr.nranks = n;
	attr.addrs = addrs;
	attr.timeout_ms = 20000;
	return attr;
}

int t_comm(const struct hcomm_comm_attr *attr, struct hcomm_comm **comm)
{
	int ret = hcomm_comm_create(attr, comm);

	if (ret)
		t_say("create: %d: %s", ret, hcomm_comm_error_text(NULL));
	return ret;
}

int64_t t_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

uint64_t t_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

unsigned int t_open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

void *t_guarded(size_t len, void **map, size_t *map_len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t body = (len + page - 1) / page * page;
	char *m = mmap(NULL, body + page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED || mprotect(m + body, page, PROT_NONE))
		abort();
	*map = m;
	*map_len = body + page;
	return m + body - len;
}

struct thread {
	pthread_t id;
	t_rank_fn fn;
	void *arg;
	uint32_t rank, n;
	int ret;
};

static void *thread_main(void *p)
{
	struct thread *t = p;

	t->ret = t->fn(t->rank, t->n, t->arg);
	return NULL;
}

static int run_threads(uint32_t n, t_rank_fn fn, void *arg)
{
	struct thread t[RANKS_MAX];
	int ret = 0;

	for (uint32_t r = 0; r < n; r++) {
		t[r] = (struct thread){ .fn = fn, .arg = arg, .rank = r, .n = n };
		if (pthread_create(&t[r].id, NULL, thread_main, &t[r]))
			abort();
	}
	for (uint32_t r = 0; r < n; r++) {
		pthread_join(t[r].id, NULL);
		ret |= t[r].ret != 0;
	}
	return ret;
}

static int run_children(uint32_t n, t_rank_fn fn, void *arg, unsigned int seconds)
{
	/* The checked kernels of the lab are slow. */
	int64_t end = t_now_ms() + seconds * (t_real ? 10000 : 1000);
	pid_t pid[RANKS_MAX];
	uint32_t left = n;
	int ret = 0;

	fflush(NULL);
	for (uint32_t r = 0; r < n; r++) {
		pid[r] = fork();
		if (pid[r] < 0)
			abort();
		if (!pid[r]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			ret = fn(r, n, arg) ? 1 : 0;
			fflush(NULL);
			/* exit, not _exit: the leak checker runs at exit */
			exit(ret);
		}
	}
	while (left) {
		bool any = false;

		for (uint32_t r = 0; r < n; r++) {
			int status;

			if (pid[r] <= 0 || waitpid(pid[r], &status, WNOHANG) <= 0)
				continue;
			any = true;
			if (!WIFEXITED(status) || WEXITSTATUS(status)) {
				t_say("rank %u of %u: wait status 0x%x", r, n, status);
				ret = 1;
			}
			pid[r] = -1;
			left--;
		}
		if (any || !left)
			continue;
		if (t_now_ms() > end) {
			for (uint32_t r = 0; r < n; r++) {
				if (pid[r] <= 0)
					continue;
				t_say("rank %u of %u hangs", r, n);
				kill(pid[r], SIGKILL);
			}
			ret = 1;
			end = INT64_MAX;
		}
		usleep(1000);
	}
	return ret;
}

int t_ranks(uint32_t n, t_rank_fn fn, void *arg, unsigned int seconds)
{
	if (t_is_rank())
		return env_rank < n ? fn(env_rank, n, arg) : 0;
	if (t_is_threads())
		return run_threads(n, fn, arg);
	return run_children(n, fn, arg, seconds);
}
