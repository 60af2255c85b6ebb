/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Messages between ranks. Pure: no system calls.
 *
 * A connection begins with one hello each way. After it every message is a
 * header of 64 bytes, little-endian, and a payload. The header of each data
 * message says which collective it belongs to, so a rank that called another
 * one is found out by whoever hears from it first.
 */
#ifndef HC_MSG_H
#define HC_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HC_HDR_LEN	64
#define HC_TEXT_LEN	192	/* text of an error message, with its NUL */
#define HC_HELLO_LEN	96
#define HC_LIB_ABI	1	/* version of everything in this file */

enum hc_msg_type {
	HC_MSG_DATA = 1,
	HC_MSG_ERROR,		/* the payload is a text */
};

enum hc_kind {
	HC_KIND_CREATE = 1,	/* last step of hcomm_comm_create() */
	HC_KIND_BARRIER,
	HC_KIND_BROADCAST,
	HC_KIND_ALL_REDUCE,
};

/* What all ranks must agree on. */
struct hc_call {
	uint64_t seq;
	uint64_t count;
	uint32_t root;
	uint8_t kind;
	uint8_t type;
	uint8_t op;
	uint8_t algo;
};

struct hc_hdr {
	struct hc_call call;
	uint64_t offset;	/* of this piece in its step */
	uint32_t len;		/* of the payload */
	uint32_t rank;		/* the sender, or where an error began */
	uint32_t err;		/* positive errno of an error message */
	uint16_t step;
	uint8_t msg;		/* enum hc_msg_type */
};

void hc_hdr_put(uint8_t out[HC_HDR_LEN], const struct hc_hdr *h);

/* False: not a header of ours. */
bool hc_hdr_get(const uint8_t *in, size_t len, struct hc_hdr *h);

/*
 * Compare what rank @a and rank @b called; true when they agree. Otherwise
 * @text names the first difference with both values.
 */
bool hc_call_same(const struct hc_call *ca, uint32_t a,
		  const struct hc_call *cb, uint32_t b,
		  char *text, size_t len);

const char *hc_kind_name(uint8_t kind);
const char *hc_type_name(uint8_t type);
const char *hc_op_name(uint8_t op);

struct hc_hello {
	uint32_t abi;
	uint64_t job;		/* hash of the addresses and of the job number */
	uint32_t rank;		/* who speaks */
	uint32_t to;		/* whom it means */
	uint32_t nranks;
	uint32_t little;	/* byte order of the data: 1 little, 0 big */
	uint32_t piece;
	uint32_t flags;
	uint32_t algo_reduce;	/* allowed algorithms, from HCOMM_ALGO */
	uint32_t algo_bcast;
};

void hc_hello_put(uint8_t out[HC_HELLO_LEN], const struct hc_hello *h);

/*
 * False: a stranger. With another @abi only the fields abi, job, rank, to and
 * nranks are filled in: their places never change.
 */
bool hc_hello_get(const uint8_t *in, size_t len, struct hc_hello *h);

/*
 * True when the settings of two hellos of one job fit together; otherwise
 * @text names the first that does not, with both values.
 */
bool hc_hello_fits(const struct hc_hello *a, const struct hc_hello *b,
		   char *text, size_t len);

/* FNV-1a over 64 bits, little-endian; begin with HC_HASH_INIT. */
#define HC_HASH_INIT	0xcbf29ce484222325ull
uint64_t hc_hash_u64(uint64_t hash, uint64_t value);

#endif /* HC_MSG_H */
