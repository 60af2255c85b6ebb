/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * libhcomm: addresses and sockets of AF_HCOMM, and collectives over them.
 *
 * Every function returns 0 (or what is said below) or a negative errno value.
 * Nothing is printed, nothing aborts, and errno has no meaning afterwards.
 */
#ifndef _HCOMM_HCOMM_H
#define _HCOMM_HCOMM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <hcomm/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HCOMM_VERSION_MAJOR	0
#define HCOMM_VERSION_MINOR	1

/*
 * Addresses and sockets
 */

/**
 * hcomm_family() - number of the address family AF_HCOMM
 *
 * The module's parameter "family" says it. Return: the number, or
 * -EAFNOSUPPORT when the module is not loaded.
 */
int hcomm_family(void);

/**
 * hcomm_addr() - fill in an address
 * @sa: what to fill in
 * @node: node, or HCOMM_NODE_ANY
 * @port: port, or HCOMM_PORT_ANY
 */
int hcomm_addr(struct sockaddr_hcomm *sa, uint32_t node, uint32_t port);

/**
 * hcomm_socket() - make a socket of the family
 * @type: SOCK_SEQPACKET, SOCK_RDM or SOCK_STREAM
 * @flags: SOCK_NONBLOCK, SOCK_CLOEXEC or 0
 *
 * Return: the descriptor, or a negative errno value.
 */
int hcomm_socket(int type, int flags);

/**
 * hcomm_node() - id of this node (this network namespace)
 * @node: where to put it; 0 when none is configured
 */
int hcomm_node(uint32_t *node);

/*
 * Collectives
 */

/**
 * enum hcomm_type - type of the elements of a buffer
 *
 * Integers wrap around. For floating point, a result that is not a number is
 * always the same bits (the positive quiet NaN without payload), so results
 * do not depend on the machine or on the order of the ranks.
 */
enum hcomm_type {
	HCOMM_I32 = 1,
	HCOMM_I64,
	HCOMM_U64,
	HCOMM_F32,
	HCOMM_F64,
};

/**
 * enum hcomm_op - how elements are put together
 *
 * HCOMM_MIN and HCOMM_MAX are minimum and maximum of IEEE 754-2019: one NaN
 * makes the result NaN, and -0 is less than +0.
 */
enum hcomm_op {
	HCOMM_SUM = 1,
	HCOMM_MIN,
	HCOMM_MAX,
	HCOMM_PROD,
};

/* A communicator. The pointer is a handle and points at nothing. */
struct hcomm_comm;

/*
 * Flag of struct hcomm_comm_attr: sums and products of floating point are
 * taken strictly in the order of the ranks ((x0 + x1) + x2) ..., whatever the
 * size of the buffer. Without it they are taken in an order that depends only
 * on the number of ranks, the count and the algorithm. Either way all ranks
 * get the same bits, each time.
 */
#define HCOMM_COMM_ORDERED	(1u << 0)

/**
 * struct hcomm_comm_attr - how to make a communicator
 * @size: sizeof(struct hcomm_comm_attr)
 * @flags: HCOMM_COMM_ORDERED or 0
 * @rank: this rank, 0..@nranks-1
 * @nranks: number of ranks
 * @addrs: node and port of each rank, @nranks of them; this rank listens on
 *	its port until the communicator stands. Not needed for one rank
 * @job: any number, the same on all ranks; tells apart jobs on the same ports
 * @timeout_ms: after so long without progress a call gives up; 0: 30000
 * @piece: longer transfers are cut in pieces of so many bytes; 0: chosen
 *
 * A program built with an older header works with a newer library, and the
 * other way round as long as it leaves at 0 what the library does not know.
 */
struct hcomm_comm_attr {
	uint32_t size;
	uint32_t flags;
	uint32_t rank;
	uint32_t nranks;
	const struct sockaddr_hcomm *addrs;
	uint64_t job;
	uint32_t timeout_ms;
	uint32_t piece;
};

