// SPDX-License-Identifier: GPL-2.0
/*
 * Misuse: ranks that do not agree, two threads on one communicator, wrong
 * arguments, dead ranks. Every rank gets a clear error in time.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

static const char *const algos[] = { "oneshot", "doubling", "twoshot", "halving", "ring", "" };

enum wrong {
	W_COUNT, W_COUNT_LARGE, W_TYPE, W_OP, W_CALL, W_CALL_BARRIER, W_CALL_BCAST,
	W_ROOT, W_BCAST_COUNT, W_BCAST_TYPE, W_ORDER, W_ALL,
};

static const struct {
	const char *name;
	const char *text;
} wrongs[W_ALL] = {
	[W_COUNT] = { "count", "count mismatch" },
	[W_COUNT_LARGE] = { "large count", "count mismatch" },
	[W_TYPE] = { "type", "type mismatch" },
	[W_OP] = { "operation", "operation mismatch" },
	[W_CALL] = { "barrier in all_reduce", "call mismatch" },
	[W_CALL_BARRIER] = { "all_reduce in barrier", "call mismatch" },
	[W_CALL_BCAST] = { "broadcast in all_reduce", "call mismatch" },
	[W_ROOT] = { "root", "root mismatch" },
	[W_BCAST_COUNT] = { "broadcast count", "count mismatch" },
	[W_BCAST_TYPE] = { "broadcast type", "type mismatch" },
	[W_ORDER] = { "large all_reduce against small", "count mismatch" },
};

struct plan {
	enum wrong wrong;
	uint32_t odd;		/* the rank that errs */
};

static int call(struct hcomm_comm *comm, enum wrong w, bool odd, uint32_t rank, uint32_t n,
		void *buf, bool *errs)
{
	uint32_t root = n / 2;

	(void)rank;
	*errs = true;
	switch (w) {
	case W_COUNT:
		return hcomm_all_reduce(comm, NULL, buf, odd ? 1023 : 1024, HCOMM_I32, HCOMM_SUM);
	case W_COUNT_LARGE:
		return hcomm_all_reduce(comm, NULL, buf, odd ? 524287 : 524288, HCOMM_F32, HCOMM_SUM);
	case W_TYPE:
		return hcomm_all_reduce(comm, NULL, buf, 16, odd ? HCOMM_F32 : HCOMM_I32, HCOMM_SUM);
	case W_OP:
		return hcomm_all_reduce(comm, NULL, buf, 16, HCOMM_I32, odd ? HCOMM_MAX : HCOMM_SUM);
	case W_CALL:
		return odd ? hcomm_barrier(comm) :
			hcomm_all_reduce(comm, NULL, buf, 100, HCOMM_I32, HCOMM_SUM);
	case W_CALL_BARRIER:
		return !odd ? hcomm_barrier(comm) :
			hcomm_all_reduce(comm, NULL, buf, 500000, HCOMM_I32, HCOMM_SUM);
	case W_CALL_BCAST:
		return odd ? hcomm_broadcast(comm, buf, 1000, HCOMM_I32, root) :
			hcomm_all_reduce(comm, NULL, buf, 1000, HCOMM_I32, HCOMM_SUM);
	case W_ROOT:
		return hcomm_broadcast(comm, buf, 1000, HCOMM_I32, odd ? (root + 1) % n : root);
	case W_BCAST_COUNT:
		return hcomm_broadcast(comm, buf, odd ? 1 : 400000, HCOMM_I32, root);
	case W_BCAST_TYPE:
		return hcomm_broadcast(comm, buf, 100, odd ? HCOMM_U64 : HCOMM_F64, root);
	default:
		return hcomm_all_reduce(comm, NULL, buf, odd ? 1 : 500000, HCOMM_I32, HCOMM_SUM);
	}
}

