// SPDX-License-Identifier: GPL-2.0
/*
 * Results of barrier, broadcast and all_reduce: every number of ranks, every
 * algorithm, awkward counts, in place and not, against what is computed here.
 */
#include <math.h>
#include <sys/mman.h>

#include "t.h"

static const char *const reduce_algos[] = {
	"all_reduce:oneshot", "all_reduce:doubling", "all_reduce:twoshot",
	"all_reduce:halving", "all_reduce:ring", "",
};
static const char *const bcast_algos[] = { "broadcast:tree", "broadcast:chain", "" };

#define NREDUCE	(sizeof(reduce_algos) / sizeof(reduce_algos[0]))
#define NBCAST	(sizeof(bcast_algos) / sizeof(bcast_algos[0]))

struct plan {
	uint32_t piece;
	uint32_t flags;
	uint32_t big;		/* the largest count */
	const char *algo;
};

static int make(uint32_t rank, uint32_t n, const struct plan *p, struct hcomm_comm **comm)
{
	struct hcomm_comm_attr attr = t_attr(rank, n);

	attr.piece = p->piece;
	attr.flags = p->flags;
	return t_comm(&attr, comm);
}

/* C1, C2: x_r[i] = i + r; the sum is n i + n (n - 1) / 2. */
static int sums(uint32_t rank, uint32_t n, void *arg)
{
	const struct plan *p = arg;
	size_t counts[] = { 0, 1, n - 1, n, n + 1, 2 * n + 1, 4096, 65539 };
	struct hcomm_comm *comm;
	size_t k, i, in_place;
	int64_t *send, *recv;

	T_RET(0, make(rank, n, p, &comm));
	T_CHECK(hcomm_comm_rank(comm) == (int)rank && hcomm_comm_size(comm) == (int)n, "who");
	send = malloc(65540 * sizeof(*send));
	recv = malloc(65540 * sizeof(*recv));
	for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		size_t count = counts[k] < p->big ? counts[k] : p->big;

		for (in_place = 0; in_place < 3; in_place++) {
			int64_t *from = in_place ? recv : send;
			int32_t one = (int32_t)rank + 1;

			for (i = 0; i <= count; i++)
				recv[i] = -1;
			for (i = 0; i < count; i++)
				from[i] = (int64_t)(i + rank);
			T_RET(0, hcomm_all_reduce(comm, in_place == 2 ? NULL : from, recv, count,
						  HCOMM_I64, HCOMM_SUM));
			for (i = 0; i < count; i++)
				T_CHECK(recv[i] == (int64_t)(n * i + (uint64_t)n * (n - 1) / 2),
					"n %u count %zu element %zu: %lld (%s)", n, count, i,
					(long long)recv[i], p->algo);
			T_CHECK(recv[count] == -1, "overrun");
			for (i = 0; !in_place && i < count; i++)
				T_CHECK(send[i] == (int64_t)(i + rank), "send buffer changed");
			T_RET(0, hcomm_all_reduce(comm, &one, &one, 1, HCOMM_I32, HCOMM_SUM));
			T_CHECK(one == (int32_t)(n * (n + 1) / 2), "n %u: %d", n, one);
		}
	}
	/* C19 */
	T_RET(0, hcomm_all_reduce(comm, NULL, NULL, 0, HCOMM_F32, HCOMM_MAX));
	T_RET(0, hcomm_barrier(comm));
	free(send);
	free(recv);
	T_RET(0, hcomm_comm_destroy(comm));
	return 0;
}

