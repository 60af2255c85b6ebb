/* SPDX-License-Identifier: GPL-2.0 */
/* Made by selftests/ynl_gen.py from Documentation/netlink/specs/hcomm.yaml: do not edit. */
#ifndef HCOMM_NETLINK_GEN_H
#define HCOMM_NETLINK_GEN_H

#include <net/genetlink.h>

#include <hcomm/netlink.h>

int hcomm_nl_system_get_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_system_set_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_peer_new_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_peer_del_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_peer_set_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_peer_get_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_peer_get_dumpit(struct sk_buff *skb,
			     struct netlink_callback *cb);
int hcomm_nl_link_new_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_link_del_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_link_set_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_link_get_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_link_get_dumpit(struct sk_buff *skb,
			     struct netlink_callback *cb);
int hcomm_nl_route_new_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_route_del_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_route_set_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_route_get_doit(struct sk_buff *skb, struct genl_info *info);
int hcomm_nl_route_get_dumpit(struct sk_buff *skb,
			      struct netlink_callback *cb);
int hcomm_nl_socket_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int hcomm_nl_ping_doit(struct sk_buff *skb, struct genl_info *info);

/* Index in hcomm_nl_mcgrps[]. */
enum {
	HCOMM_NLGRP_EVENTS,
};

extern const struct genl_ops hcomm_nl_ops[16];
extern const struct genl_multicast_group hcomm_nl_mcgrps[1];

#endif /* HCOMM_NETLINK_GEN_H */
