// SPDX-License-Identifier: LGPL-2.1 OR MIT
#include "msg.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"

#define HDR_MAGIC	0x314d4348u	/* "HCM1" */

static const uint8_t hello_magic[8] = { 0x89, 'h', 'c', 'o', 'm', 'm', '\r', '\n' };

void hc_hdr_put(uint8_t out[HC_HDR_LEN], const struct hc_hdr *h)
{
	hc_put32(out, HDR_MAGIC);
	out[4] = h->msg;
	out[5] = h->call.kind;
	out[6] = h->call.type;
	out[7] = h->call.op;
	out[8] = h->call.algo;
	out[9] = 0;
	hc_put16(out + 10, h->step);
	hc_put32(out + 12, h->call.root);
	hc_put64(out + 16, h->call.seq);
	hc_put64(out + 24, h->call.count);
	hc_put64(out + 32, h->offset);
	hc_put32(out + 40, h->len);
	hc_put32(out + 44, h->err);
	hc_put32(out + 48, h->rank);
	memset(out + 52, 0, 12);
}

bool hc_hdr_get(const uint8_t *in, size_t len, struct hc_hdr *h)
{
	if (len < HC_HDR_LEN || hc_get32(in) != HDR_MAGIC)
		return false;
	h->msg = in[4];
	h->call.kind = in[5];
	h->call.type = in[6];
	h->call.op = in[7];
	h->call.algo = in[8];
	h->step = hc_get16(in + 10);
	h->call.root = hc_get32(in + 12);
	h->call.seq = hc_get64(in + 16);
	h->call.count = hc_get64(in + 24);
	h->offset = hc_get64(in + 32);
	h->len = hc_get32(in + 40);
	h->err = hc_get32(in + 44);
	h->rank = hc_get32(in + 48);
	return h->msg == HC_MSG_DATA || h->msg == HC_MSG_ERROR;
}

const char *hc_kind_name(uint8_t kind)
{
	switch (kind) {
	case HC_KIND_CREATE:	 return "comm_create";
	case HC_KIND_BARRIER:	 return "barrier";
	case HC_KIND_BROADCAST:	 return "broadcast";
	case HC_KIND_ALL_REDUCE: return "all_reduce";
	default:		 return "unknown";
	}
}

const char *hc_type_name(uint8_t type)
{
	static const char *const name[] = { "none", "i32", "i64", "u64", "f32", "f64" };

	return type < sizeof(name) / sizeof(name[0]) ? name[type] : "unknown";
}

const char *hc_op_name(uint8_t op)
{
	static const char *const name[] = { "none", "sum", "min", "max", "prod" };

	return op < sizeof(name) / sizeof(name[0]) ? name[op] : "unknown";
}

static bool differ(char *text, size_t len, const char *where, const char *what,
		   uint32_t a, const char *va, uint32_t b, const char *vb)
{
	snprintf(text, len, "%s: %s mismatch: rank %" PRIu32 " has %s, rank %" PRIu32 " has %s",
		 where, what, a, va, b, vb);
	return false;
}

static bool differ_number(char *text, size_t len, const char *where, const char *what,
			  uint32_t a, uint64_t va, uint32_t b, uint64_t vb)
{
	char ta[24], tb[24];

	snprintf(ta, sizeof(ta), "%" PRIu64, va);
	snprintf(tb, sizeof(tb), "%" PRIu64, vb);
	return differ(text, len, where, what, a, ta, b, tb);
}

