// SPDX-License-Identifier: GPL-2.0
/* The pure parts of libhcomm: arithmetic, division, messages, choices. */
#include <math.h>
#include <sys/mman.h>

#include "../../lib/src/algo.h"
#include "../../lib/src/msg.h"
#include "../../lib/src/reduce.h"
#include "../../lib/src/segment.h"
#include "t.h"

static int segments(void)
{
	uint64_t sum = 0, at = 0;
	uint32_t i, n;

	/* 32-bit arithmetic would give 410065408 */
	T_CHECK(hc_seg_first(1500000000, 4, 3) * 8 == 9000000000ull, "offset");
	for (i = 0; i < 3; i++) {
		T_CHECK(hc_seg_first((1ull << 33) + 5, 3, i) == sum, "segment %u", i);
		sum += hc_seg_count((1ull << 33) + 5, 3, i);
	}
	T_CHECK(sum == (1ull << 33) + 5, "sum");
	for (n = 1; n < 40; n++) {
		uint64_t count;

		for (count = 0; count < 100; count++) {
			for (i = 0, at = 0; i < n; i++) {
				T_CHECK(hc_seg_first(count, n, i) == at, "%u", n);
				at += hc_seg_count(count, n, i);
			}
			T_CHECK(at == count, "%u", n);
		}
	}
	for (n = 1; n < 20; n++) {
		T_CHECK(hc_pow2_floor(n) <= n && hc_pow2_floor(n) * 2 > n, "%u", n);
		for (i = 0; i < n; i++) {
			uint32_t by;

			for (by = 0; by < n; by++) {
				T_CHECK(hc_rank_up(i, by, n) == (i + by) % n, "up");
				T_CHECK(hc_rank_down(i, by, n) == (i + n - by) % n, "down");
			}
		}
	}
	T_CHECK(hc_pow2_floor(UINT32_MAX) == 1u << 31, "largest");
	return 0;
}

static int messages(void)
{
	struct hc_hdr h = {
		.call = { .seq = 0x0102030405060708, .count = 1ull << 40, .root = 7,
			  .kind = HC_KIND_ALL_REDUCE, .type = HCOMM_F32,
			  .op = HCOMM_SUM, .algo = 2 },
		.offset = 1ull << 35, .len = 4711, .rank = 3, .err = 0,
		.step = 513, .msg = HC_MSG_DATA,
	}, g = h, k;
	struct hc_hello a = { .abi = HC_LIB_ABI, .job = 99, .rank = 1, .to = 0,
			      .nranks = 4, .little = 1, .piece = 64 }, b;
	uint8_t buf[HC_HELLO_LEN + 1], one[HC_HDR_LEN];
	uint64_t state = 1;
	char text[200];
	size_t i;

	hc_hdr_put(one, &h);
	/* the same bytes on every machine */
	T_CHECK(one[0] == 'H' && one[3] == '1' && one[16] == 8 && one[23] == 1, "layout");
	T_CHECK(hc_hdr_get(one, sizeof(one), &k), "get");
	T_CHECK(k.call.seq == h.call.seq && k.call.count == h.call.count &&
		k.call.root == 7 && k.offset == h.offset && k.len == h.len &&
		k.rank == 3 && k.step == 513 && k.call.algo == 2, "fields");
	for (i = 0; i < sizeof(one); i++)
		T_CHECK(!hc_hdr_get(one, i, &k), "%zu bytes", i);
	T_CHECK(hc_call_same(&h.call, 3, &g.call, 0, text, sizeof(text)), "same");
	h.call.count = 1023;
	g.call.count = 1024;
	T_CHECK(!hc_call_same(&h.call, 3, &g.call, 0, text, sizeof(text)), "count");
	T_CHECK(strstr(text, "count mismatch: rank 3 has 1023, rank 0 has 1024"), "%s", text);
	h.call.op = HCOMM_MAX;
	hc_call_same(&h.call, 3, &g.call, 0, text, sizeof(text));
	T_CHECK(strstr(text, "operation mismatch: rank 3 has max, rank 0 has sum"), "%s", text);
	h.call.kind = HC_KIND_BARRIER;
	hc_call_same(&h.call, 3, &g.call, 0, text, sizeof(text));
	T_CHECK(strstr(text, "call mismatch: rank 3 has barrier, rank 0 has all_reduce"), "%s", text);

	hc_hello_put(buf, &a);
	T_CHECK(hc_hello_get(buf, HC_HELLO_LEN, &b), "hello");
	T_CHECK(!memcmp(&a, &b, sizeof(a)), "hello fields");
	T_CHECK(!hc_hello_get(buf, HC_HELLO_LEN - 1, &b), "short");
	T_CHECK(!hc_hello_get(buf, HC_HELLO_LEN + 1, &b), "long");
	T_CHECK(hc_hello_fits(&a, &a, text, sizeof(text)), "fits");
	hc_hello_get(buf, HC_HELLO_LEN, &b);
	b.rank = 0;
	b.piece = 128;
	T_CHECK(!hc_hello_fits(&a, &b, text, sizeof(text)) &&
		strstr(text, "piece size differs: rank 1 has 64, rank 0 has 128"), "%s", text);
	/* a later version: known by its first 32 bytes, whatever follows */
	buf[8] = 2;
	T_CHECK(hc_hello_get(buf, 40, &b) && b.abi == 2 && b.job == 99, "later");
	T_CHECK(!hc_hello_fits(&b, &a, text, sizeof(text)) &&
		strstr(text, "version differs: rank 1 has 2, rank 1 has 1"), "%s", text);
	for (i = 0; i < 100000; i++) {
		size_t len = t_random(&state) % (sizeof(one) + 1), n;

		hc_hdr_put(one, &g);
		for (n = 0; n < 4; n++)
			one[t_random(&state) % sizeof(one)] = (uint8_t)t_random(&state);
		if (hc_hdr_get(one, len, &k))
			hc_call_same(&k.call, 1, &g.call, 0, text, sizeof(text));
		hc_hello_put(buf, &a);
		for (n = 0; n < 4; n++)
			buf[t_random(&state) % HC_HELLO_LEN] = (uint8_t)t_random(&state);
		if (hc_hello_get(buf, t_random(&state) % HC_HELLO_LEN, &b))
			hc_hello_fits(&a, &b, text, sizeof(text));
	}
	return 0;
}