static int disagree(uint32_t rank, uint32_t n, void *arg)
{
	const struct plan *p = arg;
	struct hcomm_comm_attr attr = t_attr(rank, n);
	struct hcomm_comm *comm;
	void *buf = calloc(524288, 8);
	const char *text;
	int64_t begin;
	bool errs;
	int ret;

	attr.timeout_ms = 15000;
	T_RET(0, t_comm(&attr, &comm));
	/* not the first call */
	T_RET(0, hcomm_barrier(comm));
	begin = t_now_ms();
	ret = call(comm, p->wrong, rank == p->odd, rank, n, buf, &errs);
	text = hcomm_comm_error_text(comm);
	T_CHECK(ret == -EPROTO, "%s, rank %u of %u, odd %u: %d (%s) after %d ms", wrongs[p->wrong].name,
		rank, n, p->odd, ret, text, (int)(t_now_ms() - begin));
	T_CHECK(strstr(text, wrongs[p->wrong].text), "%s: \"%s\"", wrongs[p->wrong].name, text);
	if (p->wrong == W_COUNT) {
		char odd[32];

		/* both values, with their ranks */
		snprintf(odd, sizeof(odd), "rank %u has 1023", p->odd);
		T_CHECK(strstr(text, odd) && strstr(text, "has 1024"), "\"%s\"", text);
	}
	T_CHECK(strstr(text, "#2"), "the second call: \"%s\"", text);
	T_CHECK(t_now_ms() - begin < 10000, "%d ms", (int)(t_now_ms() - begin));
	/* and it stays broken, with the same words */
	T_RET(-EPROTO, hcomm_barrier(comm));
	T_CHECK(text == hcomm_comm_error_text(comm), "text moved");
	free(buf);
	T_RET(0, hcomm_comm_destroy(comm));
	return 0;
}

/* M4: only one of two calls at a time. */
struct pair {
	struct hcomm_comm *comm;
	int busy, good, ret;
};

static void *hammer(void *arg)
{
	struct pair *p = arg;

	while (p->good + p->busy < 2000) {
		int ret = hcomm_barrier(p->comm);

		if (ret == -EBUSY)
			p->busy++;
		else if (!ret)
			p->good++;
		else
			p->ret = ret;
		if (p->ret)
			break;
	}
	return NULL;
}

static int busy(uint32_t rank, uint32_t n, void *arg)
{
	struct hcomm_comm_attr attr = t_attr(rank, n);
	struct pair p = { 0 };
	int32_t one = 1;

	(void)arg;
	attr.timeout_ms = 1000;
	T_RET(0, t_comm(&attr, &p.comm));
	if (rank == 0) {
		struct pair q = p;
		pthread_t id;

		/* rank 1 is not in the barrier, so the first to come waits */
		pthread_create(&id, NULL, hammer, &q);
		/* a call that would do nothing tells when the other is in */
		while (hcomm_broadcast(p.comm, NULL, 1, HCOMM_I32, 0) != -EBUSY)
			usleep(1000);
		T_RET(-EBUSY, hcomm_comm_destroy(p.comm));
		T_RET(-EBUSY, hcomm_all_reduce(p.comm, NULL, &one, 1, HCOMM_I32, HCOMM_SUM));
		T_RET(-EBUSY, hcomm_barrier(p.comm));
		pthread_join(id, NULL);
		T_RET(-ETIMEDOUT, q.ret);
		T_CHECK(strstr(hcomm_comm_error_text(p.comm), "waited 1000 ms for rank 1"), "\"%s\"",
			hcomm_comm_error_text(p.comm));
	} else {
		int ret;

		/*
		 * Comes when rank 0 has given up. It did call the barrier, so
		 * the first may go well; the second hears of the error.
		 */
		usleep(1500000);
		ret = hcomm_barrier(p.comm);
		if (!ret)
			ret = hcomm_barrier(p.comm);
		T_RET(-ETIMEDOUT, ret);
		T_CHECK(strstr(hcomm_comm_error_text(p.comm), "rank 0 has waited"), "\"%s\"",
			hcomm_comm_error_text(p.comm));
	}
	T_RET(0, hcomm_comm_destroy(p.comm));
	return 0;
}

/* M5: two threads, two communicators. */
struct lane {
	struct hcomm_comm_attr attr;
	struct sockaddr_hcomm addrs[8];
	int rounds, ret;
};

