// SPDX-License-Identifier: GPL-2.0
/* Calls that move data, and those that ask whether there is some. */
#include "surface.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LONGEST = 1 << 20 };

static const char ten[] = "0123456789";

static const struct { const char *name; unsigned int bit; } flags[] = {
	{ "OOB", MSG_OOB }, { "PEEK", MSG_PEEK },
	{ "DONTROUTE", MSG_DONTROUTE }, { "CTRUNC", MSG_CTRUNC },
	{ "PROBE", 0x10 }, { "TRUNC", MSG_TRUNC }, { "DONTWAIT", MSG_DONTWAIT },
	{ "EOR", MSG_EOR }, { "WAITALL", MSG_WAITALL }, { "FIN", MSG_FIN },
	{ "SYN", MSG_SYN }, { "CONFIRM", MSG_CONFIRM }, { "RST", MSG_RST },
	{ "ERRQUEUE", MSG_ERRQUEUE }, { "NOSIGNAL", MSG_NOSIGNAL },
	{ "MORE", MSG_MORE }, { "WAITFORONE", MSG_WAITFORONE },
	{ "BATCH", 0x40000 }, { "BIT21", 0x200000 }, { "BIT22", 0x400000 },
	{ "BIT23", 0x800000 }, { "BIT24", 0x1000000 },
	{ "ZEROCOPY", MSG_ZEROCOPY }, { "BIT28", 0x10000000 },
	{ "FASTOPEN", MSG_FASTOPEN }, { "CMSG_CLOEXEC", MSG_CMSG_CLOEXEC },
};

static int flag_of(const char *arg)
{
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (is(flags[i].name, arg))
			return flags[i].bit;
	return 0;
}

/* What the peer reads next, without waiting for long; negative: nothing. */
static ssize_t peer_reads(struct cell *c, char *buf, size_t len, int *how)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (!(await(c->peer, POLLIN, 2000) & POLLIN))
		return -1;
	n = recvmsg(c->peer, &m, MSG_DONTWAIT);
	*how = m.msg_flags;
	return n;
}

static _Atomic int pipes;

static void count_pipe(int sig)
{
	(void)sig;
	pipes++;
}

static void expect_pipe(void)
{
	struct sigaction sa = { .sa_handler = count_pipe };

	pipes = 0;
	sigaction(SIGPIPE, &sa, NULL);
}

static void note_pipe(struct cell *c)
{
	size_t n = strlen(c->got);

	if (pipes)
		snprintf(c->got + n, sizeof(c->got) - n, "+SIGPIPE");
}

static void do_send(struct cell *c)
{
	int how = MSG_DONTWAIT | MSG_NOSIGNAL | flag_of(c->arg);
	static char big[LONGEST + 1];
	const void *p = ten;
	size_t len = TEN;
	char buf[64];
	ssize_t n;

	if (is(c->arg, "empty"))
		len = 0;
	else if (is(c->arg, "longest"))
		p = big, len = LONGEST;
	else if (is(c->arg, "too-long"))
		p = big, len = LONGEST + 1;
	else if (is(c->arg, "buffer")) /* of twice the send buffer */
		p = big, len = 512 << 10;
	else if (is(c->arg, "fault"))
		p = bad_address();
	else if (is(c->arg, "fault-half"))
		p = half_readable(64 << 10), len = 64 << 10;
	else if (is(c->arg, "pipe"))
		how &= ~MSG_NOSIGNAL;
	expect_pipe();
	n = send(c->fd, p, len, how);
	put(c, n);
	note_pipe(c);
	if (!is(c->state, "connected"))
		return;
	if (n == 0 && is(c->arg, "empty") && c->type != SOCK_STREAM) {
		n = peer_reads(c, buf, sizeof(buf), &how);
		if (n || !(how & MSG_EOR))
			put_text(c, "0, but no empty message arrives");
	}
	if (n >= 0 || errno != EFAULT)
		return;
	/* Nothing of it is sent: what comes next is what comes first. */
	n = send(c->fd, "next", 4, 0);
	if (n == 4)
		n = peer_reads(c, buf, sizeof(buf), &how);
	if (n != 4 || memcmp(buf, "next", 4))
		put_text(c, "EFAULT, but a part was sent");
}

