/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CONF_H
#define CONF_H

#include "ctl.h"

/**
 * struct conf - a whole configuration, from a file or from the kernel
 * @self: this node; its own peer, link and route are not in the lists
 * @port: of the transports
 */
struct conf {
	uint32_t self;
	uint32_t port;
	struct system_spec system;
	struct peer_spec *peer;
	struct link_spec *link;
	struct route_spec *route;
	int nr_peers, nr_links, nr_routes;
};

/* conf_read.c */
int conf_read(struct conf *c);
int conf_parse(struct conf *c, const char *file, const struct conf *now);
void conf_free(struct conf *c);
struct peer_spec *conf_peer(const struct conf *c, uint32_t node);
struct link_spec *conf_link(const struct conf *c, uint32_t peer, uint32_t id);
struct route_spec *conf_route(const struct conf *c, uint32_t node);

/* conf_apply.c */
int conf_apply(const struct conf *old, const struct conf *new, bool sync);

#endif /* CONF_H */
