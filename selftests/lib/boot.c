// SPDX-License-Identifier: GPL-2.0
/*
 * Making communicators: strangers at the door, other versions and settings,
 * ranks that are late, that fail or never come, a thousand times in a row.
 */
#include <sys/prctl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/src/msg.h"
#include "../../lib/src/transport.h"
#include "t.h"

static int use(struct hcomm_comm *comm, uint32_t n)
{
	int32_t one = 1;

	T_RET(0, hcomm_all_reduce(comm, NULL, &one, 1, HCOMM_I32, HCOMM_SUM));
	T_CHECK(one == (int32_t)n, "%d", one);
	return 0;
}

/* A connection to the port of rank 0, or -1 when nobody listens yet. */
static int visit(const struct hcomm_comm_attr *attr, uint32_t rank)
{
	const struct hc_addr a = { attr->addrs[rank].shc_node, attr->addrs[rank].shc_port };
	struct pollfd pfd = { .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = 0;

	pfd.fd = hc_transport.connect(&a, 1000);
	if (pfd.fd < 0)
		return -1;
	if (poll(&pfd, 1, 200) != 1 || getsockopt(pfd.fd, SOL_SOCKET, SO_ERROR, &err, &len) || err) {
		close(pfd.fd);
		return -1;
	}
	return pfd.fd;
}

/* The bytes of a hello that @rank would say to @to. */
static void hello(const struct hcomm_comm_attr *attr, uint32_t n, uint32_t rank, uint32_t to,
		  uint32_t abi, uint8_t out[HC_HELLO_LEN])
{
	struct hc_hello h = { .abi = abi, .job = HC_HASH_INIT, .rank = rank, .to = to, .nranks = n,
			      .little = 1, .piece = 4096, .algo_reduce = 31, .algo_bcast = 3 };
	uint32_t r;

	h.job = hc_hash_u64(h.job, attr->job);
	for (r = 0; r < n; r++)
		h.job = hc_hash_u64(h.job, (uint64_t)attr->addrs[r].shc_node << 32 |
				    attr->addrs[r].shc_port);
	hc_hello_put(out, &h);
}

/* B1: all that a port scanner or a monitor may do, over and over. */
static void stranger(const struct hcomm_comm_attr *attr, uint32_t n)
{
	static char noise[65536];
	uint8_t bytes[HC_HELLO_LEN];
	int kept = 0, i;
	uint64_t state = 5;

	for (i = 0; i < (int)sizeof(noise); i++)
		noise[i] = (char)t_random(&state);
	for (i = 0; ; i++) {
		int fd = visit(attr, (uint32_t)i / 9 % (n - 1)), k;

		if (fd < 0) {
			usleep(1000);
			continue;
		}
		switch (i % 9) {
		case 0:
			break;
		case 1:
			send(fd, "GET /metrics HTTP/1.0\r\n\r\n", 25, MSG_NOSIGNAL);
			break;
		case 2:
			hello(attr, n, 1, 0, HC_LIB_ABI, bytes);
			send(fd, bytes, 4, MSG_NOSIGNAL);
			break;
		case 3:
			for (k = 0; k < 16; k++)
				send(fd, noise, sizeof(noise), MSG_NOSIGNAL | MSG_DONTWAIT);
			break;
		case 4:
			/* of another job */
			hello(attr, n, n - 1, 0, HC_LIB_ABI, bytes);
			bytes[24] ^= 1;
			send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
			break;
		case 5:
			/* a rank that does not exist, and an unlikely one */
			hello(attr, n, i & 64 ? n : 0, 0, HC_LIB_ABI, bytes);
			send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
			break;
		case 6:
			send(fd, "", 1, MSG_NOSIGNAL);
			break;
		default:
			/* says nothing and stays: more than there is room for */
			if (kept < 200) {
				kept++;
				continue;
			}
		}
		close(fd);
	}
}

static int with_strangers(uint32_t rank, uint32_t n, void *arg)
{
	struct hcomm_comm_attr attr = t_attr(rank, n);
	struct hcomm_comm *comm;
	int64_t begin = t_now_ms();

	(void)arg;
	attr.piece = 4096;
	/* the last comes late, so that the doors stand open for a while */
	if (rank == n - 1)
		usleep(300000);
	T_RET(0, t_comm(&attr, &comm));
	/* a second at most, where there is more than one slow processor */
	T_CHECK(t_now_ms() - begin < 300 + (t_real ? 5000 : 1000), "%d ms",
		(int)(t_now_ms() - begin));
	if (use(comm, n))
		return 1;
	T_RET(0, hcomm_comm_destroy(comm));
	return 0;
}

static int strangers(void)
{
	struct hcomm_comm_attr attr = t_attr(0, 4);
	pid_t pid[2];
	int ret = 0, i;

	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			stranger(&attr, 4);
		}
	}
	for (i = 0; i < 5 && !ret; i++)
		ret = t_ranks(4, with_strangers, NULL, 30);
	for (i = 0; i < 2; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	return ret;
}