static void *lane_main(void *arg)
{
	struct lane *l = arg;
	struct hcomm_comm *comm;
	int i;

	l->ret = t_comm(&l->attr, &comm);
	for (i = 0; !l->ret && i < l->rounds; i++) {
		int32_t v[3] = { i, (int32_t)l->attr.rank, 1 };
		int32_t n = (int32_t)l->attr.nranks;

		l->ret = hcomm_all_reduce(comm, NULL, v, 3, HCOMM_I32, HCOMM_SUM);
		if (!l->ret && (v[0] != i * n || v[1] != n * (n - 1) / 2 || v[2] != n))
			l->ret = -EILSEQ;
	}
	if (!l->ret)
		l->ret = hcomm_comm_destroy(comm);
	return NULL;
}

static int two_lanes(uint32_t rank, uint32_t n, void *arg)
{
	struct lane lane[2] = { 0 };
	pthread_t id[2];
	uint32_t i, k;

	for (k = 0; k < 2; k++) {
		lane[k].attr = t_attr(rank, n);
		for (i = 0; i < n; i++) {
			lane[k].addrs[i] = lane[k].attr.addrs[i];
			lane[k].addrs[i].shc_port += 100 * k;
		}
		lane[k].attr.addrs = lane[k].addrs;
		lane[k].rounds = *(int *)arg;
		pthread_create(&id[k], NULL, lane_main, &lane[k]);
	}
	for (k = 0; k < 2; k++) {
		pthread_join(id[k], NULL);
		T_RET(0, lane[k].ret);
	}
	return 0;
}

