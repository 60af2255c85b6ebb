// SPDX-License-Identifier: GPL-2.0
/* Options of sockets. */
#include "surface.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static const struct { const char *name; int level, nr; } options[] = {
	{ "MAX_MSG", SOL_HCOMM, HCOMM_MAX_MSG },
	{ "SESSION_TIMEOUT", SOL_HCOMM, HCOMM_SESSION_TIMEOUT },
	{ "LAST_ERROR", SOL_HCOMM, HCOMM_LAST_ERROR },
	{ "CLASS", SOL_HCOMM, HCOMM_CLASS },
	{ "RECVERR", SOL_HCOMM, HCOMM_RECVERR },
	{ "UNKNOWN", SOL_HCOMM, 99 },
	{ "LEVEL", IPPROTO_TCP, 1 },
	{ "SO_SNDBUF", SOL_SOCKET, SO_SNDBUF },
	{ "SO_RCVBUF", SOL_SOCKET, SO_RCVBUF },
	{ "SO_RCVLOWAT", SOL_SOCKET, SO_RCVLOWAT },
	{ "SO_TYPE", SOL_SOCKET, SO_TYPE },
	{ "SO_DOMAIN", SOL_SOCKET, SO_DOMAIN },
	{ "SO_PROTOCOL", SOL_SOCKET, SO_PROTOCOL },
	{ "SO_ACCEPTCONN", SOL_SOCKET, SO_ACCEPTCONN },
	{ "SO_ERROR", SOL_SOCKET, SO_ERROR },
	{ "SO_ZEROCOPY", SOL_SOCKET, SO_ZEROCOPY },
	{ "SO_PEEK_OFF", SOL_SOCKET, SO_PEEK_OFF },
};

/* OPTION, OPTION=VALUE or OPTION-WHAT. */
static void find(const char *arg, int *level, int *nr)
{
	size_t i, n = strcspn(arg, "=-");

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strlen(options[i].name) == n &&
		    !strncmp(options[i].name, arg, n)) {
			*level = options[i].level;
			*nr = options[i].nr;
			return;
		}
	die("no option %s", arg);
}

static void do_setsockopt(struct cell *c)
{
	const char *eq = strchr(c->arg, '='), *how = strchr(c->arg, '-');
	unsigned int val[2] = { eq ? strtoul(eq + 1, NULL, 0) : 1 }, back = 0;
	socklen_t len = sizeof(val[0]), back_len = sizeof(back);
	void *p = val;
	int level, nr;

	find(c->arg, &level, &nr);
	if (how)
		len = is(how, "-short") ? 3 : is(how, "-long") ? 8 :
		      is(how, "-empty") ? 0 : is(how, "-negative") ? -1u : len;
	if (how && is(how, "-fault"))
		p = bad_address();
	put(c, setsockopt(c->fd, level, nr, p, len));
	if (level == SOL_HCOMM && is(c->got, "0") &&
	    (getsockopt(c->fd, level, nr, &back, &back_len) ||
	     back != val[0] || back_len != 4))
		put_text(c, "0, but another is read");
}

static void do_getsockopt(struct cell *c)
{
	const char *how = strchr(c->arg, '-');
	char text[256] = {};
	unsigned int val = 0xdeadbeef;
	socklen_t len = sizeof(val), *plen = &len;
	void *p = &val;
	int level, nr, r;

	find(c->arg, &level, &nr);
	if (nr == HCOMM_LAST_ERROR && level == SOL_HCOMM)
		p = text, len = sizeof(text);
	if (how) {
		len = is(how, "-short") ? 3 : is(how, "-empty") ? 0 :
		      is(how, "-long") ? 8 : is(how, "-negative") ? -1u : len;
		if (is(how, "-fault"))
			p = bad_address();
		else if (is(how, "-len-fault"))
			plen = bad_address();
	}
	if (p == text && how && is(how, "-short"))
		len = 0;
	r = getsockopt(c->fd, level, nr, p, plen);
	put(c, r);
	if (r)
		return;
	if (p == text)
		put_text(c, len != strlen(text) + 1 ? "a wrong length" :
			 text[0] ? "text" : "empty");
	else if (len != sizeof(val))
		put_text(c, "a wrong length");
	else if (level == SOL_SOCKET && nr == SO_ERROR)
		put_text(c, val ? strerrorname_np(val) : "0");
	else if (level == SOL_SOCKET && nr == SO_TYPE)
		put_text(c, val == (unsigned int)c->type ? "ok" : "wrong");
	else if (level == SOL_SOCKET && nr == SO_DOMAIN)
		put_text(c, val == family ? "ok" : "wrong");
	else
		put(c, val);
}

const struct call opt_calls[] = {
	{ "setsockopt", do_setsockopt }, { "getsockopt", do_getsockopt },
	{ NULL, NULL },
};