static int broadcasts(uint32_t rank, uint32_t n, void *arg)
{
	const struct plan *p = arg;
	size_t counts[] = { 0, 1, n - 1, n, n + 1, 2 * n + 1, 4096, 65539 };
	struct hcomm_comm *comm;
	size_t k, i;
	uint64_t *buf;
	uint32_t root;

	T_RET(0, make(rank, n, p, &comm));
	buf = malloc(65540 * sizeof(*buf));
	for (root = 0; root < n; root++)
		for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
			size_t count = counts[k] < p->big ? counts[k] : p->big;

			for (i = 0; i <= count; i++)
				buf[i] = rank == root ? i * 3 + root : 77;
			T_RET(0, hcomm_broadcast(comm, buf, count, HCOMM_U64, root));
			for (i = 0; i < count; i++)
				T_CHECK(buf[i] == i * 3 + root, "n %u root %u count %zu element %zu",
					n, root, count, i);
			T_CHECK(rank == root || buf[count] == 77, "overrun");
		}
	T_RET(0, hcomm_broadcast(comm, NULL, 0, HCOMM_F64, n - 1));
	free(buf);
	T_RET(0, hcomm_comm_destroy(comm));
	return 0;
}

/* All ranks must hold the same bytes. */
static int same_everywhere(struct hcomm_comm *comm, const void *data, size_t len)
{
	size_t words = (len + 3) / 4;
	char *copy = calloc(words, 4);

	memcpy(copy, data, len);
	T_RET(0, hcomm_broadcast(comm, copy, words, HCOMM_I32, 0));
	T_CHECK(!memcmp(copy, data, len), "ranks differ");
	free(copy);
	return 0;
}

/* Any data, every type and operation: the same bits on all ranks, each time. */
static int same_bits(uint32_t rank, uint32_t n, void *arg)
{
	const struct plan *p = arg;
	size_t count = 3001 < p->big ? 3001 : p->big, i;
	struct hcomm_comm *comm;
	unsigned char *send = malloc(count * 8), *recv = malloc(count * 8), *first = malloc(count * 8);
	int type, op, again;

	T_RET(0, make(rank, n, p, &comm));
	for (type = HCOMM_I32; type <= HCOMM_F64; type++)
		for (op = HCOMM_SUM; op <= HCOMM_PROD; op++) {
			size_t len = count * (type == HCOMM_I32 || type == HCOMM_F32 ? 4 : 8);
			uint64_t state = rank + 1;

			/* floats of all kinds, with infinities and NaNs in them */
			for (i = 0; i < count * 8; i++)
				send[i] = (unsigned char)t_random(&state);
			for (again = 0; again < 3; again++) {
				T_RET(0, hcomm_all_reduce(comm, send, recv, count,
							  (enum hcomm_type)type, (enum hcomm_op)op));
				if (again == 0)
					memcpy(first, recv, len);
				T_CHECK(!memcmp(first, recv, len), "differs when repeated");
			}
			if (same_everywhere(comm, recv, len))
				return 1;
		}
	free(send);
	free(recv);
	free(first);
	T_RET(0, hcomm_comm_destroy(comm));
	return 0;
}