/* M6, and every argument that a call can refuse by itself. */
static int arguments(void)
{
	struct {
		struct hcomm_comm_attr a;
		uint64_t later;
	} big = { .a = HCOMM_COMM_ATTR_INIT };
	struct sockaddr_hcomm addrs[2] = {
		{ .shc_node = 1, .shc_port = 5000 }, { .shc_node = 1, .shc_port = 5001 },
	};
	struct hcomm_comm_attr a = HCOMM_COMM_ATTR_INIT, zero = { 0 };
	struct hcomm_comm *comm = (struct hcomm_comm *)&a;
	int32_t v[4] = { 1, 2, 3, 4 };
	unsigned int fds = t_open_fds();

	T_RET(-EINVAL, hcomm_comm_create(NULL, &comm));
	T_CHECK(!comm, "handle on failure");
	T_RET(-EINVAL, hcomm_comm_create(&a, NULL));
	T_RET(-EINVAL, hcomm_comm_create(&zero, &comm));
	T_CHECK(strstr(hcomm_comm_error_text(NULL), "size"), "\"%s\"", hcomm_comm_error_text(NULL));
	T_RET(-EINVAL, hcomm_comm_create(&a, &comm));		/* nranks 0 */
	a.nranks = 1;
	a.size--;
	T_RET(-EINVAL, hcomm_comm_create(&a, &comm));
	a.size++;
	a.flags = 1u << 31;
	T_RET(-EINVAL, hcomm_comm_create(&a, &comm));
	T_CHECK(strstr(hcomm_comm_error_text(NULL), "flag 0x80000000"), "\"%s\"",
		hcomm_comm_error_text(NULL));
	a.flags = 0;
	a.rank = 1;
	T_RET(-EINVAL, hcomm_comm_create(&a, &comm));
	a.rank = 0;
	a.piece = 63;
	T_RET(-EINVAL, hcomm_comm_create(&a, &comm));
	a.piece = 0;
	a.nranks = 2;
	T_RET(-EINVAL, hcomm_comm_create(&a, &comm));		/* no addresses */
	a.addrs = addrs;
	addrs[1].shc_port = 5000;
	T_RET(-EINVAL, hcomm_comm_create(&a, &comm));
	T_CHECK(strstr(hcomm_comm_error_text(NULL), "ranks 0 and 1 both have 1:5000"), "\"%s\"",
		hcomm_comm_error_text(NULL));
	addrs[1].shc_port = 0;
	T_RET(-EINVAL, hcomm_comm_create(&a, &comm));
	addrs[1].shc_port = 5001;
	addrs[1].shc_reserved1 = 1;
	T_RET(-EINVAL, hcomm_comm_create(&a, &comm));
	/* a newer header: fine while what we do not know is 0 */
	big.a.size = sizeof(big);
	big.a.nranks = 1;
	T_RET(0, hcomm_comm_create(&big.a, &comm));
	T_RET(0, hcomm_comm_destroy(comm));
	big.later = 1;
	T_RET(-E2BIG, hcomm_comm_create(&big.a, &comm));
	big.a.size = 1u << 30;
	T_RET(-E2BIG, hcomm_comm_create(&big.a, &comm));
	setenv("HCOMM_ALGO", "rign", 1);
	big.a.size = sizeof(big.a);
	T_RET(-EINVAL, hcomm_comm_create(&big.a, &comm));
	T_CHECK(strstr(hcomm_comm_error_text(NULL), "rign"), "\"%s\"", hcomm_comm_error_text(NULL));
	unsetenv("HCOMM_ALGO");

	T_RET(0, hcomm_comm_create(&big.a, &comm));
	T_RET(-EINVAL, hcomm_all_reduce(comm, v, NULL, 1, HCOMM_I32, HCOMM_SUM));
	T_RET(-EINVAL, hcomm_all_reduce(comm, v, v, 1, (enum hcomm_type)0, HCOMM_SUM));
	T_RET(-EINVAL, hcomm_all_reduce(comm, v, v, 1, (enum hcomm_type)-1, HCOMM_SUM));
	T_RET(-EINVAL, hcomm_all_reduce(comm, v, v, 1, HCOMM_I32, (enum hcomm_op)0));
	T_RET(-EINVAL, hcomm_all_reduce(comm, v, v, 1, HCOMM_I32, (enum hcomm_op)99));
	T_RET(-EOVERFLOW, hcomm_all_reduce(comm, v, v, SIZE_MAX / 4, HCOMM_I32, HCOMM_SUM));
	T_RET(-EOVERFLOW, hcomm_all_reduce(comm, v, v, SIZE_MAX, HCOMM_F64, HCOMM_SUM));
	/* C10: overlap that is not in place */
	T_RET(-EINVAL, hcomm_all_reduce(comm, v, v + 1, 2, HCOMM_I32, HCOMM_SUM));
	T_RET(-EINVAL, hcomm_all_reduce(comm, v + 1, v, 2, HCOMM_I32, HCOMM_SUM));
	T_RET(0, hcomm_all_reduce(comm, v, v + 2, 2, HCOMM_I32, HCOMM_SUM));
	T_CHECK(v[0] == 1 && v[1] == 2 && v[2] == 1 && v[3] == 2, "one rank copies");
	T_RET(-EINVAL, hcomm_broadcast(comm, v, 1, HCOMM_I32, 1));
	T_RET(-EINVAL, hcomm_broadcast(comm, NULL, 1, HCOMM_I32, 0));
	T_RET(-EINVAL, hcomm_broadcast(comm, v, 1, (enum hcomm_type)9, 0));
	T_RET(-EOVERFLOW, hcomm_broadcast(comm, v, SIZE_MAX / 2, HCOMM_I32, 0));
	T_RET(0, hcomm_broadcast(comm, v, 4, HCOMM_I32, 0));
	T_RET(0, hcomm_barrier(comm));
	T_CHECK(!*hcomm_comm_error_text(comm), "no error");
	T_CHECK(hcomm_comm_rank(comm) == 0 && hcomm_comm_size(comm) == 1, "who");

	/* M8 */
	T_RET(0, hcomm_comm_destroy(comm));
	T_RET(-EBADF, hcomm_comm_destroy(comm));
	T_RET(-EBADF, hcomm_barrier(comm));
	T_RET(-EBADF, hcomm_all_reduce(comm, v, v, 1, HCOMM_I32, HCOMM_SUM));
	T_RET(-EBADF, hcomm_broadcast(comm, v, 1, HCOMM_I32, 0));
	T_RET(-EBADF, hcomm_comm_rank(comm));
	T_RET(-EBADF, hcomm_comm_size(comm));
	T_CHECK(*hcomm_comm_error_text(comm), "text");
	T_RET(-EBADF, hcomm_barrier(NULL));
	T_RET(-EBADF, hcomm_barrier((struct hcomm_comm *)&big));
	T_RET(0, hcomm_comm_destroy(NULL));
	/* the old handle stays dead when its place is used again */
	{
		struct hcomm_comm *old = comm;

		T_RET(0, hcomm_comm_create(&big.a, &comm));
		T_CHECK(comm != old, "same handle");
		T_RET(-EBADF, hcomm_barrier(old));
		T_RET(0, hcomm_comm_destroy(comm));
	}
	T_CHECK(t_open_fds() == fds, "descriptors");
	return 0;
}