/* To an address, in the cases where one may be given and where not. */
static void do_sendto(struct cell *c)
{
	struct {
		struct sockaddr_hcomm sa;
		char more[256];
	} a = { .sa = address(peer_node, PORT_DEAD) };
	socklen_t len = sizeof(a.sa);
	void *p = &a;

	if (is(c->arg, "short"))
		len--;
	else if (is(c->arg, "empty"))
		len = 0;
	else if (is(c->arg, "long"))
		len++;
	else if (is(c->arg, "storage"))
		len = sizeof(struct sockaddr_storage);
	else if (is(c->arg, "huge"))
		len = sizeof(struct sockaddr_storage) + 1;
	else if (is(c->arg, "family"))
		a.sa.shc_family = AF_INET;
	else if (is(c->arg, "unspec"))
		a.sa.shc_family = AF_UNSPEC;
	else if (is(c->arg, "reserved0"))
		a.sa.shc_reserved0 = 1;
	else if (is(c->arg, "reserved1"))
		a.sa.shc_reserved1 = 1;
	else if (is(c->arg, "node0"))
		a.sa.shc_node = 0;
	else if (is(c->arg, "port0"))
		a.sa.shc_port = 0;
	else if (is(c->arg, "no-route"))
		a.sa.shc_node = NODE_NONE;
	else if (is(c->arg, "fault"))
		p = bad_address();
	put(c, sendto(c->fd, ten, TEN, MSG_DONTWAIT | MSG_NOSIGNAL, p, len));
}

static void do_sendmsg(struct cell *c)
{
	struct iovec iov[2] = {
		{ .iov_base = (void *)ten, .iov_len = 4 },
		{ .iov_base = (void *)(ten + 4), .iov_len = TEN - 4 },
	};
	static struct iovec many[UIO_MAXIOV + 1];
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };
	char control[CMSG_SPACE(4)] = {};
	char buf[64];
	int how;

	if (is(c->arg, "control")) {
		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(4);
		CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
	} else if (is(c->arg, "many")) {
		m.msg_iov = many;
		m.msg_iovlen = UIO_MAXIOV + 1;
	} else if (is(c->arg, "none")) {
		m.msg_iovlen = 0;
	} else if (is(c->arg, "fault")) {
		iov[1].iov_base = bad_address();
	}
	put(c, sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL));
	if (is(c->state, "connected") && is(c->got, "10") &&
	    (peer_reads(c, buf, sizeof(buf), &how) != TEN ||
	     memcmp(buf, ten, TEN)))
		put_text(c, "10, but others arrive");
}

static void do_sendmmsg(struct cell *c)
{
	struct iovec iov = { .iov_base = (void *)ten, .iov_len = TEN };
	struct mmsghdr m[3] = {
		{ .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1 } },
	};

	put(c, sendmmsg(c->fd, m, 3, MSG_DONTWAIT | MSG_NOSIGNAL));
}

static void do_write(struct cell *c)
{
	struct iovec iov = { .iov_base = (void *)ten, .iov_len = TEN };

	expect_pipe();
	nonblocking(c->fd, true);
	put(c, is(c->arg, "v") ? writev(c->fd, &iov, 1) :
	       is(c->arg, "p") ? pwrite(c->fd, ten, TEN, 0) :
	       write(c->fd, ten, TEN));
	note_pipe(c);
}

static void do_sendfile(struct cell *c)
{
	size_t len = is(c->arg, "long") ? 40000 : TEN;
	static const char bytes[40000] = "0123456789";
	int file = memfd_create("surface", MFD_CLOEXEC);
	off_t off = 0;

	expect_pipe();
	if (write(file, bytes, len) != (ssize_t)len)
		die("memfd: %s", strerror(errno));
	nonblocking(c->fd, true);
	put(c, sendfile(c->fd, file, &off, len));
	close(file);
}