/* B3: another version of the library. */
static int version(uint32_t rank, uint32_t n, void *arg)
{
	struct hcomm_comm_attr attr = t_attr(rank, n);
	struct hcomm_comm *comm;
	uint8_t bytes[HC_HELLO_LEN + 1];
	const char *text;

	(void)arg;
	attr.timeout_ms = 5000;
	if (rank == 1) {
		/* we are the newer one, by hand */
		struct hc_hello h;
		ssize_t r;
		int fd;

		while ((fd = visit(&attr, 0)) < 0)
			usleep(1000);
		hello(&attr, n, 1, 0, HC_LIB_ABI + 1, bytes);
		T_CHECK(send(fd, bytes, HC_HELLO_LEN, MSG_NOSIGNAL) == HC_HELLO_LEN, "send");
		/* the other says its version before it gives up */
		while ((r = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) < 0 && errno == EAGAIN)
			usleep(1000);
		T_CHECK(r > 0 && hc_hello_get(bytes, (size_t)r, &h) && h.abi == HC_LIB_ABI, "%zd", r);
		close(fd);
		return 0;
	}
	T_RET(-EPROTONOSUPPORT, hcomm_comm_create(&attr, &comm));
	text = hcomm_comm_error_text(NULL);
	T_CHECK(strstr(text, "version differs: rank 1 has 2, rank 0 has 1"), "\"%s\"", text);
	return 0;
}

/* Other settings: both values, on both ranks. */
static int settings(uint32_t rank, uint32_t n, void *arg)
{
	struct hcomm_comm_attr attr = t_attr(rank, n);
	int what = *(int *)arg;
	struct hcomm_comm *comm;
	const char *text, *want[] = { "piece size differs", "flags differ", "HCOMM_ALGO" };

	attr.timeout_ms = 5000;
	if (rank == n - 1) {
		if (what == 0)
			attr.piece = 128;
		else if (what == 1)
			attr.flags = HCOMM_COMM_ORDERED;
		else
			setenv("HCOMM_ALGO", "ring", 1);
	}
	T_RET(-EPROTONOSUPPORT, hcomm_comm_create(&attr, &comm));
	text = hcomm_comm_error_text(NULL);
	T_CHECK(strstr(text, want[what]), "\"%s\"", text);
	if (what == 0)
		T_CHECK(strstr(text, " has 128"), "\"%s\"", text);
	unsetenv("HCOMM_ALGO");
	return 0;
}

/* A rank with another list is not let in; nobody waits for ever. */
static int other_list(uint32_t rank, uint32_t n, void *arg)
{
	struct hcomm_comm_attr attr = t_attr(rank, n);
	struct hcomm_comm *comm;
	const char *text;

	(void)arg;
	attr.timeout_ms = 1000;
	if (rank == n - 1)
		attr.job = 7;
	T_RET(-ETIMEDOUT, hcomm_comm_create(&attr, &comm));
	text = hcomm_comm_error_text(NULL);
	T_CHECK(strstr(text, rank == n - 1 ? "another HCOMM_ADDRS, HCOMM_SIZE or HCOMM_JOB" :
		       "turned away") || strstr(text, "rank"), "\"%s\"", text);
	return 0;
}

/* B7 and a rank that never comes: the others give up in time, all of them. */
static int missing(uint32_t rank, uint32_t n, void *arg)
{
	struct hcomm_comm_attr attr = t_attr(rank, n);
	uint32_t odd = *(uint32_t *)arg;
	int64_t begin = t_now_ms();
	struct hcomm_comm *comm;

	if (rank == odd)
		return 0;
	attr.timeout_ms = 1000;
	T_RET(-ETIMEDOUT, hcomm_comm_create(&attr, &comm));
	T_CHECK(t_now_ms() - begin < 3000, "%d ms", (int)(t_now_ms() - begin));
	T_CHECK(strstr(hcomm_comm_error_text(NULL), "rank"), "\"%s\"", hcomm_comm_error_text(NULL));
	return 0;
}

