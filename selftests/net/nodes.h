/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of delivery share: the nodes of the lab, which are network
 * namespaces hn1, hn2, ... of one guest, and the address family of the module.
 * What cannot be ends the program with status 1 and a line that says why.
 */
#ifndef NODES_H
#define NODES_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <hcomm/socket.h>

static unsigned int family = AF_HCOMM;

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Ends with 77, which is a skip, where the module is not loaded. */
static inline void read_family(void)
{
	FILE *f = fopen("/sys/module/hcomm/parameters/family", "r");

	if (!f || fscanf(f, "%u", &family) != 1) {
		printf("SKIP: module hcomm is not loaded\n");
		exit(77);
	}
	fclose(f);
}

static inline struct sockaddr_hcomm addr(uint32_t node, uint32_t port)
{
	return (struct sockaddr_hcomm){
		.shc_family = family, .shc_node = node, .shc_port = port,
	};
}

/* The calling thread goes on on that node. */
static inline void enter(int node)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/hn%d", node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		printf("FAIL: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	close(fd);
}

/* A shell that stays where the program was started, outside the nodes. */
struct shell {
	FILE *to, *from;
};

static inline void shell_start(struct shell *sh)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) {
		printf("FAIL: pipe: %s\n", strerror(errno));
		exit(1);
	}
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl("/bin/sh", "sh", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	sh->to = fdopen(in[1], "w");
	sh->from = fdopen(out[0], "r");
}

/* Runs a command in it, which prints to stderr; returns its exit status. */
static inline int shell_run(struct shell *sh, const char *command)
{
	int status;

	fprintf(sh->to, "%s >&2; echo $?\n", command);
	fflush(sh->to);
	return fscanf(sh->from, "%d", &status) == 1 ? status : -1;
}

#endif /* NODES_H */
