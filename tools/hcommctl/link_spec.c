// SPDX-License-Identifier: GPL-2.0
/* The words that describe a link. */
#include "ctl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

static int get_ip(const char *key, const char *text, struct ip *ip,
		  uint32_t *scope)
{
	char addr[INET6_ADDRSTRLEN];
	const char *dev = strchr(text, '%');
	size_t len = dev ? (size_t)(dev - text) : strlen(text);

	*scope = 0;
	if (len < sizeof(addr)) {
		memcpy(addr, text, len);
		addr[len] = 0;
		if (inet_pton(AF_INET, addr, ip->addr) == 1)
			ip->len = 4;
		else if (inet_pton(AF_INET6, addr, ip->addr) == 1)
			ip->len = 16;
	}
	if (!ip->len || (dev && ip->len == 4))
		return syntax("%s: \"%s\" is not an IP address", key, text);
	if (dev) {
		*scope = if_nametoindex(dev + 1);
		if (!*scope)
			return syntax("%s: there is no device \"%s\"", key,
				      dev + 1);
	}
	return 0;
}

static bool has_ip(const struct ifaddrs *ifa, const struct ip *ip)
{
	const struct sockaddr *sa = ifa->ifa_addr;
	const void *addr;

	if (!sa || sa->sa_family != (ip->len == 4 ? AF_INET : AF_INET6))
		return false;
	addr = ip->len == 4 ?
	       (const void *)&((const struct sockaddr_in *)sa)->sin_addr :
	       (const void *)&((const struct sockaddr_in6 *)sa)->sin6_addr;
	/* All of 127.0.0.0/8 belongs to the loopback device. */
	if (ip->len == 4 && ip->addr[0] == 127)
		return ifa->ifa_flags & IFF_LOOPBACK;
	return !memcmp(addr, ip->addr, ip->len);
}

/* The device that has the local address. */
static int find_device(struct link_spec *s, const char *text)
{
	struct ifaddrs *all, *ifa;
	uint32_t index;

	if (getifaddrs(&all))
		return syntax("cannot read the addresses of this node: %s",
			      strerror(errno));
	for (ifa = all; ifa; ifa = ifa->ifa_next) {
		if (!has_ip(ifa, &s->local))
			continue;
		index = if_nametoindex(ifa->ifa_name);
		if (s->ifindex && s->ifindex != index) {
			freeifaddrs(all);
			return syntax("local: %s is on more than one device, say which with \"dev\"",
				      text);
		}
		s->ifindex = index;
	}
	freeifaddrs(all);
	if (!s->ifindex)
		return syntax("local: %s is not an address of this node", text);
	SET_HAS(s, HCOMM_A_LINK_IFINDEX);
	return 0;
}

static int get_dev(const char *text, struct link_spec *s)
{
	s->ifindex = if_nametoindex(text);
	if (!s->ifindex)
		return syntax("dev: there is no device \"%s\"", text);
	return 0;
}

static int get_loss(const char *text, struct link_spec *s)
{
	if (!strcmp(text, "default")) {
		s->loss_ppm = 0;
		return 0;
	}
	return get_ppm("loss-threshold", text, &s->loss_ppm);
}

/* A value of @key; -1: there is no such key. */
static int get_value(int attr, const char *key, const char *text,
		     struct link_spec *s)
{
	switch (attr) {
	case HCOMM_A_LINK_PEER:
		return get_u32(key, text, 1, UINT32_MAX, &s->peer);
	case HCOMM_A_LINK_ID:
		return get_u32(key, text, 1, 65535, &s->id);
	case HCOMM_A_LINK_NAME:
		return get_name(key, text, s->name);
	case HCOMM_A_LINK_TRANSPORT:
		return get_enum(key, text, &names_transport_type,
				&s->transport);
	case HCOMM_A_LINK_LOCAL_PORT:
		return get_u32(key, text, 1, 65535, &s->local_port);
	case HCOMM_A_LINK_REMOTE_PORT:
		return get_u32(key, text, 1, 65535, &s->remote_port);
	case HCOMM_A_LINK_IFINDEX:
		return get_dev(text, s);
	case HCOMM_A_LINK_METRIC:
		return get_u32(key, text, 0, UINT32_MAX, &s->metric);
	case HCOMM_A_LINK_GSO:
		return get_enum(key, text, &names_gso, &s->gso);
	case HCOMM_A_LINK_LOSS_THRESHOLD:
		return get_loss(text, s);
	case HCOMM_A_LINK_ADMIN:
		return get_enum(key, text, &names_admin, &s->admin);
	}
	return -1;
}

struct key {
	const char *name;
	int attr;
};

static const struct key settings[] = {
	{ "metric", HCOMM_A_LINK_METRIC },
	{ "gso", HCOMM_A_LINK_GSO },
	{ "loss-threshold", HCOMM_A_LINK_LOSS_THRESHOLD },
	{ "admin", HCOMM_A_LINK_ADMIN },
	{}
};

