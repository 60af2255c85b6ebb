// SPDX-License-Identifier: GPL-2.0
/*
 * Each allocation that an operation makes is made to fail in turn, by
 * /proc/thread-self/fail-nth, until the operation needs no more of them. After
 * each failure the same operation must work, on the same object.
 *
 *	resource [-f FIRST] [-s STEP] load FILE | count | netns |
 *		 config | sockets
 *
 * "count" says how many allocations a namespace takes. Runs in the lab, on
 * node 1; "sockets" wants node 2 to be a peer of it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <hcomm/netlink.h>
#include <hcomm/socket.h>

enum { MOST = 20000, SLACK = 10, LONGEST = 200000, PORT = 7100, NODE = 77 };

/**
 * struct op - something that allocates
 * @name: for people
 * @prepare: what must be there before; not made to fail
 * @run: 0 or a negative errno
 * @undo: after it has worked, or may have worked; 0 or a negative errno
 * @arg: for the three
 */
struct op {
	const char *name;
	void (*prepare)(long arg);
	int (*run)(long arg);
	int (*undo)(long arg);
	long arg;
};

static const int kinds[] = { SOCK_SEQPACKET, SOCK_RDM, SOCK_STREAM };
static const char *const kind_names[] = { "seqpacket", "rdm", "stream" };

static unsigned int first = 1, step = 1, family = AF_HCOMM;
static int nth_fd = -1;
static unsigned long total_faults;

__attribute__((format(printf, 1, 2), noreturn))
static void fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("FAIL: ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	exit(1);
}

static void set_nth(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(nth_fd, text, len, 0) != len)
		fail("fail-nth: %s", strerror(errno));
}

static unsigned int get_nth(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) < 0)
		fail("fail-nth: %s", strerror(errno));
	return strtoul(text, NULL, 10);
}

static int error(long ret)
{
	return ret < 0 ? -errno : 0;
}

/* What is done once without a fault has touched all memory that it needs. */
static void once(const struct op *op, const char *when, unsigned int n)
{
	int err;

	if (op->prepare)
		op->prepare(op->arg);
	err = op->run(op->arg);
	if (err)
		fail("%s: %s %u: %s", op->name, when, n, strerror(-err));
	err = op->undo ? op->undo(op->arg) : 0;
	if (err)
		fail("%s: undone %s %u: %s", op->name, when, n, strerror(-err));
}

static int load_run(long arg);

static void each(const struct op *op)
{
	unsigned int n, left, faults = 0, errors = 0;
	int err, again;

	once(op, "before", 0);
	for (n = first; n < MOST; n += step) {
		if (op->prepare)
			op->prepare(op->arg);
		set_nth(n);
		err = op->run(op->arg);
		left = get_nth();
		set_nth(0);
		if (left) {
			if (err)
				fail("%s: without a fault: %s", op->name,
				     strerror(-err));
			if (op->undo)
				op->undo(op->arg);
			break;
		}
		faults++;
		if (err) {
			errors++;
			/* Only the answer may have been lost. */
			again = op->run(op->arg);
			if (again && again != -EEXIST && again != -ENOENT)
				fail("%s: allocation %u failed (%s), and then it does not work: %s",
				     op->name, n, strerror(-err),
				     strerror(-again));
		}
		if (op->undo)
			op->undo(op->arg);
		/* A module that was loaded in spite of it, and has gone, works. */
		if (op->run != load_run)
			once(op, "after allocation", n);
	}
	if (n >= MOST)
		fail("%s: no end", op->name);
	printf("%-24s %5u allocations failed, %5u were reported\n", op->name,
	       faults, errors);
	fflush(stdout);
	total_faults += faults;
}

static void open_nth(void)
{
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0) {
		printf("SKIP: this kernel cannot make allocations fail\n");
		exit(77);
	}
}

/* --- The module --- */

static const char *ko_path;
static int ko_fd;

/*
 * The kernel gives freed ranges of vmalloc() back when there are 32 MiB of
 * them. Before that the file would be read to where the module was, and KASAN,
 * which on user-mode Linux does not know of vmalloc(), takes that for the
 * module's variables.
 */
static void purge_vmalloc(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
		.value_size = 1 << 20, .max_entries = 33,
	};
	int map = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));

	if (map < 0)
		fail("bpf: %s", strerror(errno));
	close(map);
	usleep(20000);
}

