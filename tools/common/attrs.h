/* SPDX-License-Identifier: GPL-2.0 */
/* Names and kinds of all netlink attributes, as the specification has them. */
#ifndef ATTRS_H
#define ATTRS_H

#include <stdbool.h>
#include <stddef.h>

enum attr_kind {
	ATTR_UNUSED,
	ATTR_PAD,
	ATTR_FLAG,
	ATTR_U8,	/* the family uses it for yes and no only */
	ATTR_U16,
	ATTR_U32,
	ATTR_U64,
	ATTR_STRING,
	ATTR_BINARY,	/* the family uses it for IP addresses only */
	ATTR_NEST,
};

struct attr_names {
	unsigned int nr;
	const char *const *name;
};

struct attr_set;

/**
 * struct attr_info - one attribute
 * @name: its name
 * @kind: what is in it
 * @multi: there may be several, one after the other
 * @values: names of its values, or NULL
 * @nest: what a nest has in it
 */
struct attr_info {
	const char *name;
	enum attr_kind kind;
	bool multi;
	const struct attr_names *values;
	const struct attr_set *nest;
};

struct attr_set {
	const char *name;
	int max;
	const struct attr_info *attr;
};

extern const struct attr_set attrs_system, attrs_counters, attrs_counter,
	attrs_peer, attrs_session, attrs_link, attrs_loss, attrs_route,
	attrs_candidate, attrs_socket, attrs_ping, attrs_event;
extern const struct attr_names names_link_state, names_transport_type,
	names_gso, names_admin, names_peer_state, names_session_state,
	names_socket_state, names_event_type;
extern const struct attr_set *const attrs_of_cmd[];

#endif /* ATTRS_H */