static int failing(uint32_t rank, uint32_t n, void *arg)
{
	struct hcomm_comm_attr attr = t_attr(rank, n);
	int64_t begin = t_now_ms();
	struct hcomm_comm *comm;
	int ret;

	(void)arg;
	attr.timeout_ms = 3000;
	if (rank == 1) {
		/* no descriptor left after the first few */
		struct rlimit lim = { 64, 64 };
		int fd = 0;

		setrlimit(RLIMIT_NOFILE, &lim);
		while (fd >= 0 && fd < 62)
			fd = dup(0);
	}
	ret = hcomm_comm_create(&attr, &comm);
	if (rank == 1)
		T_RET(-EMFILE, ret);
	else
		T_CHECK(ret == -EMFILE || ret == -ETIMEDOUT, "%d", ret);
	T_CHECK(t_now_ms() - begin < 5000, "%d ms", (int)(t_now_ms() - begin));
	return 0;
}

/* The port belongs to somebody else. */
static int port_taken(uint32_t rank, uint32_t n, void *arg)
{
	struct hcomm_comm_attr attr = t_attr(rank, n);
	struct hc_addr a = { attr.addrs[0].shc_node, attr.addrs[0].shc_port };
	struct hcomm_comm *comm;
	int fd = hc_transport.listen(&a, 1, 1000);

	(void)arg;
	T_CHECK(fd >= 0, "%d", fd);
	attr.nranks = 2;
	attr.timeout_ms = 300;
	T_RET(-EADDRINUSE, hcomm_comm_create(&attr, &comm));
	close(fd);
	return 0;
}