static int load_run(long arg)
{
	int err = error(syscall(SYS_finit_module, ko_fd, "dyndbg=+p", 0));

	(void)arg;
	if (err)
		purge_vmalloc();
	return err;
}

static int load_undo(long arg)
{
	int err = error(syscall(SYS_delete_module, "hcomm", O_NONBLOCK));

	(void)arg;
	purge_vmalloc();
	return err;
}

/*
 * The kernel itself allocates much before it calls the module, and some of
 * that it takes badly: a parameter that the module refuses shows how much.
 */
static void load(void)
{
	static const struct op op = {
		"insmod", NULL, load_run, load_undo, 0,
	};
	unsigned int before;

	ko_fd = open(ko_path, O_RDONLY | O_CLOEXEC);
	if (ko_fd < 0)
		fail("%s: %s", ko_path, strerror(errno));
	purge_vmalloc();
	once(&op, "before", 0);
	set_nth(MOST);
	if (!syscall(SYS_finit_module, ko_fd, "dyndbg=+p family=1", 0))
		fail("family=1 was not refused");
	before = MOST - get_nth();
	set_nth(0);
	purge_vmalloc();
	printf("the kernel allocates %u times before the module begins\n",
	       before);
	first = before > SLACK ? before - SLACK : 1;
	each(&op);
}

/* --- Namespaces --- */

static int home_fd;

static int netns_run(long arg)
{
	(void)arg;
	return error(unshare(CLONE_NEWNET));
}

static int netns_undo(long arg)
{
	(void)arg;
	return error(setns(home_fd, CLONE_NEWNET));
}

static void netns(bool count)
{
	static const struct op op = {
		"namespace", NULL, netns_run, netns_undo, 0,
	};
	unsigned int i, n = 0;

	home_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (!count) {
		each(&op);
		return;
	}
	for (i = 0; i < 3; i++) {
		set_nth(MOST);
		if (netns_run(0))
			fail("unshare: %s", strerror(errno));
		n = MOST - get_nth();
		set_nth(0);
		netns_undo(0);
	}
	printf("%u\n", n);
}

/* --- Configuration --- */

static int nl_fd, nl_family, dev;

static struct {
	struct nlmsghdr n;
	struct genlmsghdr g;
	char attrs[512];
} req;

static void nl_begin(int type, int cmd, int flags)
{
	memset(&req, 0, sizeof(req));
	req.n.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	req.n.nlmsg_type = type;
	req.n.nlmsg_flags = NLM_F_REQUEST | flags;
	req.g.cmd = cmd;
	req.g.version = 1;
}

static void nl_put(int type, const void *data, int len)
{
	struct nlattr *a = (void *)((char *)&req + req.n.nlmsg_len);

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memcpy((char *)a + NLA_HDRLEN, data, len);
	req.n.nlmsg_len += NLA_ALIGN(a->nla_len);
}

static void nl_u32(int type, uint32_t value)
{
	nl_put(type, &value, sizeof(value));
}

/* Takes all that the kernel has to say; 0 or a negative errno. */
static int nl_end(void (*each_msg)(struct nlmsghdr *))
{
	static char buf[32768];
	int err = 0, len;

	len = send(nl_fd, &req, req.n.nlmsg_len, 0);
	if (len < 0)
		return -errno;
	for (;;) {
		struct nlmsghdr *n = (void *)buf;
		struct pollfd p = { .fd = nl_fd, .events = POLLIN };

		/* An answer that found no memory comes never. */
		if (poll(&p, 1, 5000) != 1)
			return -ETIMEDOUT;
		len = recv(nl_fd, buf, sizeof(buf), 0);
		if (len < 0)
			return -errno;
		for (; NLMSG_OK(n, len); n = NLMSG_NEXT(n, len)) {
			if (n->nlmsg_type == NLMSG_DONE)
				return err;
			if (n->nlmsg_type == NLMSG_ERROR)
				return *(int *)NLMSG_DATA(n);
			if (each_msg)
				each_msg(n);
		}
	}
}

static void take_family(struct nlmsghdr *n)
{
	struct nlattr *a = (void *)((char *)NLMSG_DATA(n) + GENL_HDRLEN);
	int len = NLMSG_PAYLOAD(n, GENL_HDRLEN);

	while (len >= NLA_HDRLEN) {
		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			nl_family = *(uint16_t *)((char *)a + NLA_HDRLEN);
		len -= NLA_ALIGN(a->nla_len);
		a = (void *)((char *)a + NLA_ALIGN(a->nla_len));
	}
}

