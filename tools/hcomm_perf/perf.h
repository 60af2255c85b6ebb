/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of hcomm_perf share. */
#ifndef PERF_H
#define PERF_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <hcomm/hcomm.h>

#define DEFAULT_PORT	5300
#define MAX_SIZE	(1U << 30)	/* of all_reduce */
#define MAX_MSG		(16U << 20)
#define MAX_UDP		65507
#define MAX_MS		3600000
#define MAX_RANKS	256
#define MAX_PAIRS	1000
#define MAX_SAMPLES	(4U << 20)
#define MAX_TEXT	8192
#define QUIET_MS	10000		/* nothing arrives for so long: an error */
#define MAGIC		0x68637031	/* and version of what is agreed on */

enum perf_exit {
	EXIT_OK,
	EXIT_USAGE,
	EXIT_FAILED,
};

enum test {
	TEST_LAT,
	TEST_BW,
	TEST_ALLREDUCE,
};

/* What is measured; the first three need the module. */
enum kind {
	KIND_SEQPACKET,
	KIND_STREAM,
	KIND_RDM,
	KIND_TCP,
	KIND_UDP,
	KIND_NONE,
};

/**
 * struct options - the command line
 * @test: what is measured
 * @kind: over what
 * @vs: beside what, or KIND_NONE
 * @size: bytes of a message, or of the buffer of all_reduce
 * @count: messages, round trips or rounds of a run; 0: @ms decides
 * @ms: length of a run
 * @warm_ms: of these, not measured
 * @pairs: runs of each
 * @buffer: SO_SNDBUF and SO_RCVBUF, 0: as they are
 * @port: where the server listens, over AF_HCOMM and over TCP
 * @node: server, 0: none was given
 * @nodes: of all_reduce, as given
 * @peers: IP addresses of the servers, as given, or NULL
 * @bind: own IP address, or NULL
 * @once: the server ends after its first client
 */
struct options {
	enum test test;
	enum kind kind, vs;
	uint32_t size, count, ms, warm_ms, pairs, buffer, port, node;
	const char *nodes, *peers, *bind;
	bool once;
};

/* CPU time of this process, and of this whole machine, in seconds. */
struct cpu {
	double process;
	double machine;
};

/* A run. */
struct run {
	double value;		/* us (lat, allreduce: median), MB/s (bw) */
	double bytes;		/* that were received, or reduced */
	double messages;	/* received, round trips or rounds */
	double lost;
	struct cpu cpu;		/* of all machines that took part */
};

/* Times of single round trips or rounds, in us. */
struct samples {
	float *us;
	uint32_t nr, room;
};

/* All runs of a kind. */
struct side {
	enum kind kind;
	uint32_t size;
	struct run *run;
	struct samples all;
};

extern const char *const kind_names[];

/* util.c */
int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void *allocate(size_t size);
double now(void);
void samples_add(struct samples *s, double seconds);
double samples_quantile(struct samples *s, uint32_t first, double q);
double median(double *v, uint32_t nr);
struct cpu cpu_now(void);
struct cpu cpu_since(const struct cpu *then);
uint64_t machine_id(void);
void stop_after(uint32_t ms);		/* sets stopped once */
void stop_never(void);
extern volatile sig_atomic_t stopped;

/* sock.c: all return a descriptor, or a negative errno value */
bool is_hcomm(enum kind kind);
bool is_datagram(enum kind kind);
/* @ip: address, or NULL for any; *@port 0: any, and it is put there */
int sock_serve(enum kind kind, const char *ip, uint32_t *port, uint32_t buffer);
int sock_accept(int fd, enum kind kind);
int sock_connect(enum kind kind, uint32_t node, const char *ip,
		 const char *local, uint32_t port, uint32_t buffer,
		 struct sockaddr_storage *to, socklen_t *to_len);
int sock_timeout(int fd, uint32_t ms);
int ip_check(const char *ip);

/* ctl.c: the connection on which client and server agree */
enum {
	REQ_MAGIC, REQ_TEST, REQ_KIND, REQ_SIZE, REQ_COUNT, REQ_MS,
	REQ_WARM, REQ_BUFFER, REQ_PAIRS, REQ_VS, REQ_RANK, REQ_PORT,
	REQ_TEXT, REQ_MAX
};

enum {
	READY_ERROR, READY_PORT, READY_MAX
};

enum {
	RES_ERROR, RES_BYTES, RES_BYTES_HI, RES_ALL, RES_ALL_HI, RES_MSGS,
	RES_MSGS_HI, RES_NS, RES_NS_HI, RES_CPU, RES_CPU_HI, RES_MACHINE,
	RES_MACHINE_HI, RES_ID, RES_ID_HI, RES_MAX
};

int ctl_send(int fd, const uint32_t *words, unsigned int nr);
int ctl_recv(int fd, uint32_t *words, unsigned int nr);
int ctl_send_text(int fd, const char *text, size_t len);
int ctl_recv_text(int fd, char *text, size_t len);
void put64(uint32_t *words, uint64_t val);
uint64_t get64(const uint32_t *words);

/**
 * struct sunk - what the receiver of a throughput got
 * @bytes: after the warm-up
 * @seconds: that they took
 * @all: bytes, with those of the warm-up
 * @msgs: calls of recv() that returned them
 */
struct sunk {
	uint64_t bytes, all, msgs;
	double seconds;
};

/* stream.c: the two ends of lat and bw; 0 or a negative errno value */
int echo(int fd, enum kind kind, uint32_t size);
int sink(int fd, enum kind kind, uint32_t size, uint32_t warm_ms,
	 struct sunk *got);
int ping(int fd, enum kind kind, const struct options *o, uint32_t size,
	 const struct sockaddr *to, socklen_t to_len, struct samples *s,
	 struct run *r);
int source(int fd, enum kind kind, const struct options *o, uint32_t size,
	   const struct sockaddr *to, socklen_t to_len, uint64_t *msgs);
int finish(int fd, enum kind kind, const struct sockaddr *to, socklen_t to_len);

/* server.c, client.c */
int serve(const struct options *o);
int client_connect(const struct options *o, enum kind kind, uint32_t node,
		   const char *ip);
int client_run(const struct options *o, enum kind kind, uint32_t size,
	       struct samples *s, struct run *r);

/* ranks.c: all_reduce */
int ranks_client(const struct options *o, struct side *a, struct side *b);
int ranks_env(const struct options *o, struct side *a, struct side *b);
int ranks_serve(const struct options *o, uint32_t rank, char *text);

/* tcp_reduce.c: all_reduce by TCP sockets, the same two patterns */
struct tcp_ranks;

int tcp_ranks_new(struct tcp_ranks **out, uint32_t rank, uint32_t nr,
		  char *const *ip, const char *local, uint32_t port,
		  uint32_t buffer);
void tcp_ranks_free(struct tcp_ranks *t);
int tcp_all_reduce(struct tcp_ranks *t, const float *send, float *recv,
		   size_t count);
bool takes_one_step(size_t bytes);

/* report.c */
void report(const struct options *o, struct side *a, struct side *b);

#endif /* PERF_H */
