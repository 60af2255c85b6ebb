// SPDX-License-Identifier: GPL-2.0
/* From one configuration to another. */
#include "conf.h"

#include <string.h>

static int del_peer(const struct peer_spec *p)
{
	return peer_apply(HCOMM_CMD_PEER_DEL, p);
}

static int del_link(const struct link_spec *l)
{
	struct link_spec which = { .peer = l->peer, .id = l->id };

	SET_HAS(&which, HCOMM_A_LINK_PEER);
	SET_HAS(&which, HCOMM_A_LINK_ID);
	return link_apply(HCOMM_CMD_LINK_DEL, &which);
}

static bool same_ip(const struct ip *a, const struct ip *b)
{
	return a->len == b->len && !memcmp(a->addr, b->addr, a->len);
}

/* What a link cannot change without being made again. */
static bool same_link(const struct link_spec *a, const struct link_spec *b)
{
	return !strcmp(a->name, b->name) && a->transport == b->transport &&
	       same_ip(&a->local, &b->local) &&
	       same_ip(&a->remote, &b->remote) &&
	       a->local_port == b->local_port &&
	       a->remote_port == b->remote_port && a->ifindex == b->ifindex;
}

/* A name can be changed, but not taken away. */
static bool keeps_peer(const struct peer_spec *was, const struct conf *new)
{
	const struct peer_spec *p = conf_peer(new, was->node);

	return p && (p->name[0] || !was->name[0]);
}

/* Deletes what is not wanted any more. */
static int clean(const struct conf *old, const struct conf *new, bool all)
{
	const struct link_spec *l;
	int i, err = 0;

	for (i = 0; i < old->nr_peers && !err; i++)
		if (all || !keeps_peer(&old->peer[i], new))
			err = del_peer(&old->peer[i]);
	if (all)
		return err;
	for (i = 0; i < old->nr_links && !err; i++) {
		if (!keeps_peer(conf_peer(old, old->link[i].peer), new))
			continue;
		l = conf_link(new, old->link[i].peer, old->link[i].id);
		if (!l || !same_link(l, &old->link[i]))
			err = del_link(&old->link[i]);
	}
	return err;
}

static int set_system(const struct conf *old, const struct conf *new)
{
	struct system_spec diff = {};
	const int *attr;

	for (attr = system_settings; *attr; attr++)
		if (HAS(&new->system, *attr) &&
		    (!HAS(&old->system, *attr) ||
		     new->system.val[*attr] != old->system.val[*attr])) {
			diff.val[*attr] = new->system.val[*attr];
			SET_HAS(&diff, *attr);
		}
	return diff.has ? system_apply(&diff) : 0;
}

static int set_peers(const struct conf *old, const struct conf *new, bool all)
{
	const struct peer_spec *was;
	int i, err = 0;

	for (i = 0; i < new->nr_peers && !err; i++) {
		was = all ? NULL : conf_peer(old, new->peer[i].node);
		if (!was || !keeps_peer(was, new))
			err = peer_apply(HCOMM_CMD_PEER_NEW, &new->peer[i]);
		else if (strcmp(was->name, new->peer[i].name))
			err = peer_apply(HCOMM_CMD_PEER_SET, &new->peer[i]);
	}
	return err;
}

/* What was to this node was deleted with the peer. */
static bool anew(const struct conf *old, const struct conf *new, uint32_t node)
{
	const struct peer_spec *was = conf_peer(old, node);

	return !was || !keeps_peer(was, new);
}

/* Before the links, whose first would make the route as well. */
static int add_routes(const struct conf *old, const struct conf *new, bool all)
{
	struct route_spec spec = {};
	int i, err = 0;

	for (i = 0; i < new->nr_routes && !err; i++) {
		if (!new->route[i].manual ||
		    (!all && !anew(old, new, new->route[i].node) &&
		     conf_route(old, new->route[i].node)))
			continue;
		spec.node = new->route[i].node;
		err = route_apply(HCOMM_CMD_ROUTE_NEW, &spec);
	}
	return err;
}

static int change_link(const struct link_spec *was, const struct link_spec *l)
{
	struct link_spec diff = *l;

	diff.has = 0;
	if (was->metric != l->metric)
		SET_HAS(&diff, HCOMM_A_LINK_METRIC);
	if (was->gso != l->gso)
		SET_HAS(&diff, HCOMM_A_LINK_GSO);
	if (was->loss_ppm != l->loss_ppm)
		SET_HAS(&diff, HCOMM_A_LINK_LOSS_THRESHOLD);
	if (was->admin != l->admin)
		SET_HAS(&diff, HCOMM_A_LINK_ADMIN);
	if (!diff.has)
		return 0;
	SET_HAS(&diff, HCOMM_A_LINK_PEER);
	SET_HAS(&diff, HCOMM_A_LINK_ID);
	return link_apply(HCOMM_CMD_LINK_SET, &diff);
}

static int set_links(const struct conf *old, const struct conf *new, bool all)
{
	const struct link_spec *was, *l;
	int i, err = 0;

	for (i = 0; i < new->nr_links && !err; i++) {
		l = &new->link[i];
		was = all || anew(old, new, l->peer) ? NULL :
		      conf_link(old, l->peer, l->id);
		if (was && same_link(was, l)) {
			err = change_link(was, l);
			continue;
		}
		err = link_apply(HCOMM_CMD_LINK_NEW, l);
		if (err && !hnl_quiet)
			fprintf(stderr, "Cannot make link %s.\n", l->name);
	}
	return err;
}

/* Looks at what there is by now: a route may have come or gone with its links. */
static int pin_routes(const struct conf *new)
{
	const struct route_spec *was, *r;
	struct route_spec spec = {};
	struct conf now = {};
	int i, err;

	err = conf_read(&now);
	for (i = 0; i < now.nr_routes && !err; i++) {
		was = &now.route[i];
		r = conf_route(new, was->node);
		spec.node = was->node;
		spec.pin = r ? r->pin : 0;
		if (spec.pin != was->pin)
			err = route_apply(HCOMM_CMD_ROUTE_SET, &spec);
	}
	conf_free(&now);
	return err;
}

static int apply(const struct conf *old, const struct conf *new, bool all)
{
	int err;

	err = clean(old, new, all);
	if (!err)
		err = set_system(old, new);
	if (!err)
		err = set_peers(old, new, all);
	if (!err)
		err = add_routes(old, new, all);
	if (!err)
		err = set_links(old, new, all);
	if (!err)
		err = pin_routes(new);
	return err;
}

/* As it was before; whatever can be made again is. */
static void restore(const struct conf *old)
{
	struct conf now = {};
	int err;

	hnl_quiet = 1;
	err = conf_read(&now);
	if (!err)
		err = apply(&now, old, now.self != old->self);
	hnl_quiet = 0;
	fputs(err ? "The configuration could not be restored completely.\n" :
	      "The configuration is as it was before.\n", stderr);
	conf_free(&now);
}

/**
 * conf_apply - make it so
 * @old: what there is
 * @new: what is wanted
 * @sync: keep what is the same in both
 *
 * Return: 0 or EXIT_KERNEL; then the old configuration is in place again.
 */
int conf_apply(const struct conf *old, const struct conf *new, bool sync)
{
	int err;

	/* A node changes its number only while it has no peers. */
	err = apply(old, new, !sync || old->self != new->self);
	if (err)
		restore(old);
	return err;
}
