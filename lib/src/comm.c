// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Making and ending of communicators, and their handles. */
#include "comm.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"
#include "public.h"

/*
 * A handle is a place in this table and a generation, made to look like a
 * pointer. So a handle that was destroyed is told from a valid one for good,
 * and never leads to freed memory.
 */
#define SLOT_BITS	(sizeof(uintptr_t) > 4 ? 24 : 12)
#define SLOT_MAX	(((size_t)1 << SLOT_BITS) - 1)

struct slot {
	struct hc_comm *c;
	uintptr_t generation;
	bool busy;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot *table;
static size_t table_len;

static _Thread_local char create_text[HC_TEXT_LEN];

int hc_create_error(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(create_text, sizeof(create_text), fmt, ap);
	va_end(ap);
	return -err;
}

int64_t hc_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void *hc_comm_tmp(struct hc_comm *c, size_t len)
{
	if (len > c->tmp_len || !c->tmp) {
		/* Nothing in it needs to be kept. */
		free(c->tmp);
		c->tmp_len = (len + 4095) / 4096 * 4096;
		if (!c->tmp_len)
			c->tmp_len = 4096;
		c->tmp = malloc(c->tmp_len);
		if (!c->tmp)
			c->tmp_len = 0;
	}
	return c->tmp;
}

/* With the lock held; NULL: no such communicator. */
static struct slot *find(struct hcomm_comm *handle)
{
	uintptr_t h = (uintptr_t)handle;
	size_t i = h & SLOT_MAX;