static int choices(void)
{
	static const struct {
		const char *env;
		bool ok;
		uint32_t reduce, bcast;
	} t[] = {
		{ NULL, true, 31, 3 },
		{ "", true, 31, 3 },
		{ "ring", true, 16, 3 },
		{ "ring,chain", true, 16, 2 },
		{ "^ring", true, 15, 3 },
		{ "allreduce:twoshot;broadcast:tree", true, 4, 1 },
		{ "all_reduce:^oneshot,doubling;bcast:^tree", true, 28, 2 },
		{ "rnig", false, 0, 0 },
		{ "ring,", false, 0, 0 },
		{ ";", false, 0, 0 },
		{ "all_reduce:chain", false, 0, 0 },
		{ "all_gather:ring", false, 0, 0 },
		{ "bcast:^tree,chain", false, 0, 0 },
		{ "all_reduce:", false, 0, 0 },
	};
	struct hc_algos a;
	char text[100];
	uint32_t n, bit;
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		T_CHECK(hc_algos_parse(&a, t[i].env, text, sizeof(text)) == t[i].ok,
			"\"%s\"", t[i].env ? t[i].env : "NULL");
		if (t[i].ok)
			T_CHECK(a.reduce == t[i].reduce && a.bcast == t[i].bcast,
				"\"%s\": %u %u", t[i].env, a.reduce, a.bcast);
	}
	for (n = 2; n < 100; n++)
		for (i = 0; i < 40; i++)
			for (bit = 0; bit < HC_REDUCE_ALGOS; bit++) {
				unsigned int got = hc_reduce_choose(1u << bit, n, 1ull << i, false);

				T_CHECK(got == bit, "only %u is allowed, %u chosen", bit, got);
				got = hc_reduce_choose(31, n, 1ull << i, true);
				T_CHECK(got == HC_REDUCE_ONESHOT || got == HC_REDUCE_TWOSHOT, "order");
			}
	T_CHECK(hc_reduce_choose(31, 3, 8 << 20, false) == HC_REDUCE_TWOSHOT, "three ranks");
	T_CHECK(hc_reduce_choose(31, 3, 8, false) == HC_REDUCE_ONESHOT, "three ranks");
	return 0;
}