static void nl_open(void)
{
	nl_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl_fd < 0)
		fail("netlink: %s", strerror(errno));
	nl_begin(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK);
	nl_put(CTRL_ATTR_FAMILY_NAME, HCOMM_GENL_NAME, sizeof(HCOMM_GENL_NAME));
	if (nl_end(take_family) || !nl_family)
		fail("netlink family " HCOMM_GENL_NAME " is not there");
}

static int set_node(long node)
{
	nl_begin(nl_family, HCOMM_CMD_SYSTEM_SET, NLM_F_ACK);
	nl_u32(HCOMM_A_SYSTEM_NODE, node);
	return nl_end(NULL);
}

/* Another number is a new node, every time. */
static int node_run(long arg)
{
	static int turn;

	(void)arg;
	return set_node(100 + (turn++ & 1));
}

static int peer_new(long node)
{
	nl_begin(nl_family, HCOMM_CMD_PEER_NEW, NLM_F_ACK);
	nl_u32(HCOMM_A_PEER_NODE, node);
	nl_put(HCOMM_A_PEER_NAME, "other", 6);
	return nl_end(NULL);
}

static int peer_del(long node)
{
	nl_begin(nl_family, HCOMM_CMD_PEER_DEL, NLM_F_ACK);
	nl_u32(HCOMM_A_PEER_NODE, node);
	return nl_end(NULL);
}

static void want_peer(long arg)
{
	(void)arg;
	peer_new(NODE);
}

static int link_new(long transport)
{
	in_addr_t local = htonl(0xc0000201), remote = htonl(0xc0000202);

	nl_begin(nl_family, HCOMM_CMD_LINK_NEW, NLM_F_ACK);
	nl_u32(HCOMM_A_LINK_PEER, NODE);
	nl_u32(HCOMM_A_LINK_ID, 1);
	nl_u32(HCOMM_A_LINK_TRANSPORT, transport);
	nl_u32(HCOMM_A_LINK_IFINDEX, dev);
	nl_put(HCOMM_A_LINK_LOCAL_ADDR, &local, sizeof(local));
	nl_put(HCOMM_A_LINK_REMOTE_ADDR, &remote, sizeof(remote));
	return nl_end(NULL);
}

static int link_del(long arg)
{
	(void)arg;
	nl_begin(nl_family, HCOMM_CMD_LINK_DEL, NLM_F_ACK);
	nl_u32(HCOMM_A_LINK_PEER, NODE);
	nl_u32(HCOMM_A_LINK_ID, 1);
	return nl_end(NULL);
}

static void want_link(long arg)
{
	want_peer(arg);
	link_new(HCOMM_TRANSPORT_UDP);
}

static int link_set(long arg)
{
	(void)arg;
	nl_begin(nl_family, HCOMM_CMD_LINK_SET, NLM_F_ACK);
	nl_u32(HCOMM_A_LINK_PEER, NODE);
	nl_u32(HCOMM_A_LINK_ID, 1);
	nl_u32(HCOMM_A_LINK_METRIC, 7);
	nl_u32(HCOMM_A_LINK_ADMIN, HCOMM_ADMIN_DOWN);
	return nl_end(NULL);
}

static int route_new(long arg)
{
	(void)arg;
	nl_begin(nl_family, HCOMM_CMD_ROUTE_NEW, NLM_F_ACK);
	nl_u32(HCOMM_A_ROUTE_NODE, NODE);
	return nl_end(NULL);
}

static int route_del(long arg)
{
	(void)arg;
	nl_begin(nl_family, HCOMM_CMD_ROUTE_DEL, NLM_F_ACK);
	nl_u32(HCOMM_A_ROUTE_NODE, NODE);
	return nl_end(NULL);
}

static int dump(long cmd)
{
	nl_begin(nl_family, cmd, NLM_F_DUMP);
	return nl_end(NULL);
}

static int get_system(long arg)
{
	(void)arg;
	nl_begin(nl_family, HCOMM_CMD_SYSTEM_GET, NLM_F_ACK);
	return nl_end(NULL);
}

static int ping(long node)
{
	nl_begin(nl_family, HCOMM_CMD_PING, NLM_F_ACK);
	nl_u32(HCOMM_A_PING_NODE, node);
	return nl_end(NULL);
}