static const struct key addresses[] = {
	{ "peer", HCOMM_A_LINK_PEER },
	{ "id", HCOMM_A_LINK_ID },
	{ "name", HCOMM_A_LINK_NAME },
	{ "type", HCOMM_A_LINK_TRANSPORT },
	{ "local", HCOMM_A_LINK_LOCAL_ADDR },
	{ "remote", HCOMM_A_LINK_REMOTE_ADDR },
	{ "dev", HCOMM_A_LINK_IFINDEX },
	{ "port", HCOMM_A_LINK_LOCAL_PORT },
	{ "remote-port", HCOMM_A_LINK_REMOTE_PORT },
	{}
};

static int find_key(const struct key *keys, const char *name)
{
	for (; keys->name; keys++)
		if (!strcmp(keys->name, name))
			return keys->attr;
	return 0;
}

/* "up" and "down" may stand alone. */
static int setting_attr(struct words *w, const char *key, const char **text)
{
	if (!strcmp(key, "up") || !strcmp(key, "down")) {
		*text = key;
		return HCOMM_A_LINK_ADMIN;
	}
	*text = word_peek(w);
	return find_key(settings, key);
}

static int parse_setting(struct words *w, const char *key, int attr,
			 const char *text, struct link_spec *s)
{
	if (text != key && word_value(w, key, &text))
		return EXIT_SYNTAX;
	if (HAS(s, attr))
		return syntax("%s is given twice", key);
	SET_HAS(s, attr);
	return get_value(attr, key, text, s);
}

int link_parse_settings(struct words *w, struct link_spec *s)
{
	const char *key, *text;
	int attr, err;

	while ((key = word_next(w))) {
		attr = setting_attr(w, key, &text);
		if (!attr)
			return syntax("\"%s\" is not a setting of a link", key);
		err = parse_setting(w, key, attr, text, s);
		if (err)
			return err;
	}
	return 0;
}

static int check_link(struct link_spec *s, const char *local,
		      uint32_t scope)
{
	bool local_only;

	if (!HAS(s, HCOMM_A_LINK_PEER))
		return syntax("peer is missing");
	if (!HAS(s, HCOMM_A_LINK_LOCAL_ADDR))
		return syntax("local is missing");
	if (!HAS(s, HCOMM_A_LINK_REMOTE_ADDR))
		return syntax("remote is missing");
	if (s->local.len != s->remote.len)
		return syntax("local and remote are addresses of two families");
	if (scope && HAS(s, HCOMM_A_LINK_IFINDEX) && scope != s->ifindex)
		return syntax("dev is another device than that of the address");
	if (scope) {
		s->ifindex = scope;
		SET_HAS(s, HCOMM_A_LINK_IFINDEX);
	}
	local_only = s->local.len == 16 && s->local.addr[0] == 0xfe &&
		     (s->local.addr[1] & 0xc0) == 0x80;
	if (local_only && !HAS(s, HCOMM_A_LINK_IFINDEX))
		return syntax("local: %s is a link-local address and needs \"dev\"",
			      local);
	if (HAS(s, HCOMM_A_LINK_IFINDEX))
		return 0;
	return find_device(s, local);
}

/* The words after "link add". */
int link_parse(struct words *w, struct link_spec *s)
{
	const char *key, *text, *local = NULL;
	uint32_t scope, any_scope = 0;
	int attr, err;

	while ((key = word_next(w))) {
		attr = setting_attr(w, key, &text);
		if (!attr) {
			attr = find_key(addresses, key);
			text = NULL;
		}
		if (!attr)
			return syntax("\"%s\" is not known here", key);
		if (attr != HCOMM_A_LINK_LOCAL_ADDR &&
		    attr != HCOMM_A_LINK_REMOTE_ADDR) {
			err = parse_setting(w, key, attr, text, s);
			if (err)
				return err;
			continue;
		}
		if (HAS(s, attr))
			return syntax("%s is given twice", key);
		SET_HAS(s, attr);
		err = word_value(w, key, &text);
		if (!err)
			err = get_ip(key, text, attr == HCOMM_A_LINK_LOCAL_ADDR
				     ? &s->local : &s->remote, &scope);
		if (err)
			return err;
		if (attr == HCOMM_A_LINK_LOCAL_ADDR)
			local = text;
		if (scope)
			any_scope = scope;
	}
	return check_link(s, local, any_scope);
}

static void print_ip(FILE *out, const char *key, const struct ip *ip)
{
	char buf[INET6_ADDRSTRLEN];

	inet_ntop(ip->len == 4 ? AF_INET : AF_INET6, ip->addr, buf,
		  sizeof(buf));
	fprintf(out, " %s %s", key, buf);
}

/* As link_parse() reads it. */
void link_print(const struct link_spec *s, FILE *out)
{
	char dev[IF_NAMESIZE];

	fprintf(out, "link add peer %u id %u name %s type %s", s->peer, s->id,
		s->name, names_transport_type.name[s->transport]);
	print_ip(out, "local", &s->local);
	print_ip(out, "remote", &s->remote);
	if (if_indextoname(s->ifindex, dev))
		fprintf(out, " dev %s", dev);
	fprintf(out, " port %u remote-port %u metric %u gso %s",
		s->local_port, s->remote_port, s->metric,
		names_gso.name[s->gso]);
	if (s->loss_ppm)
		fprintf(out, " loss-threshold %s", ppm_text(s->loss_ppm));
	if (s->admin == HCOMM_ADMIN_DOWN)
		fputs(" down", out);
}