/* The plain meaning of an operation, without any trick. */
static double ref_f64(int op, double x, double y)
{
	if (op == HCOMM_SUM)
		return x + y;
	if (op == HCOMM_PROD)
		return x * y;
	if (isnan(x) || isnan(y))
		return NAN;
	if (x == y)
		return op == HCOMM_MIN ? (signbit(x) ? x : y) : (signbit(x) ? y : x);
	return (op == HCOMM_MIN) == (x < y) ? x : y;
}

static float ref_f32(int op, float x, float y)
{
	if (op == HCOMM_SUM)
		return x + y;
	if (op == HCOMM_PROD)
		return x * y;
	return (float)ref_f64(op, (double)x, (double)y);
}

static int64_t ref_i64(int op, int64_t x, int64_t y)
{
	if (op == HCOMM_SUM)
		return (int64_t)((uint64_t)x + (uint64_t)y);
	if (op == HCOMM_PROD)
		return (int64_t)((uint64_t)x * (uint64_t)y);
	return (op == HCOMM_MIN) == (x < y) ? x : y;
}

static uint64_t ref_u64(int op, uint64_t x, uint64_t y)
{
	if (op == HCOMM_MIN || op == HCOMM_MAX)
		return (op == HCOMM_MIN) == (x < y) ? x : y;
	return (uint64_t)ref_i64(op, (int64_t)x, (int64_t)y);
}

/* An element as an application would want it least. */
static void odd_value(int type, void *out, uint64_t *state)
{
	static const float f[] = { 0.0f, -0.0f, 1.0f, -1.5f, INFINITY, -INFINITY,
				   1e-40f, -1e-45f, 3.4e38f, 1e8f };
	uint64_t v = t_random(state);
	float nanf_payload;
	uint32_t bits = 0xffc00123u | (uint32_t)(v & 0xff00);
	uint64_t wide = 0xfff8000000000123ull | (v & 0xff0000);
	double nan_payload;

	memcpy(&nanf_payload, &bits, 4);
	memcpy(&nan_payload, &wide, 8);
	if (type == HCOMM_F32) {
		float x = v % 11 == 10 ? nanf_payload : v % 3 ? f[v % 10] : (float)(int32_t)(v >> 32) / 7;

		memcpy(out, &x, 4);
	} else if (type == HCOMM_F64) {
		double x = v % 11 == 10 ? nan_payload : v % 3 ? (double)f[v % 10] :
			   (double)(int32_t)(v >> 32) / 7;

		memcpy(out, &x, 8);
	} else {
		memcpy(out, &v, hc_type_size(type));
	}
}

static bool same_element(int type, int op, const void *x, const void *y, const void *got)
{
	size_t size = hc_type_size(type);
	unsigned char want[8];

	switch (type) {
	case HCOMM_I32: {
		int32_t a, b, r;

		memcpy(&a, x, 4);
		memcpy(&b, y, 4);
		/* MIN and MAX of 64 bits give the same, sums are cut */
		r = (int32_t)(uint32_t)ref_i64(op, a, b);
		memcpy(want, &r, 4);
		break;
	}
	case HCOMM_I64: {
		int64_t a, b, r;

		memcpy(&a, x, 8);
		memcpy(&b, y, 8);
		r = ref_i64(op, a, b);
		memcpy(want, &r, 8);
		break;
	}
	case HCOMM_U64: {
		uint64_t a, b, r;

		memcpy(&a, x, 8);
		memcpy(&b, y, 8);
		r = ref_u64(op, a, b);
		memcpy(want, &r, 8);
		break;
	}
	case HCOMM_F32: {
		static const uint32_t nan_bits = 0x7fc00000;
		float a, b, r;

		memcpy(&a, x, 4);
		memcpy(&b, y, 4);
		r = ref_f32(op, a, b);
		memcpy(want, isnan(r) ? (const void *)&nan_bits : &r, 4);
		break;
	}
	default: {
		static const uint64_t nan_bits = 0x7ff8000000000000;
		double a, b, r;

		memcpy(&a, x, 8);
		memcpy(&b, y, 8);
		r = ref_f64(op, a, b);
		memcpy(want, isnan(r) ? (const void *)&nan_bits : &r, 8);
		break;
	}
	}
	return !memcmp(want, got, size);
}