/* C3, C4, C13, C14 */
static int values(uint32_t rank, uint32_t n, void *arg)
{
	const struct plan *p = arg;
	struct hcomm_comm *comm;
	uint32_t at, again, bits;

	T_RET(0, make(rank, n, p, &comm));
	if (n == 4) {
		static const float hard[4] = { 1e8f, 1.0f, -1e8f, 1.0f };
		double d[2] = { rank, rank ? 1.0 / rank : 0.0 };
		float first = 0.0f;

		T_RET(0, hcomm_all_reduce(comm, d, d, 2, HCOMM_F64, HCOMM_SUM));
		T_CHECK(d[0] == 6.0, "%.17g", d[0]);
		T_CHECK(fabs(d[1] - 1.8333333333333333) < 1e-15, "%.17g", d[1]);
		for (again = 0; again < 100; again++) {
			float f = hard[rank];

			T_RET(0, hcomm_all_reduce(comm, NULL, &f, 1, HCOMM_F32, HCOMM_SUM));
			if (!again)
				first = f;
			T_CHECK(!memcmp(&f, &first, 4), "%g, then %g", (double)first, (double)f);
			if (p->flags & HCOMM_COMM_ORDERED)
				T_CHECK(f == 1.0f, "%g", (double)f);
		}
		if (same_everywhere(comm, &first, 4))
			return 1;
	}
	if (n == 3) {
		static const int32_t v[3] = { 10, -300, -150 };
		int32_t x = v[rank];

		T_RET(0, hcomm_all_reduce(comm, &x, &x, 1, HCOMM_I32, HCOMM_MIN));
		T_CHECK(x == -300, "%d", x);
		x = v[rank];
		T_RET(0, hcomm_all_reduce(comm, &x, &x, 1, HCOMM_I32, HCOMM_MAX));
		T_CHECK(x == 10, "%d", x);
	}
	for (at = 0; at < n; at++) {
		int op;

		for (op = HCOMM_SUM; op <= HCOMM_PROD; op++) {
			float f = rank == at ? NAN : (float)rank + 1;

			T_RET(0, hcomm_all_reduce(comm, &f, &f, 1, HCOMM_F32, (enum hcomm_op)op));
			memcpy(&bits, &f, 4);
			T_CHECK(bits == 0x7fc00000, "NaN on %u, op %d: %08x", at, op, bits);
		}
		for (op = HCOMM_MIN; op <= HCOMM_MAX; op++) {
			float f = rank == at ? -0.0f : 0.0f;

			T_RET(0, hcomm_all_reduce(comm, &f, &f, 1, HCOMM_F32, (enum hcomm_op)op));
			T_CHECK(f == 0.0f && !signbit(f) == (op == HCOMM_MAX), "-0 on %u, op %d", at, op);
		}
	}
	T_RET(0, hcomm_comm_destroy(comm));
	return 0;
}

/* C17: any alignment, and not a byte past the end. */
static int edges(uint32_t rank, uint32_t n, void *arg)
{
	static const size_t counts[] = { 1, 3, 4099, 10556587 };
	const struct plan *p = arg;
	struct hcomm_comm *comm;
	size_t k, i, off;

	T_RET(0, make(rank, n, p, &comm));
	for (k = 0; k < 4; k++)
		for (off = 1; off <= 8; off *= 2) {
			size_t count = counts[k] < p->big ? counts[k] : p->big, len;
			int type = k % 2 ? HCOMM_F64 : HCOMM_I32, size = k % 2 ? 8 : 4;
			void *smap, *rmap;
			size_t smap_len, rmap_len;
			unsigned char *send, *recv;

			if (count > 4099)
				size = 4, type = HCOMM_I32;
			len = count * (size_t)size;
			/* the end touches the page; the start is odd when asked */
			send = t_guarded(len, &smap, &smap_len);
			recv = t_guarded(len + off, &rmap, &rmap_len);
			for (i = 0; i < count; i++) {
				int32_t v = (int32_t)(i * 5 + rank);
				double d = v;

				memcpy(send + i * (size_t)size, size == 8 ? (void *)&d : (void *)&v,
				       (size_t)size);
			}
			T_RET(0, hcomm_all_reduce(comm, send, recv, count, (enum hcomm_type)type, HCOMM_SUM));
			for (i = 0; i < count; i++) {
				int32_t v, want = (int32_t)(n * i * 5 + n * (n - 1) / 2);
				double d;

				if (size == 8) {
					memcpy(&d, recv + i * 8, 8);
					v = (int32_t)d;
				} else {
					memcpy(&v, recv + i * 4, 4);
				}
				T_CHECK(v == want, "count %zu offset %zu element %zu", count, off, i);
			}
			T_RET(0, hcomm_broadcast(comm, recv + off, count, (enum hcomm_type)type, 0));
			munmap(smap, smap_len);
			munmap(rmap, rmap_len);
			if (count > 4099)
				break;
		}
	T_RET(0, hcomm_comm_destroy(comm));
	return 0;
}

