/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SURFACE_H
#define SURFACE_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <hcomm/socket.h>

enum {
	MAX_PEERS = 5,
	PORT_DEAD = 77777,	/* nobody is there */
	NODE_NONE = 4000000,	/* no route leads there */
	FULL_PIECE = 16 << 10,
	WINDOW = 256 << 10,	/* what a receiver takes that does not read */
	TEN = 10,		/* bytes of an ordinary message */
};

/**
 * struct cell - one call on a socket of one type in one state
 * @type: SOCK_*
 * @type_name: its name
 * @state: name of the state
 * @call: name of the call, with its argument
 * @arg: what follows the colon, "" without one
 * @fd: the socket
 * @peer: the other end, -1: there is none
 * @peers: all other ends, @peer too
 * @nr_peers: how many
 * @expected: what the table says
 * @got: what came out
 */
struct cell {
	int type;
	const char *type_name;
	const char *state;
	const char *call;
	const char *arg;
	int fd;
	int peer;
	int peers[MAX_PEERS];
	int nr_peers;
	const char *expected;
	char got[128];
};

typedef void call_fn(struct cell *c);

struct call {
	const char *name;
	call_fn *fn;
};

extern const struct call addr_calls[], io_calls[], opt_calls[], wait_calls[];

/* main.c */
extern unsigned int family;
extern uint32_t own_node, peer_node;
extern _Atomic bool hung;
__attribute__((noreturn, format(printf, 1, 2)))
void die(const char *fmt, ...);
void put(struct cell *c, long result);
void put_text(struct cell *c, const char *text);
bool is(const char *a, const char *b);
void *bad_address(void);
void *half_readable(size_t len);

/* state.c */
extern const char *const state_names[2][32];
void prepare_states(void);
bool make_state(struct cell *c);
void end_state(struct cell *c);
int socket_at(uint32_t node, int type);
struct sockaddr_hcomm address(uint32_t node, uint32_t port);
uint32_t port_of(int fd);
int listener_at(uint32_t node, int type, int backlog, uint32_t *port);
uint32_t live_port(int type);
uint32_t packed_port(int type);
int await(int fd, int events, int ms);
void nonblocking(int fd, bool on);
void fill(int fd);
bool connected_pair(int type, int *fd, int *peer);

#endif /* SURFACE_H */