bool hc_call_same(const struct hc_call *ca, uint32_t a,
		  const struct hc_call *cb, uint32_t b,
		  char *text, size_t len)
{
	char where[48];

	if (ca->seq != cb->seq) {
		snprintf(text, len,
			 "order mismatch: rank %" PRIu32 " is in %s #%" PRIu64
			 ", rank %" PRIu32 " in %s #%" PRIu64,
			 a, hc_kind_name(ca->kind), ca->seq,
			 b, hc_kind_name(cb->kind), cb->seq);
		return false;
	}
	if (ca->kind != cb->kind) {
		snprintf(text, len,
			 "#%" PRIu64 ": call mismatch: rank %" PRIu32
			 " has %s, rank %" PRIu32 " has %s",
			 ca->seq, a, hc_kind_name(ca->kind), b, hc_kind_name(cb->kind));
		return false;
	}
	snprintf(where, sizeof(where), "%s #%" PRIu64, hc_kind_name(ca->kind), ca->seq);
	if (ca->type != cb->type)
		return differ(text, len, where, "type", a, hc_type_name(ca->type),
			      b, hc_type_name(cb->type));
	if (ca->op != cb->op)
		return differ(text, len, where, "operation", a, hc_op_name(ca->op),
			      b, hc_op_name(cb->op));
	if (ca->root != cb->root)
		return differ_number(text, len, where, "root", a, ca->root, b, cb->root);
	if (ca->count != cb->count)
		return differ_number(text, len, where, "count", a, ca->count, b, cb->count);
	if (ca->algo != cb->algo)
		return differ_number(text, len, where, "algorithm", a, ca->algo, b, cb->algo);
	return true;
}

void hc_hello_put(uint8_t out[HC_HELLO_LEN], const struct hc_hello *h)
{
	memset(out, 0, HC_HELLO_LEN);
	memcpy(out, hello_magic, sizeof(hello_magic));
	hc_put32(out + 8, h->abi);
	hc_put32(out + 12, h->rank);
	hc_put32(out + 16, h->to);
	hc_put32(out + 20, h->nranks);
	hc_put64(out + 24, h->job);
	/* here ends what every version has */
	hc_put32(out + 32, h->little);
	hc_put32(out + 36, h->piece);
	hc_put32(out + 40, h->flags);
	hc_put32(out + 44, h->algo_reduce);
	hc_put32(out + 48, h->algo_bcast);
}

bool hc_hello_get(const uint8_t *in, size_t len, struct hc_hello *h)
{
	memset(h, 0, sizeof(*h));
	if (len < 32 || memcmp(in, hello_magic, sizeof(hello_magic)))
		return false;
	h->abi = hc_get32(in + 8);
	h->rank = hc_get32(in + 12);
	h->to = hc_get32(in + 16);
	h->nranks = hc_get32(in + 20);
	h->job = hc_get64(in + 24);
	if (h->abi != HC_LIB_ABI)
		return true;
	if (len != HC_HELLO_LEN)
		return false;
	h->little = hc_get32(in + 32);
	h->piece = hc_get32(in + 36);
	h->flags = hc_get32(in + 40);
	h->algo_reduce = hc_get32(in + 44);
	h->algo_bcast = hc_get32(in + 48);
	return true;
}

bool hc_hello_fits(const struct hc_hello *a, const struct hc_hello *b,
		   char *text, size_t len)
{
	static const struct {
		const char *name;
		size_t at;
	} field[] = {
		/* the version first: without it the others mean nothing */
		{ "library ABI version", offsetof(struct hc_hello, abi) },
		{ "byte order (1: little-endian)", offsetof(struct hc_hello, little) },
		{ "piece size", offsetof(struct hc_hello, piece) },
		{ "flags", offsetof(struct hc_hello, flags) },
		{ "HCOMM_ALGO for all_reduce (bits)", offsetof(struct hc_hello, algo_reduce) },
		{ "HCOMM_ALGO for broadcast (bits)", offsetof(struct hc_hello, algo_bcast) },
	};
	size_t i;

	for (i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
		uint32_t va, vb;

		memcpy(&va, (const char *)a + field[i].at, sizeof(va));
		memcpy(&vb, (const char *)b + field[i].at, sizeof(vb));
		if (va == vb)
			continue;
		snprintf(text, len, "%s differs: rank %" PRIu32 " has %" PRIu32
			 ", rank %" PRIu32 " has %" PRIu32,
			 field[i].name, a->rank, va, b->rank, vb);
		return false;
	}
	return true;
}

uint64_t hc_hash_u64(uint64_t hash, uint64_t value)
{
	int i;

	for (i = 0; i < 8; i++) {
		hash ^= value >> 8 * i & 0xff;
		hash *= 0x100000001b3ull;
	}
	return hash;
}