	/* Places are counted from 1, so that no handle is NULL. */
	if (!i || i > table_len)
		return NULL;
	if (!table[i - 1].c || table[i - 1].generation != h >> SLOT_BITS)
		return NULL;
	return &table[i - 1];
}

static int put(struct hc_comm *c, struct hcomm_comm **handle)
{
	size_t i;
	int ret = 0;

	pthread_mutex_lock(&table_lock);
	for (i = 0; i < table_len && table[i].c; i++)
		;
	if (i == table_len) {
		size_t len = table_len ? 2 * table_len : 8;
		struct slot *bigger;

		if (len > SLOT_MAX)
			len = SLOT_MAX;
		bigger = len > table_len ? realloc(table, len * sizeof(*table)) : NULL;
		if (bigger) {
			memset(bigger + table_len, 0, (len - table_len) * sizeof(*table));
			table = bigger;
			table_len = len;
		} else {
			ret = -ENOMEM;
		}
	}
	if (!ret) {
		table[i].c = c;
		table[i].busy = false;
		/* The bits above must hold it. */
		table[i].generation = (table[i].generation + 1) & (UINTPTR_MAX >> SLOT_BITS);
		*handle = (struct hcomm_comm *)(table[i].generation << SLOT_BITS | (i + 1));
	}
	pthread_mutex_unlock(&table_lock);
	return ret;
}

int hc_comm_enter(struct hcomm_comm *handle, struct hc_comm **comm)
{
	struct slot *s;
	int ret = 0;

	pthread_mutex_lock(&table_lock);
	s = find(handle);
	if (!s)
		ret = -EBADF;
	else if (s->busy)
		ret = -EBUSY;
	else
		ret = -atomic_load_explicit(&s->c->err, memory_order_relaxed);
	if (!ret) {
		s->busy = true;
		*comm = s->c;
	}
	pthread_mutex_unlock(&table_lock);
	return ret;
}

void hc_comm_leave(struct hcomm_comm *handle)
{
	struct slot *s;

	pthread_mutex_lock(&table_lock);
	s = find(handle);
	if (s)
		s->busy = false;
	pthread_mutex_unlock(&table_lock);
}

static void comm_free(struct hc_comm *c)
{
	uint32_t i;

	if (!c)
		return;
	if (c->peers) {
		if (atomic_load_explicit(&c->err, memory_order_relaxed))
			hc_drain(c, HC_DRAIN_LAST_MS);
		for (i = 0; i < c->n; i++)
			if (c->peers[i].fd >= 0)
				close(c->peers[i].fd);
	}
	free(c->tmp);
	free(c->pfd_peer);
	free(c->pfds);
	free(c->pool);
	free(c->active);
	free(c->peers);
	free(c->addrs);
	free(c);
}

/* Memory for talking to others; a single rank has none. */
static int alloc_peers(struct hc_comm *c)
{
	uint32_t i;

	c->pool_len = 4 * c->n + 80;
	c->peers = calloc(c->n, sizeof(*c->peers));
	c->active = calloc(c->n, sizeof(*c->active));
	c->pool = calloc(c->pool_len, sizeof(*c->pool));
	c->pfds = calloc(c->n, sizeof(*c->pfds));
	c->pfd_peer = calloc(c->n, sizeof(*c->pfd_peer));
	if (!c->peers || !c->active || !c->pool || !c->pfds || !c->pfd_peer)
		return hc_create_error(ENOMEM, "no memory for %u ranks", c->n);
	for (i = 0; i < c->n; i++) {
		struct hc_peer *p = &c->peers[i];

		p->fd = -1;
		p->rank = i;
		p->peeked_for = HC_NEVER;
		p->tx_tail = &p->tx;
		p->rx_tail = &p->rx;
	}
	return 0;
}

int hc_comm_make(const struct hcomm_comm_attr *attr, struct hcomm_comm **handle)
{
	struct hc_comm *c;
	char text[96];
	uint32_t i;
	int ret;

	c = calloc(1, sizeof(*c));
	if (!c)
		return hc_create_error(ENOMEM, "no memory");
	c->rank = attr->rank;
	c->n = attr->nranks;
	c->flags = attr->flags;
	c->job = attr->job;
	c->piece = attr->piece;
	c->timeout_ms = attr->timeout_ms ? attr->timeout_ms : HC_TIMEOUT_DEFAULT;
	if (!hc_algos_parse(&c->algos, getenv("HCOMM_ALGO"), text, sizeof(text))) {
		ret = hc_create_error(EINVAL, "%s", text);
		goto fail;
	}
	if (c->n > 1) {
		c->addrs = calloc(c->n, sizeof(*c->addrs));
		if (!c->addrs) {
			ret = hc_create_error(ENOMEM, "no memory for %u ranks", c->n);
			goto fail;
		}
		for (i = 0; i < c->n; i++) {
			c->addrs[i].node = attr->addrs[i].shc_node;
			c->addrs[i].port = attr->addrs[i].shc_port;
		}
		ret = alloc_peers(c);
		if (ret)
			goto fail;
		ret = hc_boot(c);
		if (ret)
			goto fail;
	}
	ret = put(c, handle);
	if (!ret)
		return 0;
	hc_create_error(ENOMEM, "no memory for another communicator");
fail:
	comm_free(c);
	return ret;
}

static int check_attr(const struct hcomm_comm_attr *a)
{
	uint32_t i, k;

	if (a->flags & ~HCOMM_COMM_ORDERED)
		return hc_create_error(EINVAL, "attr: unknown flag 0x%x",
				       a->flags & ~HCOMM_COMM_ORDERED);
	if (!a->nranks || a->nranks > HC_RANKS_MAX)
		return hc_create_error(EINVAL, "attr: nranks is %u, not 1..%u",
				       a->nranks, HC_RANKS_MAX);
	if (a->rank >= a->nranks)
		return hc_create_error(EINVAL, "attr: rank %u of %u ranks",
				       a->rank, a->nranks);
	if (a->timeout_ms > INT32_MAX)
		return hc_create_error(EINVAL, "attr: timeout_ms is %u, above %d",
				       a->timeout_ms, INT32_MAX);
	if (a->piece % HC_PIECE_ALIGN || a->piece > INT32_MAX)
		return hc_create_error(EINVAL, "attr: piece is %u, not a multiple of %u",
				       a->piece, HC_PIECE_ALIGN);
	if (a->nranks == 1)
		return 0;
	if (!a->addrs)
		return hc_create_error(EINVAL, "attr: addrs is NULL with %u ranks", a->nranks);
	for (i = 0; i < a->nranks; i++) {
		const struct sockaddr_hcomm *sa = &a->addrs[i];

		if (sa->shc_node == HCOMM_NODE_ANY || sa->shc_port == HCOMM_PORT_ANY)
			return hc_create_error(EINVAL, "attr: address of rank %u is %u:%u; neither may be 0",
					       i, sa->shc_node, sa->shc_port);
		if (sa->shc_reserved0 || sa->shc_reserved1)
			return hc_create_error(EINVAL, "attr: reserved field of rank %u's address is not 0", i);
		if (i >= 1024)
			/* quadratic; a duplicate shows when it listens */
			continue;
		for (k = 0; k < i; k++)
			if (a->addrs[k].shc_node == sa->shc_node &&
			    a->addrs[k].shc_port == sa->shc_port)
				return hc_create_error(EINVAL, "attr: ranks %u and %u both have %u:%u",
						       k, i, sa->shc_node, sa->shc_port);
	}
	return 0;
}

/* First version of the structure: up to and with "piece". */
#define ATTR_SIZE_MIN	(offsetof(struct hcomm_comm_attr, piece) + sizeof(uint32_t))

HC_PUBLIC int hcomm_comm_create(const struct hcomm_comm_attr *attr,
				struct hcomm_comm **comm)
{
	struct hcomm_comm_attr a = { 0 };
	const unsigned char *bytes = (const unsigned char *)attr;
	size_t i;
	int ret;