static const struct op config_ops[] = {
	{ "system set node", NULL, node_run, NULL, 0 },
	{ "peer add", NULL, peer_new, peer_del, NODE },
	{ "peer del", want_peer, peer_del, NULL, NODE },
	{ "link add udp", want_peer, link_new, link_del, HCOMM_TRANSPORT_UDP },
	{ "link add tcp", want_peer, link_new, link_del, HCOMM_TRANSPORT_TCP },
	{ "link set", want_link, link_set, link_del, 0 },
	{ "link del", want_link, link_del, NULL, 0 },
	{ "peer del with a link", want_link, peer_del, NULL, NODE },
	{ "route add", want_peer, route_new, route_del, 0 },
	{ "system show", NULL, get_system, NULL, 0 },
	{ "peer show", NULL, dump, NULL, HCOMM_CMD_PEER_GET },
	{ "link show", NULL, dump, NULL, HCOMM_CMD_LINK_GET },
	{ "route show", NULL, dump, NULL, HCOMM_CMD_ROUTE_GET },
	{ "ping", NULL, ping, NULL, 100 },
};

static void config(void)
{
	unsigned int i;

	if (unshare(CLONE_NEWNET))
		fail("unshare: %s", strerror(errno));
	if (system("ip link add d0 type dummy && ip addr add 192.0.2.1/24 dev d0 && ip link set d0 up"))
		fail("no device for links");
	dev = if_nametoindex("d0");
	nl_open();
	for (i = 0; i < sizeof(config_ops) / sizeof(config_ops[0]); i++) {
		each(&config_ops[i]);
		if (set_node(100))
			fail("%s: system set node", config_ops[i].name);
	}
}

/* --- Sockets --- */

static uint8_t *data;
static int fd = -1, other = -1, listener = -1;
static int to_node2[3];
static uint64_t sent[3];

static struct sockaddr_hcomm addr(uint32_t node, uint32_t port)
{
	return (struct sockaddr_hcomm){
		.shc_family = family, .shc_node = node, .shc_port = port,
	};
}

static int open_kind(int k)
{
	int s = socket(family, kinds[k] | SOCK_CLOEXEC, 0);

	if (s < 0)
		fail("socket: %s", strerror(errno));
	return s;
}

static int close_both(long arg)
{
	(void)arg;
	if (fd >= 0)
		close(fd);
	if (other >= 0)
		close(other);
	fd = -1;
	other = -1;
	return 0;
}

static int socket_run(long k)
{
	fd = socket(family, kinds[k] | SOCK_CLOEXEC, 0);
	return error(fd);
}

static void want_socket(long k)
{
	close_both(0);
	fd = open_kind(k);
}

static int bind_run(long k)
{
	struct sockaddr_hcomm me = addr(0, 0);

	(void)k;
	return error(bind(fd, (void *)&me, sizeof(me)));
}

static void want_bound(long k)
{
	want_socket(k);
	if (bind_run(k))
		fail("bind: %s", strerror(errno));
}

static int listen_run(long k)
{
	(void)k;
	return error(listen(fd, 4));
}

static int connect_run(long k)
{
	struct sockaddr_hcomm to = addr(2, PORT + 3 + k);

	return error(connect(fd, (void *)&to, sizeof(to)));
}

static void want_listener(long k)
{
	struct sockaddr_hcomm me = addr(0, PORT + 6 + k);

	if (listener >= 0)
		return;
	listener = open_kind(k);
	if (bind(listener, (void *)&me, sizeof(me)) || listen(listener, 8))
		fail("listen: %s", strerror(errno));
}

/* Somebody waits for accept(). */
static void want_client(long k)
{
	struct sockaddr_hcomm to = addr(1, PORT + 6 + k);
	struct pollfd p;

	want_listener(k);
	close_both(0);
	other = open_kind(k);
	if (fcntl(other, F_SETFL, O_NONBLOCK))
		fail("fcntl: %s", strerror(errno));
	if (connect(other, (void *)&to, sizeof(to)) && errno != EINPROGRESS)
		fail("connect to accept: %s", strerror(errno));
	p = (struct pollfd){ .fd = listener, .events = POLLIN };
	if (poll(&p, 1, 10000) != 1)
		fail("nobody waits for accept");
}

static int accept_run(long k)
{
	(void)k;
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	return error(fd);
}

static int end_listener(long arg)
{
	close_both(arg);
	close(listener);
	listener = -1;
	return 0;
}