/* A mixture of calls, sizes and roots, one after another without pause. */
static int mixture(uint32_t rank, uint32_t n, void *arg)
{
	const struct plan *p = arg;
	uint64_t same = 99;	/* the same choices on all ranks */
	struct hcomm_comm *comm;
	int32_t *buf = malloc(20000 * sizeof(*buf));
	int i;

	T_RET(0, make(rank, n, p, &comm));
	for (i = 0; i < 300; i++) {
		uint64_t v = t_random(&same);
		size_t count = v >> 32 & (v >> 60 ? 0xff : 0x3fff), k;
		uint32_t root = (uint32_t)(v >> 8 & 0xff) % n;

		switch (v % 3) {
		case 0:
			T_RET(0, hcomm_barrier(comm));
			break;
		case 1:
			for (k = 0; k < count; k++)
				buf[k] = rank == root ? (int32_t)k + i : 0;
			T_RET(0, hcomm_broadcast(comm, buf, count, HCOMM_I32, root));
			for (k = 0; k < count; k++)
				T_CHECK(buf[k] == (int32_t)k + i, "broadcast %d", i);
			break;
		default:
			for (k = 0; k < count; k++)
				buf[k] = (int32_t)(k + rank + (uint32_t)i);
			T_RET(0, hcomm_all_reduce(comm, NULL, buf, count, HCOMM_I32, HCOMM_SUM));
			for (k = 0; k < count; k++)
				T_CHECK(buf[k] == (int32_t)(n * (k + (uint32_t)i) + n * (n - 1) / 2),
					"all_reduce %d", i);
		}
	}
	free(buf);
	T_RET(0, hcomm_comm_destroy(comm));
	return 0;
}

static int each(const char *name, const char *algo, t_rank_fn fn, struct plan *p,
		uint32_t from, uint32_t to)
{
	uint32_t n;
	int ret;

	p->algo = algo;
	if (*algo)
		setenv("HCOMM_ALGO", algo, 1);
	else
		unsetenv("HCOMM_ALGO");
	for (n = from; n <= t_ranks_max(to); n++) {
		ret = t_ranks(n, fn, p, 60);
		if (ret) {
			t_say("%s failed: %u ranks, piece %u, \"%s\"", name, n, p->piece, algo);
			return ret;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	/* Small pieces make short vectors long; 0 is what users have. */
	static const uint32_t pieces[] = { 0, 64, 4096 };
	bool quick = argc > 1 && !strcmp(argv[1], "-q");
	/* In the lab one slow processor may do the work of all ranks. */
	uint32_t most = quick ? t_real ? 4 : 6 : 17;
	int ret = t_init();
	size_t k, a;

	if (ret)
		return ret;
	for (k = 0; k < 3 && !ret; k += quick && t_real ? 2 : 1) {
		struct plan p = { .piece = pieces[k], .big = pieces[k] == 64 ? 4096 : 65539 };
		struct plan ordered = p;
		uint32_t top = k ? (most < 9 ? most : 9) : most;

		ordered.flags = HCOMM_COMM_ORDERED;
		for (a = 0; a < NREDUCE && !ret; a++) {
			ret = each("sums", reduce_algos[a], sums, &p, 1, top) ||
			      each("bits", reduce_algos[a], same_bits, &p, 2, top < 5 ? top : 5) ||
			      each("values", reduce_algos[a], values, &p, 2, top < 5 ? top : 5) ||
			      each("ordered values", reduce_algos[a], values, &ordered, 3, top < 5 ? top : 5) ||
			      each("mixture", reduce_algos[a], mixture, &p, 2, top < 6 ? top : 6);
			if (!ret && !quick && k != 1)
				ret = each("edges", reduce_algos[a], edges, &p, 3, 3);
			if (!ret && k == 0) {
				struct plan large = { .big = UINT32_MAX };

				ret = each("large", reduce_algos[a], edges, &large, 3, quick ? 2 : 3);
			}
		}
		for (a = 0; a < NBCAST && !ret; a++)
			ret = each("broadcasts", bcast_algos[a], broadcasts, &p, 1, top) ||
			      each("mixture", bcast_algos[a], mixture, &p, 2, top < 6 ? top : 6);
		if (!t_is_rank() || !ret)
			fprintf(stderr, "coll: pieces of %u: %s\n", pieces[k], ret ? "failed" : "passed");
	}
	printf("coll: %s\n", ret ? "failed" : "passed");
	return ret;
}
