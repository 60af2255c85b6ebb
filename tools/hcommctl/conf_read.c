// SPDX-License-Identifier: GPL-2.0
/* A configuration from a file or from the kernel. */
#include "conf.h"

#include <stdlib.h>
#include <string.h>

static void *add(void **list, int *nr, size_t size)
{
	char *p = realloc(*list, (*nr + 1) * size);

	if (!p) {
		fputs("Out of memory.\n", stderr);
		exit(EXIT_KERNEL);
	}
	*list = p;
	p += (*nr)++ * size;
	memset(p, 0, size);
	return p;
}

#define ADD(c, what)							\
	add((void **)&(c)->what, &(c)->nr_##what##s, sizeof(*(c)->what))

void conf_free(struct conf *c)
{
	free(c->peer);
	free(c->link);
	free(c->route);
}

struct peer_spec *conf_peer(const struct conf *c, uint32_t node)
{
	int i;

	for (i = 0; i < c->nr_peers; i++)
		if (c->peer[i].node == node)
			return &c->peer[i];
	return NULL;
}

struct link_spec *conf_link(const struct conf *c, uint32_t peer, uint32_t id)
{
	int i;

	for (i = 0; i < c->nr_links; i++)
		if (HAS(&c->link[i], HCOMM_A_LINK_ID) &&
		    c->link[i].peer == peer && c->link[i].id == id)
			return &c->link[i];
	return NULL;
}

struct route_spec *conf_route(const struct conf *c, uint32_t node)
{
	int i;

	for (i = 0; i < c->nr_routes; i++)
		if (c->route[i].node == node)
			return &c->route[i];
	return NULL;
}

/* From the kernel. */

static int read_system(const struct hnl_obj *obj, void *arg)
{
	struct conf *c = arg;
	const int *attr;

	for (attr = system_settings; *attr; attr++) {
		c->system.val[*attr] = hnl_u32(obj, *attr);
		SET_HAS(&c->system, *attr);
	}
	c->self = c->system.val[HCOMM_A_SYSTEM_NODE];
	c->port = c->system.val[HCOMM_A_SYSTEM_PORT];
	if (!c->self)
		c->system.has &= ~(1U << HCOMM_A_SYSTEM_NODE);
	return 0;
}

static int read_peer(const struct hnl_obj *obj, void *arg)
{
	struct conf *c = arg;
	struct peer_spec *p;

	if (hnl_u32(obj, HCOMM_A_PEER_NODE) == c->self)
		return 0;
	p = ADD(c, peer);
	p->node = hnl_u32(obj, HCOMM_A_PEER_NODE);
	snprintf(p->name, sizeof(p->name), "%s",
		 hnl_str(obj, HCOMM_A_PEER_NAME));
	return 0;
}

static void read_ip(const struct hnl_obj *obj, int attr, struct ip *ip)
{
	int len = hnl_has(obj, attr) ? nla_len(obj->tb[attr]) : 0;

	if (len != 4 && len != 16)
		return;
	ip->len = len;
	memcpy(ip->addr, nla_data(obj->tb[attr]), len);
}

static int read_link(const struct hnl_obj *obj, void *arg)
{
	static const int given[] = {
		HCOMM_A_LINK_PEER, HCOMM_A_LINK_ID, HCOMM_A_LINK_NAME,
		HCOMM_A_LINK_TRANSPORT, HCOMM_A_LINK_LOCAL_ADDR,
		HCOMM_A_LINK_REMOTE_ADDR, HCOMM_A_LINK_LOCAL_PORT,
		HCOMM_A_LINK_REMOTE_PORT, HCOMM_A_LINK_IFINDEX,
		HCOMM_A_LINK_METRIC, HCOMM_A_LINK_ADMIN, HCOMM_A_LINK_GSO,
		HCOMM_A_LINK_LOSS_THRESHOLD, 0
	};
	struct conf *c = arg;
	struct link_spec *l;
	const int *attr;

	if (hnl_u32(obj, HCOMM_A_LINK_PEER) == c->self)
		return 0;
	l = ADD(c, link);
	for (attr = given; *attr; attr++)
		SET_HAS(l, *attr);
	l->peer = hnl_u32(obj, HCOMM_A_LINK_PEER);
	l->id = hnl_u32(obj, HCOMM_A_LINK_ID);
	snprintf(l->name, sizeof(l->name), "%s",
		 hnl_str(obj, HCOMM_A_LINK_NAME));
	l->transport = hnl_u32(obj, HCOMM_A_LINK_TRANSPORT);
	if (l->transport >= names_transport_type.nr)
		l->transport = HCOMM_TRANSPORT_UDP;
	read_ip(obj, HCOMM_A_LINK_LOCAL_ADDR, &l->local);
	read_ip(obj, HCOMM_A_LINK_REMOTE_ADDR, &l->remote);
	l->local_port = hnl_u32(obj, HCOMM_A_LINK_LOCAL_PORT);
	l->remote_port = hnl_u32(obj, HCOMM_A_LINK_REMOTE_PORT);
	l->ifindex = hnl_u32(obj, HCOMM_A_LINK_IFINDEX);
	l->metric = hnl_u32(obj, HCOMM_A_LINK_METRIC);
	l->admin = hnl_u32(obj, HCOMM_A_LINK_ADMIN);
	l->gso = hnl_u32(obj, HCOMM_A_LINK_GSO);
	if (l->gso >= names_gso.nr)
		l->gso = HCOMM_GSO_AUTO;
	l->loss_ppm = hnl_u32(obj, HCOMM_A_LINK_LOSS_THRESHOLD);
	return 0;
}

static int read_route(const struct hnl_obj *obj, void *arg)
{
	struct conf *c = arg;
	struct route_spec *r;

	if (hnl_u32(obj, HCOMM_A_ROUTE_NODE) == c->self)
		return 0;
	r = ADD(c, route);
	r->node = hnl_u32(obj, HCOMM_A_ROUTE_NODE);
	r->pin = hnl_u32(obj, HCOMM_A_ROUTE_PINNED_LINK);
	r->manual = !hnl_u32(obj, HCOMM_A_ROUTE_AUTO);
	return 0;
}

/* What is configured now. */
int conf_read(struct conf *c)
{
	int err;

	err = hnl_call(hnl_request(HCOMM_CMD_SYSTEM_GET, 0), read_system, c);
	if (!err)
		err = hnl_dump(HCOMM_CMD_PEER_GET, read_peer, c);
	if (!err)
		err = hnl_dump(HCOMM_CMD_LINK_GET, read_link, c);
	if (!err)
		err = hnl_dump(HCOMM_CMD_ROUTE_GET, read_route, c);
	return err;
}

/* From a file. */

static int add_system(struct conf *c, struct words *w)
{
	return system_parse(w, &c->system);
}

static int add_peer(struct conf *c, struct words *w)
{
	struct peer_spec spec = {};
	int err, i;

	err = peer_parse(w, &spec);
	if (err)
		return err;
	if (conf_peer(c, spec.node))
		return syntax("peer %u is there twice", spec.node);
	for (i = 0; i < c->nr_peers && spec.name[0]; i++)
		if (!strcmp(c->peer[i].name, spec.name))
			return syntax("peers %u and %u have the same name",
				      c->peer[i].node, spec.node);
	*(struct peer_spec *)ADD(c, peer) = spec;
	return 0;
}

static int add_link(struct conf *c, struct words *w)
{
	struct link_spec spec = {};
	int err, i;

	err = link_parse(w, &spec);
	if (err)
		return err;
	if (!conf_peer(c, spec.peer))
		return syntax("there is no \"peer add %u\" before it",
			      spec.peer);
	if (HAS(&spec, HCOMM_A_LINK_ID) && conf_link(c, spec.peer, spec.id))
		return syntax("peer %u has two links with id %u", spec.peer,
			      spec.id);
	for (i = 0; i < c->nr_links && spec.name[0]; i++)
		if (!strcmp(c->link[i].name, spec.name))
			return syntax("two links have the name %s", spec.name);
	*(struct link_spec *)ADD(c, link) = spec;
	return 0;
}

static int add_route(struct conf *c, struct words *w, bool manual)
{
	struct route_spec spec = { .manual = manual };
	int err;

	err = route_parse(w, &spec);
	if (err)
		return err;
	if (!conf_peer(c, spec.node))
		return syntax("there is no \"peer add %u\" before it",
			      spec.node);
	if (conf_route(c, spec.node))
		return syntax("route %u is there twice", spec.node);
	*(struct route_spec *)ADD(c, route) = spec;
	return 0;
}

static int add_line(struct conf *c, struct words *w)
{
	if (word_take(w, "system")) {
		if (word_take(w, "set"))
			return add_system(c, w);
	} else if (word_take(w, "peer")) {
		if (word_take(w, "add"))
			return add_peer(c, w);
	} else if (word_take(w, "link")) {
		if (word_take(w, "add"))
			return add_link(c, w);
	} else if (word_take(w, "route")) {
		if (word_take(w, "set"))
			return add_route(c, w, false);
		if (word_take(w, "add"))
			return add_route(c, w, true);
	}
	return syntax("a configuration has \"system set\", \"peer add\", \"link add\", \"route set\" and \"route add\" only");
}

static int parse_file(struct conf *c, const char *file)
{
	bool empty = true;
	struct lines l;
	struct words w;
	int err;

	err = lines_open(&l, file);
	if (err)
		return err;
	for (;;) {
		err = lines_next(&l, &w);
		if (err || !w.nr)
			break;
		empty = false;
		err = add_line(c, &w);
		if (err) {
			fprintf(stderr, "%s:%u: nothing was changed\n", l.file,
				l.nr);
			break;
		}
	}
	lines_close(&l);
	/* More likely the program that should have written it failed. */
	if (!err && empty && !ctl_opt.force)
		err = syntax("there is no command in the file; -f takes it all the same");
	return err;
}

/* The kernel would choose the same; to compare, it must be known before. */
static int fill_link(struct conf *c, struct link_spec *l)
{
	uint32_t id = 1;

	if (!HAS(l, HCOMM_A_LINK_ID)) {
		while (conf_link(c, l->peer, id))
			id++;
		if (id > 65535)
			return syntax("peer %u has too many links", l->peer);
		l->id = id;
		SET_HAS(l, HCOMM_A_LINK_ID);
	}
	if (!HAS(l, HCOMM_A_LINK_NAME))
		snprintf(l->name, sizeof(l->name), "%u.%u", l->peer, l->id);
	if (!HAS(l, HCOMM_A_LINK_LOCAL_PORT))
		l->local_port = c->port;
	if (!HAS(l, HCOMM_A_LINK_REMOTE_PORT))
		l->remote_port = c->port;
	if (!HAS(l, HCOMM_A_LINK_METRIC))
		l->metric = 100;
	if (!HAS(l, HCOMM_A_LINK_ADMIN))
		l->admin = HCOMM_ADMIN_UP;
	return 0;
}

static int check_names(const struct conf *c)
{
	int i, j;

	for (i = 0; i < c->nr_links; i++)
		for (j = 0; j < i; j++)
			if (!strcmp(c->link[i].name, c->link[j].name))
				return syntax("two links have the name %s",
					      c->link[i].name);
	return 0;
}

/* What only the whole file and the present state can tell. */
static int complete(struct conf *c, const struct conf *now)
{
	int i, err = 0;

	c->self = HAS(&c->system, HCOMM_A_SYSTEM_NODE) ?
		  c->system.val[HCOMM_A_SYSTEM_NODE] : now->self;
	c->port = HAS(&c->system, HCOMM_A_SYSTEM_PORT) ?
		  c->system.val[HCOMM_A_SYSTEM_PORT] : now->port;
	if (!c->self && c->nr_peers)
		return syntax("there is no \"system set node\", and this node has no number");
	if (conf_peer(c, c->self))
		return syntax("peer %u is this node itself", c->self);
	for (i = 0; i < c->nr_links && !err; i++)
		err = fill_link(c, &c->link[i]);
	if (!err)
		err = check_names(c);
	for (i = 0; i < c->nr_routes && !err; i++)
		if (c->route[i].pin &&
		    !conf_link(c, c->route[i].node, c->route[i].pin))
			err = syntax("route %u is pinned to link %u, which is not there",
				     c->route[i].node, c->route[i].pin);
	return err;
}

/**
 * conf_parse - read a file, and compare it with what there is
 * @c: configuration
 * @file: file to read, NULL when it was read
 * @now: present configuration, NULL when it is not known yet
 *
 * Return: 0 or EXIT_SYNTAX; it said what is wrong, and where.
 */
int conf_parse(struct conf *c, const char *file, const struct conf *now)
{
	int err = 0;

	if (file)
		err = parse_file(c, file);
	if (!err && now)
		err = complete(c, now);
	return err;
}