static long rss_kib(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* B8, B9: the same ports, again and again. */
static int cycle(uint32_t rank, uint32_t n, void *arg)
{
	int rounds = *(int *)arg, i;
	unsigned int fds = 0;
	long rss = 0;

	for (i = 0; i < rounds; i++) {
		struct hcomm_comm_attr attr = t_attr(rank, n);
		struct hcomm_comm *comm;

		T_RET(0, t_comm(&attr, &comm));
		if (i % 4 && use(comm, n))
			return 1;
		T_RET(0, hcomm_comm_destroy(comm));
		if (i == rounds / 10) {
			fds = t_open_fds();
			rss = rss_kib();
		}
	}
	if (!t_is_threads()) {
		T_CHECK(t_open_fds() == fds, "%u descriptors, then %u", fds, t_open_fds());
		/* a sanitizer keeps freed memory for a while */
		T_CHECK(rss_kib() - rss < (getenv("HCOMM_TEST_SANITIZER") ? 65536 : 512),
			"%ld KiB, then %ld", rss, rss_kib());
	}
	return 0;
}

/* B9: one rank needs no network at all. */
static int alone(void)
{
	struct hcomm_comm_attr attr = HCOMM_COMM_ATTR_INIT;
	unsigned int fds = t_open_fds();
	struct hcomm_comm *comm[100];
	int i;

	attr.nranks = 1;
	for (i = 0; i < 100; i++)
		T_RET(0, hcomm_comm_create(&attr, &comm[i]));
	T_CHECK(t_open_fds() == fds, "descriptors");
	for (i = 0; i < 100; i++)
		T_RET(0, hcomm_comm_destroy(comm[i]));
	return 0;
}

/* After the hello a peer may still be mad. */
static int madness(uint32_t rank, uint32_t n, void *arg)
{
	struct hcomm_comm_attr attr = t_attr(rank, n);
	uint64_t state = *(uint64_t *)arg, i;
	struct hcomm_comm *comm;
	int ret, k;

	attr.piece = 4096;
	attr.timeout_ms = 1000;
	if (rank == 1) {
		uint8_t bytes[8192];
		int fd;

		while ((fd = visit(&attr, 0)) < 0)
			usleep(1000);
		hello(&attr, n, 1, 0, HC_LIB_ABI, bytes);
		T_CHECK(send(fd, bytes, HC_HELLO_LEN, MSG_NOSIGNAL) == HC_HELLO_LEN, "send");
		for (k = 0; k < 20; k++) {
			struct hc_hdr h = { .call = { .seq = (uint64_t)k / 4, .kind = k < 4 ? 1 : 4,
						      .count = 2000, .type = 1, .op = 1 },
					    .rank = 1, .len = 4096, .msg = k % 8 == 7 ? 2 : 1 };
			size_t len = t_random(&state) % sizeof(bytes) + 1;

			for (i = 0; i < len; i++)
				bytes[i] = (uint8_t)t_random(&state);
			hc_hdr_put(bytes, &h);
			for (i = 0; i < t_random(&state) % 3; i++)
				bytes[t_random(&state) % HC_HDR_LEN] = (uint8_t)t_random(&state);
			send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		}
		usleep(20000);
		close(fd);
		return 0;
	}
	ret = hcomm_comm_create(&attr, &comm);
	for (k = 0; k < 5 && !ret; k++) {
		static int32_t v[2000];

		ret = hcomm_all_reduce(comm, NULL, v, 2000, HCOMM_I32, HCOMM_SUM);
	}
	T_CHECK(ret < 0, "success against garbage");
	if (comm) {
		T_CHECK(*hcomm_comm_error_text(comm), "no text");
		T_RET(0, hcomm_comm_destroy(comm));
	}
	return 0;
}

/* F8: small ones on few processors; F9: an idle communicator costs nothing. */
static int compare(const void *a, const void *b)
{
	return *(const int64_t *)a < *(const int64_t *)b ? -1 : *(const int64_t *)a > *(const int64_t *)b;
}

static int small(uint32_t rank, uint32_t n, void *arg)
{
	struct hcomm_comm_attr attr = t_attr(rank, n);
	int rounds = t_real ? 200 : 1000;
	int64_t *us = calloc((size_t)rounds, sizeof(*us)), cpu;
	struct hcomm_comm *comm;
	struct timespec a, b;
	int64_t v;
	int i;

	(void)arg;
	T_RET(0, t_comm(&attr, &comm));
	for (i = 0; i < rounds; i++) {
		v = rank;
		clock_gettime(CLOCK_MONOTONIC, &a);
		T_RET(0, hcomm_all_reduce(comm, NULL, &v, 1, HCOMM_I64, HCOMM_SUM));
		clock_gettime(CLOCK_MONOTONIC, &b);
		us[i] = (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000;
	}
	qsort(us, (size_t)rounds, sizeof(*us), compare);
	v = us[rounds / 2];
	if (!rank)
		printf("boot: %u ranks, 8 bytes: median %d us, p99 %d us\n", n, (int)v,
		       (int)us[rounds / 100 * 99]);
	/* a guest of the lab has one processor, or slow ones */
	if (!getenv("HCOMM_TEST_SANITIZER"))
		T_CHECK(v < (t_real ? 50000 : 1000), "median %d us", (int)v);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	usleep(1000000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	cpu = (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000;
	if (!t_is_threads())
		T_CHECK(cpu < (t_real ? 50000 : 10000), "%d us of processor time in an idle second", (int)cpu);
	free(us);
	T_RET(0, hcomm_comm_destroy(comm));
	return 0;
}

#define RUN(name, test) do {						\
	if (!ret) {							\
		ret = (test);						\
		fprintf(stderr, "boot: %s: %s\n", name, ret ? "failed" : "passed"); \
	}								\
} while (0)

int main(int argc, char **argv)
{
	static const char *const setting[] = { "other pieces", "other flags", "other algorithms" };
	bool quick = argc > 1 && !strcmp(argv[1], "-q");
	int ret = t_init(), rounds = quick ? 100 : 1000, what;
	uint32_t odd;
	uint64_t seed;

	if (ret)
		return ret;
	if (t_is_rank()) {
		printf("SKIP: starts its ranks itself\n");
		return T_SKIP;
	}
	RUN("one rank", alone());
	RUN("again and again", t_ranks(3, cycle, &rounds, 120));
	RUN("port in use", t_ranks(1, port_taken, NULL, 10));
	if (!t_is_threads()) {
		RUN("strangers", strangers());
		RUN("a rank that fails", t_ranks(3, failing, NULL, 20));
	}
	RUN("another version", t_ranks(2, version, NULL, 10));
	for (what = 0; what < (t_is_threads() ? 2 : 3); what++)
		RUN(setting[what], t_ranks((uint32_t)what + 2, settings, &what, 10));
	RUN("other addresses", t_ranks(3, other_list, NULL, 10));
	for (odd = 0; odd < 3; odd++)
		RUN("a missing rank", t_ranks(3, missing, &odd, 10));
	for (seed = 1; seed < (quick ? 20u : 200u) && !ret; seed++)
		ret = t_ranks(2, madness, &seed, 10);
	RUN("a mad peer", ret);
	RUN("small, 3 ranks", t_ranks(3, small, NULL, 20));
	RUN("small, 4 ranks", t_ranks(4, small, NULL, 20));
	RUN("small, 8 ranks", t_ranks(8, small, NULL, 20));
	printf("boot: %s\n", ret ? "failed" : "passed");
	return ret;
}