/* Messages to node 2 are counted there: one that failed must not arrive. */
static int send_to(int k, size_t len)
{
	ssize_t n;

	memcpy(data, &sent[k], sizeof(sent[k]));
	if (kinds[k] == SOCK_STREAM)
		memset(data, 0x5a, len);
	n = send(to_node2[k], data, len, MSG_NOSIGNAL);
	if (n < 0)
		return -errno;
	if (kinds[k] != SOCK_STREAM && (size_t)n != len)
		fail("send: %zd of %zu bytes", n, len);
	sent[k] += kinds[k] == SOCK_STREAM ? (uint64_t)n : 1;
	return 0;
}

static int send_small(long k)
{
	return send_to(k, 100);
}

static int send_middle(long k)
{
	return send_to(k, 20000);
}

static int send_large(long k)
{
	return send_to(k, LONGEST);
}

/* A destination that the socket does not know yet. */
static int sendto_run(long k)
{
	struct sockaddr_hcomm to = addr(2, PORT + 3 + k);

	return error(sendto(fd, data, 100, MSG_NOSIGNAL, (void *)&to,
			    sizeof(to)));
}

/* A connection to this node itself, with a message in it. */
static void want_message(long k)
{
	struct pollfd p;

	want_client(k);
	if (accept_run(k))
		fail("accept: %s", strerror(errno));
	p = (struct pollfd){ .fd = other, .events = POLLOUT };
	if (poll(&p, 1, 10000) != 1 || send(other, data, 50000, 0) != 50000)
		fail("send to read: %s", strerror(errno));
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	if (poll(&p, 1, 10000) != 1)
		fail("nothing to read");
}

static int recv_run(long k)
{
	ssize_t n = recv(fd, data, LONGEST, MSG_WAITALL * !k);

	if (n < 0)
		return -errno;
	if (kinds[k] != SOCK_STREAM && n != 50000)
		fail("recv: %zd bytes", n);
	return 0;
}

static void want_connected(long k)
{
	want_socket(k);
	if (connect_run(k))
		fail("connect: %s", strerror(errno));
}

static int shutdown_run(long k)
{
	(void)k;
	return error(shutdown(fd, SHUT_WR));
}

static int close_run(long k)
{
	int s = fd;

	(void)k;
	fd = -1;
	return error(close(s));
}

/* Where node 2 takes connections and throws away what comes. */
static void drain_connections(int k)
{
	static uint8_t buf[LONGEST];
	struct sockaddr_hcomm me = addr(0, PORT + 3 + k);
	int s = open_kind(k), c;

	if (bind(s, (void *)&me, sizeof(me)))
		fail("bind on node 2: %s", strerror(errno));
	if (kinds[k] == SOCK_RDM)
		for (;;)
			recv(s, buf, sizeof(buf), 0);
	if (listen(s, 64))
		fail("listen on node 2: %s", strerror(errno));
	for (;;) {
		c = accept(s, NULL, NULL);
		while (c >= 0 && recv(c, buf, sizeof(buf), 0) > 0)
			;
		close(c);
	}
}

/* Where node 2 counts: each message carries its number. */
static void count_messages(int k)
{
	static uint8_t buf[LONGEST];
	struct sockaddr_hcomm me = addr(0, PORT + k);
	int s = open_kind(k);
	uint64_t want = 0, got;
	ssize_t n, i;

	if (bind(s, (void *)&me, sizeof(me)))
		fail("bind on node 2: %s", strerror(errno));
	if (kinds[k] != SOCK_RDM) {
		if (listen(s, 1))
			fail("listen on node 2: %s", strerror(errno));
		s = accept(s, NULL, NULL);
	}
	for (;;) {
		n = recv(s, buf, sizeof(buf), 0);
		if (n < 0)
			fail("recv on node 2: %s", strerror(errno));
		if (!n)
			exit(0);
		if (kinds[k] == SOCK_STREAM) {
			for (i = 0; i < n; i++)
				if (buf[i] != 0x5a)
					fail("node 2: a byte has changed");
			want += n;
			continue;
		}
		memcpy(&got, buf, sizeof(got));
		/* The last message of a datagram socket says so. */
		if (got == UINT64_MAX)
			exit(0);
		if (got != want)
			fail("node 2: %s %llu instead of %llu", kind_names[k],
			     (unsigned long long)got,
			     (unsigned long long)want);
		want++;
	}
}