static int environment(void)
{
	static const struct {
		const char *rank, *size, *addrs, *other, *value, *text;
	} t[] = {
		{ NULL, "2", "1:5000,1:5001", NULL, NULL, "HCOMM_RANK is not set" },
		{ "0", NULL, "1:5000,1:5001", NULL, NULL, "HCOMM_SIZE is not set" },
		{ "0", "2", NULL, NULL, NULL, "HCOMM_ADDRS is not set" },
		{ "-1", "2", "1:5000,1:5001", NULL, NULL, "HCOMM_RANK: \"-1\"" },
		{ "0x1", "2", "1:5000,1:5001", NULL, NULL, "HCOMM_RANK" },
		{ "2", "2", "1:5000,1:5001", NULL, NULL, "rank 2 of 2" },
		{ "0", "0", "", NULL, NULL, "nranks is 0" },
		{ "0", "99999999999999999999", "1:5000", NULL, NULL, "HCOMM_SIZE" },
		{ "0", "2", "1:5000", NULL, NULL, "1 addresses, HCOMM_SIZE is 2" },
		{ "0", "2", "1:5000,1:5001,1:5002", NULL, NULL, "more than HCOMM_SIZE=2" },
		{ "0", "2", "1:5000,15001", NULL, NULL, "\"15001\" for rank 1" },
		{ "0", "2", "1:5000,1:", NULL, NULL, "rank 1 is not NODE:PORT" },
		{ "0", "2", "1:5000,:5001", NULL, NULL, "rank 1 is not NODE:PORT" },
		{ "0", "2", "1:4294967296,1:5001", NULL, NULL, "rank 0 is not NODE:PORT" },
		{ "0", "2", "1:5000,1:5001", "HCOMM_TIMEOUT_MS", "soon", "HCOMM_TIMEOUT_MS" },
		{ "0", "2", "1:5000,1:5001", "HCOMM_PIECE", "100", "piece is 100" },
		{ "0", "2", "1:5000,1:5001", "HCOMM_ORDERED", "yes", "HCOMM_ORDERED" },
		{ "0", "2", "1:5000,1:5001", "HCOMM_ALGO", "ring;x", "\"x\"" },
	};
	struct hcomm_comm *comm;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const char *text;

		unsetenv("HCOMM_RANK");
		unsetenv("HCOMM_SIZE");
		unsetenv("HCOMM_ADDRS");
		if (t[i].rank)
			setenv("HCOMM_RANK", t[i].rank, 1);
		if (t[i].size)
			setenv("HCOMM_SIZE", t[i].size, 1);
		if (t[i].addrs)
			setenv("HCOMM_ADDRS", t[i].addrs, 1);
		if (t[i].other)
			setenv(t[i].other, t[i].value, 1);
		T_RET(-EINVAL, hcomm_comm_create_env(&comm));
		text = hcomm_comm_error_text(NULL);
		T_CHECK(strstr(text, t[i].text), "\"%s\", not \"%s\"", text, t[i].text);
		if (t[i].other)
			unsetenv(t[i].other);
	}
	setenv("HCOMM_RANK", "0", 1);
	setenv("HCOMM_SIZE", "1", 1);
	unsetenv("HCOMM_ADDRS");
	T_RET(0, hcomm_comm_create_env(&comm));
	T_RET(0, hcomm_comm_destroy(comm));
	unsetenv("HCOMM_RANK");
	unsetenv("HCOMM_SIZE");
	return 0;
}

/* A rank dies, or only stops; the others are told, and in time. */
enum death { D_EXIT, D_MIDDLE, D_LEAVE, D_STOP };

static void on_alarm(int sig)
{
	(void)sig;
	_exit(0);
}