static void do_splice(struct cell *c)
{
	char buf[64];
	int p[2];
	ssize_t n;

	expect_pipe();
	if (pipe2(p, O_CLOEXEC))
		die("pipe: %s", strerror(errno));
	nonblocking(c->fd, true);
	if (is(c->arg, "in")) {
		if (write(p[1], ten, TEN) != TEN)
			die("write: %s", strerror(errno));
		put(c, splice(p[0], NULL, c->fd, NULL, TEN, 0));
	} else {
		n = splice(c->fd, NULL, p[1], NULL, sizeof(buf), 0);
		put(c, n);
		if (n > 0 && (read(p[0], buf, sizeof(buf)) != n ||
			      memcmp(buf, ten, n)))
			put_text(c, "other bytes");
	}
	close(p[0]);
	close(p[1]);
}

static void do_recv(struct cell *c)
{
	int how = MSG_DONTWAIT | flag_of(c->arg);
	size_t len = 64;
	char buf[64] = {};
	void *p = buf;
	ssize_t n;

	if (is(c->arg, "short") || is(c->arg, "TRUNC"))
		len = 4;
	else if (is(c->arg, "empty"))
		len = 0;
	else if (is(c->arg, "fault"))
		p = bad_address();
	n = recv(c->fd, p, len, how);
	put(c, n);
	if (n > 0 && (how & MSG_TRUNC || memcmp(buf, ten, n)) &&
	    !(how & MSG_TRUNC))
		put_text(c, "other bytes");
	/* What could not be given away, and what was only looked at, stays. */
	if (n < 0 && errno == EFAULT &&
	    (recv(c->fd, buf, sizeof(buf), MSG_DONTWAIT) != TEN ||
	     memcmp(buf, ten, TEN)))
		put_text(c, "EFAULT, and it is gone");
	if (n == TEN && how & MSG_PEEK &&
	    (recv(c->fd, buf, sizeof(buf), MSG_DONTWAIT) != TEN ||
	     memcmp(buf, ten, TEN)))
		put_text(c, "10, and then something else");
}

/* The result, then what is said about it. */
static void do_recvmsg(struct cell *c)
{
	char buf[64], control[512];
	struct sockaddr_hcomm sa;
	struct iovec iov = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_name = &sa, .msg_namelen = sizeof(sa),
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	uint32_t port = 0;
	struct cmsghdr *h;
	ssize_t n;
	int how = MSG_DONTWAIT;

	if (is(c->arg, "short"))
		iov.iov_len = 4;
	else if (is(c->arg, "ERRQUEUE"))
		how |= MSG_ERRQUEUE;
	else if (is(c->arg, "name-fault"))
		m.msg_name = bad_address();
	else if (is(c->arg, "name-short"))
		m.msg_namelen = 3;
	else if (is(c->arg, "control-short"))
		m.msg_controllen = 0, how |= MSG_ERRQUEUE;
	memset(&sa, 0xff, sizeof(sa));
	n = recvmsg(c->fd, &m, how);
	put(c, n);
	if (n < 0)
		return;
	if (c->peer >= 0 && n)
		port = port_of(c->peer);
	if (how & MSG_ERRQUEUE)
		port = PORT_DEAD;
	snprintf(c->got, sizeof(c->got), "%zd%s%s%s%s%s", n,
		 m.msg_flags & MSG_EOR ? "+EOR" : "",
		 m.msg_flags & MSG_TRUNC ? "+TRUNC" : "",
		 m.msg_flags & MSG_CTRUNC ? "+CTRUNC" : "",
		 m.msg_flags & MSG_ERRQUEUE ? "+ERRQUEUE" : "",
		 !m.msg_namelen ? "" :
		 m.msg_namelen == sizeof(sa) && sa.shc_family == family &&
		 sa.shc_node == peer_node && sa.shc_port == port &&
		 !sa.shc_reserved0 && !sa.shc_reserved1 ? "+name" :
		 is(c->arg, "name-short") && m.msg_namelen == sizeof(sa) &&
		 sa.shc_node == 0xffffffff ? "+part" : "+wrong-name");
	for (h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
		struct hcomm_sock_err *e = (void *)CMSG_DATA(h);
		size_t k = strlen(c->got);

		snprintf(c->got + k, sizeof(c->got) - k, "%s",
			 h->cmsg_level == SOL_HCOMM &&
			 h->cmsg_type == HCOMM_RECVERR &&
			 h->cmsg_len == CMSG_LEN(sizeof(*e)) &&
			 e->see_errno == ECONNREFUSED && !e->see_writable &&
			 e->see_lost == 1 && !e->see_reserved &&
			 !memcmp(&e->see_offender, &sa, sizeof(sa)) ?
			 "+error" : "+wrong-error");
	}
}

