// SPDX-License-Identifier: GPL-2.0
/*
 * Who uses hcomm while it is taken away:
 *
 *   user run NETNS PEER	traffic of all types to and from node PEER until
 *				it is killed; says "ready" when all of it flows
 *   user refuse		the module must refuse to go while a socket is
 *				open, in whatever state
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hcomm/socket.h>

enum { PORT = 7000, LONGEST = 64 << 10, ENOUGH = 50 };

static const struct { int type; const char *name; } types[] = {
	{ SOCK_SEQPACKET, "seqpacket" }, { SOCK_RDM, "rdm" },
	{ SOCK_STREAM, "stream" },
};

enum { NR_TYPES = sizeof(types) / sizeof(types[0]) };

static unsigned int family = AF_HCOMM;
static const char *netns;
static unsigned int peer;
static _Atomic unsigned int received[NR_TYPES];

static void die(const char *what)
{
	printf("FAIL: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

static void enter(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(path);
	close(fd);
}

static struct sockaddr_hcomm addr(unsigned int node, int nr)
{
	return (struct sockaddr_hcomm){
		.shc_family = family, .shc_node = node, .shc_port = PORT + nr,
	};
}

static int open_socket(int nr)
{
	int fd;

	fd = socket(family, types[nr].type, 0);
	if (fd < 0)
		die("socket");
	return fd;
}

/* Connections end and begin again as the other side comes and goes. */
static void *sender(void *arg)
{
	int nr = (int)(long)arg;
	struct sockaddr_hcomm to = addr(peer, nr);
	unsigned int seed = nr + 1;
	char *buf = calloc(1, LONGEST);

	for (;;) {
		int fd = open_socket(nr);

		if (!connect(fd, (void *)&to, sizeof(to)))
			while (send(fd, buf, 1 + rand_r(&seed) % LONGEST,
				    MSG_NOSIGNAL) >= 0)
				;
		close(fd);
		usleep(5000);
	}
	return NULL;
}

static void read_all(int fd, int nr)
{
	char *buf = malloc(LONGEST);

	while (recv(fd, buf, LONGEST, 0) > 0)
		received[nr]++;
	free(buf);
}

struct conn {
	int fd;
	int nr;
};

static void *reader(void *arg)
{
	struct conn c = *(struct conn *)arg;

	free(arg);
	read_all(c.fd, c.nr);
	close(c.fd);
	return NULL;
}

static void *receiver(void *arg)
{
	int nr = (int)(long)arg, fd = open_socket(nr);
	struct sockaddr_hcomm me = addr(0, nr);
	pthread_attr_t attr;
	pthread_t t;

	if (bind(fd, (void *)&me, sizeof(me)))
		die("bind");
	if (types[nr].type == SOCK_RDM)
		for (;;)
			read_all(fd, nr);
	if (listen(fd, 8))
		die("listen");
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (;;) {
		struct conn *c = malloc(sizeof(*c));

		c->nr = nr;
		c->fd = accept(fd, NULL, NULL);
		if (c->fd < 0 || pthread_create(&t, &attr, reader, c)) {
			free(c);
			usleep(5000);
		}
	}
	return NULL;
}

static void run(void)
{
	pthread_t t;
	long i;

	enter();
	for (i = 0; i < NR_TYPES; i++)
		if (pthread_create(&t, NULL, receiver, (void *)i) ||
		    pthread_create(&t, NULL, sender, (void *)i))
			die("pthread_create");
	for (i = 0; i < NR_TYPES; i++)
		while (received[i] < ENOUGH)
			usleep(5000);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}

static void must_refuse(const char *state)
{
	if (!syscall(SYS_delete_module, "hcomm", O_NONBLOCK)) {
		printf("FAIL: the module went away with a socket that %s\n",
		       state);
		exit(1);
	}
	if (errno != EWOULDBLOCK && errno != EBUSY)
		die(state);
}

/* The only reference is in a message that nobody has read yet. */
static void in_flight(int nr)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} c = {};
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &c, .msg_controllen = sizeof(c),
	};
	int fd = open_socket(nr), pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		die("socketpair");
	c.align.cmsg_level = SOL_SOCKET;
	c.align.cmsg_type = SCM_RIGHTS;
	c.align.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&c.align), &fd, sizeof(fd));
	if (sendmsg(pair[0], &msg, 0) != 1)
		die("sendmsg");
	close(fd);
	must_refuse("is on its way to another process");
	close(pair[0]);
	close(pair[1]);
}

static int refuse(void)
{
	struct sockaddr_hcomm me;
	int nr, fd;

	for (nr = 0; nr < NR_TYPES; nr++) {
		fd = open_socket(nr);
		must_refuse("is new");
		me = addr(0, NR_TYPES + nr);
		if (bind(fd, (void *)&me, sizeof(me)))
			die("bind");
		must_refuse("is bound");
		if (types[nr].type != SOCK_RDM) {
			if (listen(fd, 1))
				die("listen");
			must_refuse("listens");
		}
		close(fd);
		in_flight(nr);
	}
	return 0;
}

int main(int argc, char **argv)
{
	FILE *f = fopen("/sys/module/hcomm/parameters/family", "r");

	if (!f || fscanf(f, "%u", &family) != 1) {
		printf("SKIP: module hcomm is not loaded\n");
		return 77;
	}
	fclose(f);
	if (argc == 2 && !strcmp(argv[1], "refuse"))
		return refuse();
	if (argc != 4 || strcmp(argv[1], "run")) {
		fprintf(stderr, "Usage: user run NETNS PEER | user refuse\n");
		return 1;
	}
	netns = argv[2];
	peer = strtoul(argv[3], NULL, 0);
	run();
}