static int death(uint32_t rank, uint32_t n, void *arg)
{
	enum death how = *(enum death *)arg;
	struct hcomm_comm_attr attr = t_attr(rank, n);
	size_t count = 1 << 20, i;
	struct hcomm_comm *comm;
	float *buf = calloc(count, sizeof(*buf));
	int64_t begin;
	int ret = 0, k;

	attr.timeout_ms = how == D_STOP ? 2000 : 20000;
	T_RET(0, t_comm(&attr, &comm));
	for (k = 0; k < 1000 && !ret; k++) {
		begin = t_now_ms();
		if (rank == 1 && k == 5) {
			pid_t pid;

			switch (how) {
			case D_EXIT:
				_exit(0);
			case D_MIDDLE:
				/* as if killed within a call; the status stays 0 */
				signal(SIGALRM, on_alarm);
				ualarm(1500, 0);
				break;
			case D_LEAVE:
				T_RET(0, hcomm_comm_destroy(comm));
				free(buf);
				return 0;
			default:
				pid = getpid();
				if (!fork()) {
					sleep(5);
					kill(pid, SIGCONT);
					_exit(0);
				}
				raise(SIGSTOP);
			}
		}
		for (i = 0; i < count; i++)
			buf[i] = 1;
		ret = hcomm_all_reduce(comm, NULL, buf, count, HCOMM_F32, HCOMM_SUM);
	}
	if (how == D_STOP) {
		/* the stopped one was full of data: the error may not have reached it */
		if (rank != 1 || ret != -ECONNRESET)
			T_RET(-ETIMEDOUT, ret);
		T_CHECK(rank == 1 || t_now_ms() - begin < 4000, "%d ms", (int)(t_now_ms() - begin));
	} else {
		T_RET(-ECONNRESET, ret);
		T_CHECK(t_now_ms() - begin < 2000, "%d ms", (int)(t_now_ms() - begin));
		T_CHECK(strstr(hcomm_comm_error_text(comm), "rank 1 "), "\"%s\"",
			hcomm_comm_error_text(comm));
	}
	free(buf);
	T_RET(0, hcomm_comm_destroy(comm));
	return 0;
}

int main(int argc, char **argv)
{
	bool quick = argc > 1 && !strcmp(argv[1], "-q");
	int ret = t_init(), rounds = quick ? 1000 : 10000;
	uint32_t most = t_ranks_max(quick ? t_real ? 4 : 5 : 9), n;
	struct plan p;
	size_t a;

	if (ret)
		return ret;
	if (!t_is_rank())
		ret = arguments() || environment();
	for (a = 0; a < sizeof(algos) / sizeof(algos[0]) && !ret; a++) {
		if (*algos[a])
			setenv("HCOMM_ALGO", algos[a], 1);
		else
			unsetenv("HCOMM_ALGO");
		for (p.wrong = 0; p.wrong < W_ALL && !ret; p.wrong++)
			for (n = 2; n <= most && !ret; n++) {
				/* every rank in its turn for few ranks */
				uint32_t step = n > 4 ? n / 2 : 1;

				for (p.odd = n - 1; p.odd < n && !ret; p.odd -= step)
					ret = t_ranks(n, disagree, &p, 40);
				if (ret)
					t_say("\"%s\", %s, %u ranks", algos[a],
					      wrongs[p.wrong].name, n);
			}
	}
	fprintf(stderr, "mismatch: disagreement: %s\n", ret ? "failed" : "passed");
	if (!ret)
		ret = t_ranks(2, busy, NULL, 30);
	if (!ret && most >= 3)
		ret = t_ranks(3, two_lanes, &rounds, 60);
	if (!ret && !t_is_rank() && !t_is_threads()) {
		static enum death how[] = { D_EXIT, D_MIDDLE, D_LEAVE, D_STOP };

		for (a = 0; a < 4 && !ret; a++)
			for (n = 2; n <= 4 && !ret; n++) {
				ret = t_ranks(n, death, &how[a], 40);
				if (ret)
					t_say("death %d of rank 1 of %u", how[a], n);
			}
	}
	printf("mismatch: %s\n", ret ? "failed" : "passed");
	return ret;
}