	if (!comm)
		return hc_create_error(EINVAL, "comm is NULL");
	*comm = NULL;
	if (!attr)
		return hc_create_error(EINVAL, "attr is NULL");
	if (attr->size < ATTR_SIZE_MIN)
		return hc_create_error(EINVAL, "attr: size is %u, below %zu",
				       attr->size, ATTR_SIZE_MIN);
	if (attr->size > 4096)
		return hc_create_error(E2BIG, "attr: size is %u, above 4096", attr->size);
	for (i = sizeof(a); i < attr->size; i++)
		if (bytes[i])
			return hc_create_error(E2BIG, "attr: byte %zu is set; this library knows %zu",
					       i, sizeof(a));
	memcpy(&a, attr, attr->size < sizeof(a) ? attr->size : sizeof(a));
	ret = check_attr(&a);
	return ret ? ret : hc_comm_make(&a, comm);
}

HC_PUBLIC int hcomm_comm_destroy(struct hcomm_comm *comm)
{
	struct hc_comm *c = NULL;
	struct slot *s;
	int ret = 0;

	if (!comm)
		return 0;
	pthread_mutex_lock(&table_lock);
	s = find(comm);
	if (!s) {
		ret = -EBADF;
	} else if (s->busy) {
		ret = -EBUSY;
	} else {
		c = s->c;
		s->c = NULL;
	}
	pthread_mutex_unlock(&table_lock);
	comm_free(c);
	return ret;
}

HC_PUBLIC int hcomm_comm_rank(struct hcomm_comm *comm)
{
	struct slot *s;
	int ret;

	pthread_mutex_lock(&table_lock);
	s = find(comm);
	ret = s ? (int)s->c->rank : -EBADF;
	pthread_mutex_unlock(&table_lock);
	return ret;
}

HC_PUBLIC int hcomm_comm_size(struct hcomm_comm *comm)
{
	struct slot *s;
	int ret;

	pthread_mutex_lock(&table_lock);
	s = find(comm);
	ret = s ? (int)s->c->n : -EBADF;
	pthread_mutex_unlock(&table_lock);
	return ret;
}

HC_PUBLIC const char *hcomm_comm_error_text(struct hcomm_comm *comm)
{
	const char *text = "";
	struct slot *s;

	if (!comm)
		return create_text;
	pthread_mutex_lock(&table_lock);
	s = find(comm);
	if (!s)
		text = "no such communicator";
	else if (atomic_load_explicit(&s->c->err, memory_order_acquire))
		text = s->c->text;
	pthread_mutex_unlock(&table_lock);
	return text;
}