static void do_recvmmsg(struct cell *c)
{
	char buf[2][64];
	struct iovec iov[2] = {
		{ .iov_base = buf[0], .iov_len = 64 },
		{ .iov_base = buf[1], .iov_len = 64 },
	};
	struct mmsghdr m[2] = {
		{ .msg_hdr = { .msg_iov = &iov[0], .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = &iov[1], .msg_iovlen = 1 } },
	};

	put(c, recvmmsg(c->fd, m, 2, MSG_DONTWAIT | MSG_WAITFORONE, NULL));
}

static void do_read(struct cell *c)
{
	char buf[64];

	nonblocking(c->fd, true);
	put(c, is(c->arg, "p") ? pread(c->fd, buf, sizeof(buf), 0) :
	    read(c->fd, buf, sizeof(buf)));
}

/* Masks as poll() gives them, without the names that say the same again. */
static void do_poll(struct cell *c)
{
	static const struct { int bit; const char *name; } bits[] = {
		{ POLLIN, "IN" }, { POLLPRI, "PRI" }, { POLLOUT, "OUT" },
		{ POLLRDHUP, "RDHUP" }, { POLLERR, "ERR" }, { POLLHUP, "HUP" },
	};
	struct pollfd p = {
		.fd = c->fd, .events = POLLIN | POLLPRI | POLLOUT | POLLRDHUP |
				       POLLRDNORM | POLLWRNORM,
	};
	size_t i, n = 0;

	if (poll(&p, 1, 0) < 0)
		die("poll: %s", strerror(errno));
	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (p.revents & bits[i].bit)
			n += snprintf(c->got + n, sizeof(c->got) - n, "%s%s",
				      n ? "|" : "", bits[i].name);
	if (!n)
		put_text(c, "none");
	if (!(p.revents & POLLIN) != !(p.revents & POLLRDNORM) ||
	    !(p.revents & POLLOUT) != !(p.revents & POLLWRNORM))
		snprintf(c->got + n, sizeof(c->got) - n, ", RDNORM or WRNORM not as IN and OUT");
}

static void do_ioctl(struct cell *c)
{
	int val = -1, r;
	void *p = &val;

	if (strstr(c->arg, "fault"))
		p = bad_address();
	if (!strncmp(c->arg, "inq", 3))
		r = ioctl(c->fd, SIOCINQ, p);
	else if (!strncmp(c->arg, "outq", 4))
		r = ioctl(c->fd, SIOCOUTQ, p);
	else if (is(c->arg, "nbio"))
		val = 1, r = ioctl(c->fd, FIONBIO, p);
	else
		r = ioctl(c->fd, is(c->arg, "atmark") ? SIOCATMARK :
			  _IOWR(0xe5, 200, int), p);
	put(c, r);
	if (!r && !is(c->arg, "nbio"))
		put(c, val);
	if (!r && is(c->arg, "outq") && val > TEN)
		put_text(c, "many");
}

static void do_mmap(struct cell *c)
{
	put(c, mmap(NULL, 4096, PROT_READ, MAP_SHARED, c->fd, 0) == MAP_FAILED ?
	       -1 : 0);
}

static void do_lseek(struct cell *c)
{
	put(c, lseek(c->fd, 0, SEEK_SET));
}

static void do_ftruncate(struct cell *c)
{
	put(c, ftruncate(c->fd, 0));
}

static void do_fsync(struct cell *c)
{
	put(c, fsync(c->fd));
}

const struct call io_calls[] = {
	{ "send", do_send }, { "sendto", do_sendto }, { "sendmsg", do_sendmsg },
	{ "sendmmsg", do_sendmmsg }, { "write", do_write },
	{ "sendfile", do_sendfile }, { "splice", do_splice },
	{ "recv", do_recv }, { "recvmsg", do_recvmsg },
	{ "recvmmsg", do_recvmmsg }, { "read", do_read }, { "poll", do_poll },
	{ "ioctl", do_ioctl }, { "mmap", do_mmap }, { "lseek", do_lseek },
	{ "ftruncate", do_ftruncate }, { "fsync", do_fsync }, { NULL, NULL },
};