static pid_t on_node2(void (*fn)(int), int k)
{
	pid_t pid = fork();
	int ns;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ns = open("/run/netns/hn2", O_RDONLY);
	if (ns < 0 || setns(ns, CLONE_NEWNET))
		fail("hn2: %s", strerror(errno));
	close(ns);
	fn(k);
	exit(0);
}

static const struct op socket_ops[] = {
	{ "socket", NULL, socket_run, close_both, 0 },
	{ "bind", want_socket, bind_run, close_both, 0 },
	{ "listen", want_bound, listen_run, close_both, 0 },
	{ "connect", want_socket, connect_run, close_both, 0 },
	{ "accept", want_client, accept_run, close_both, 0 },
	{ "send 100", NULL, send_small, NULL, 0 },
	{ "send 20000", NULL, send_middle, NULL, 0 },
	{ "send 200000", NULL, send_large, NULL, 0 },
	{ "sendto", want_socket, sendto_run, close_both, 0 },
	{ "recv", want_message, recv_run, close_both, 0 },
	{ "shutdown", want_connected, shutdown_run, close_both, 0 },
	{ "close", want_connected, close_run, NULL, 0 },
};

static bool applies(const struct op *op, int k)
{
	if (kinds[k] == SOCK_RDM)
		return op->run != listen_run && op->run != accept_run &&
		       op->run != recv_run && op->run != shutdown_run;
	return op->run != sendto_run;
}

static void connect_to_counter(int k)
{
	struct sockaddr_hcomm to = addr(2, PORT + k);
	int tries = 500;

	to_node2[k] = open_kind(k);
	while (connect(to_node2[k], (void *)&to, sizeof(to))) {
		if (errno != ECONNREFUSED || !tries--)
			fail("connect to node 2: %s", strerror(errno));
		usleep(10000);
	}
}

static void sockets_of(int k)
{
	pid_t counter, drain;
	char name[40];
	struct op op;
	unsigned int i;
	int status;

	counter = on_node2(count_messages, k);
	drain = on_node2(drain_connections, k);
	/* Both listen before the first message; a datagram socket never says. */
	usleep(500000);
	connect_to_counter(k);
	for (i = 0; i < sizeof(socket_ops) / sizeof(socket_ops[0]); i++) {
		op = socket_ops[i];
		if (!applies(&op, k))
			continue;
		op.arg = k;
		snprintf(name, sizeof(name), "%s %s", kind_names[k], op.name);
		op.name = name;
		each(&op);
		if (op.run == recv_run)
			end_listener(0);
	}
	if (kinds[k] == SOCK_RDM) {
		memset(data, 0xff, 8);
		send(to_node2[k], data, 8, 0);
	}
	close(to_node2[k]);
	waitpid(counter, &status, 0);
	if (status)
		fail("node 2 did not get what was sent");
	kill(drain, SIGKILL);
	waitpid(drain, NULL, 0);
}

static void sockets(void)
{
	FILE *f = fopen("/sys/module/hcomm/parameters/family", "r");
	int k;

	if (!f || fscanf(f, "%u", &family) != 1)
		fail("module hcomm is not loaded");
	fclose(f);
	for (k = 0; k < 3; k++)
		sockets_of(k);
}

int main(int argc, char **argv)
{
	const char *what;
	int opt;

	while ((opt = getopt(argc, argv, "f:s:")) != -1) {
		if (opt == 'f')
			first = strtoul(optarg, NULL, 0);
		else if (opt == 's')
			step = strtoul(optarg, NULL, 0);
		else
			return 1;
	}
	what = argv[optind] ? argv[optind] : "";
	if (!first || !step)
		return 1;
	data = malloc(LONGEST);
	memset(data, 1, LONGEST);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		fail("mlockall: %s", strerror(errno));
	open_nth();
	if (!strcmp(what, "load") && argv[optind + 1]) {
		ko_path = argv[optind + 1];
		load();
	} else if (!strcmp(what, "count")) {
		netns(true);
		return 0;
	} else if (!strcmp(what, "netns")) {
		netns(false);
	} else if (!strcmp(what, "config")) {
		config();
	} else if (!strcmp(what, "sockets")) {
		sockets();
	} else {
		fprintf(stderr, "Usage: resource [-f FIRST] [-s STEP] load FILE | count | netns | config | sockets\n");
		return 1;
	}
	printf("%s: %lu allocations failed, all was well afterwards\n", what,
	       total_faults);
	return 0;
}