#define HCOMM_COMM_ATTR_INIT { .size = sizeof(struct hcomm_comm_attr) }

/**
 * hcomm_comm_create() - make a communicator; all ranks call it
 * @attr: how
 * @comm: where to put the handle; NULL is put there on failure
 *
 * Returns when all ranks stand connected to all others. Environment variable
 * HCOMM_ALGO is read here, too. On failure hcomm_comm_error_text(NULL) says
 * more.
 *
 * -EINVAL: @attr is wrong; -E2BIG: it has fields that this library does not
 * know; -EPROTONOSUPPORT: ranks with another version or other settings;
 * -ETIMEDOUT: not all ranks came; -EADDRINUSE: the port is taken;
 * -EAFNOSUPPORT: the module is not loaded; other errors of the sockets.
 */
int hcomm_comm_create(const struct hcomm_comm_attr *attr,
		      struct hcomm_comm **comm);

/**
 * hcomm_comm_create_env() - make a communicator from environment variables
 * @comm: where to put the handle
 *
 * HCOMM_RANK, HCOMM_SIZE, HCOMM_ADDRS ("node:port,node:port,...") and, if
 * wanted, HCOMM_TIMEOUT_MS, HCOMM_JOB, HCOMM_PIECE, HCOMM_ORDERED and
 * HCOMM_ALGO. hcomm_run sets them.
 */
int hcomm_comm_create_env(struct hcomm_comm **comm);

/**
 * hcomm_comm_destroy() - close a communicator
 * @comm: the handle; NULL does nothing
 *
 * What other ranks still wait for is delivered. -EBADF: no such communicator;
 * -EBUSY: another thread is in a collective on it.
 */
int hcomm_comm_destroy(struct hcomm_comm *comm);

/* Rank and number of ranks, or -EBADF. */
int hcomm_comm_rank(struct hcomm_comm *comm);
int hcomm_comm_size(struct hcomm_comm *comm);

/**
 * hcomm_comm_error_text() - what went wrong, in words
 * @comm: a communicator, or NULL for the calling thread's last failed
 *	hcomm_comm_create()
 *
 * An error other than -EINVAL, -EOVERFLOW, -EBUSY and -EBADF breaks a
 * communicator on all ranks: each later call returns the same error, and this
 * text tells the first cause. Return: the text, "" if there is none; it stays
 * valid until the communicator is destroyed.
 */
const char *hcomm_comm_error_text(struct hcomm_comm *comm);

/*
 * All ranks call the same collectives in the same order with the same count,
 * type, operation and root. One at a time on a communicator (-EBUSY);
 * different communicators may be used by different threads. -EPROTO: the
 * ranks do not agree; -ETIMEDOUT: no progress; -ECONNRESET: a rank has gone.
 */

/* Returns when all ranks have called it. */
int hcomm_barrier(struct hcomm_comm *comm);

/**
 * hcomm_broadcast() - copy @root's buffer to all ranks
 */
int hcomm_broadcast(struct hcomm_comm *comm, void *buf, size_t count,
		    enum hcomm_type type, uint32_t root);

/**
 * hcomm_all_reduce() - put the buffers of all ranks together, element by
 *	element; all ranks get the result
 * @comm: the communicator
 * @send: this rank's elements; @recv or NULL: they stand in @recv
 * @recv: where the result goes; must be @send or not overlap it
 * @count: number of elements; 0 is fine
 * @type: their type; buffers need no alignment
 * @op: the operation
 *
 * After an error the contents of @recv are undefined.
 */
int hcomm_all_reduce(struct hcomm_comm *comm, const void *send, void *recv,
		     size_t count, enum hcomm_type type, enum hcomm_op op);

/* Text of an error, negative or positive. Never NULL. */
const char *hcomm_strerror(int err);

/* Version of the library in use: major << 16 | minor. */
uint32_t hcomm_version(void);

#ifdef __cplusplus
}
#endif

#endif /* _HCOMM_HCOMM_H */