static int arithmetic(void)
{
	enum { N = 67 };
	_Alignas(64) unsigned char a[N * 8 + 16], b[N * 8 + 16], d[N * 8 + 16], old[N * 8];
	uint64_t state = 42;
	int type, op, round, i;

	T_CHECK(!hc_reduce_get(0, HCOMM_SUM) && !hc_reduce_get(HCOMM_F64 + 1, HCOMM_SUM) &&
		!hc_reduce_get(HCOMM_I32, 0) && !hc_reduce_get(HCOMM_I32, HCOMM_PROD + 1), "bad");
	for (type = HCOMM_I32; type <= HCOMM_F64; type++)
		for (op = HCOMM_SUM; op <= HCOMM_PROD; op++)
			for (round = 0; round < 400; round++) {
				size_t size = hc_type_size(type), n = t_random(&state) % (N + 1);
				unsigned char *pa = a + t_random(&state) % 9;
				unsigned char *pb = b + t_random(&state) % 9;
				unsigned char *pd = d + t_random(&state) % 9;
				const unsigned char *x = pa, *y = pb;

				for (i = 0; i < N; i++) {
					odd_value(type, pa + i * size, &state);
					odd_value(type, pb + i * size, &state);
				}
				/* in place of either operand, too */
				if (round % 3 == 1) {
					memcpy(old, pa, n * size);
					pd = pa;
					x = old;
				} else if (round % 3 == 2) {
					memcpy(old, pb, n * size);
					pd = pb;
					y = old;
				}
				hc_reduce_get(type, op)(pd, pa, pb, n);
				for (i = 0; i < (int)n; i++)
					T_CHECK(same_element(type, op, x + i * size, y + i * size,
							     pd + i * size),
						"type %d op %d n %zu element %d", type, op, n, i);
			}
	return 0;
}

/* Many sources: the order of the sources, in place of any, no byte too far. */
static int many(void)
{
	enum { N = 3001, SRC = 7 };
	const void *src[SRC];
	uint64_t state = 7;
	size_t nsrc, n, i, s, alias;
	float *f[SRC], *want = malloc(N * sizeof(float));
	void *map[SRC + 1];
	size_t map_len[SRC + 1];
	float *d = t_guarded(N * sizeof(float), &map[SRC], &map_len[SRC]);

	for (s = 0; s < SRC; s++)
		f[s] = t_guarded(N * sizeof(float), &map[s], &map_len[s]);
	for (nsrc = 1; nsrc <= SRC; nsrc++)
		for (n = 0; n <= N; n += n < 5 ? 1 : 749)
			for (alias = 0; alias <= nsrc; alias++) {
				float *dst = alias < nsrc ? f[alias] + N - n : d + N - n;

				for (s = 0; s < nsrc; s++) {
					src[s] = f[s] + N - n;
					for (i = 0; i < n; i++)
						f[s][N - n + i] = (float)(int)(t_random(&state) % 2000) / 7;
				}
				for (i = 0; i < n; i++) {
					want[i] = f[0][N - n + i];
					for (s = 1; s < nsrc; s++)
						want[i] += f[s][N - n + i];
				}
				hc_reduce_many(hc_reduce_get(HCOMM_F32, HCOMM_SUM), 4, dst,
					       src, nsrc, n);
				T_CHECK(!memcmp(dst, want, n * 4), "nsrc %zu n %zu alias %zu",
					nsrc, n, alias);
			}
	for (s = 0; s <= SRC; s++)
		munmap(map[s], map_len[s]);
	free(want);
	return 0;
}

static int texts(void)
{
	int e;

	for (e = -200; e < 200; e++)
		T_CHECK(hcomm_strerror(e) && *hcomm_strerror(e), "%d", e);
	T_CHECK(hcomm_strerror(INT32_MIN) && hcomm_strerror(INT32_MAX), "ends");
	T_CHECK(!strcmp(hcomm_strerror(-EPROTO), hcomm_strerror(EPROTO)), "sign");
	T_CHECK(hcomm_version() == 1, "version");
	return 0;
}

int main(void)
{
	int ret = 0;

	ret |= segments();
	ret |= messages();
	ret |= choices();
	ret |= arithmetic();
	ret |= many();
	ret |= texts();
	printf("unit: %s\n", ret ? "failed" : "passed");
	return ret;
}
