// SPDX-License-Identifier: GPL-2.0
/* Made by selftests/ynl_gen.py from Documentation/netlink/specs/hcomm.yaml: do not edit. */

#include "netlink_gen.h"

static const struct nla_policy reject_policy[] = {
	[1] = {
		.type = NLA_REJECT,
		.reject_message = "this request has no attributes",
	},
};

static struct netlink_range_validation range_10_60000 = {
	.min = 10,
	.max = 60000U,
};

static struct netlink_range_validation range_1_3600000 = {
	.min = 1,
	.max = 3600000U,
};

static struct netlink_range_validation range_65536_268435456 = {
	.min = 65536,
	.max = 268435456U,
};

static struct netlink_range_validation range_1_1000000 = {
	.min = 1,
	.max = 1000000U,
};

static struct netlink_range_validation range_0_300000 = {
	.max = 300000U,
};

static struct netlink_range_validation range_1_65536 = {
	.min = 1,
	.max = 65536U,
};

static struct netlink_range_validation range_1_1048576 = {
	.min = 1,
	.max = 1048576U,
};

static struct netlink_range_validation range_1_65535 = {
	.min = 1,
	.max = 65535U,
};

static struct netlink_range_validation range_1_2147483647 = {
	.min = 1,
	.max = 2147483647U,
};

static struct netlink_range_validation range_0_1000000 = {
	.max = 1000000U,
};

static struct netlink_range_validation range_0_65535 = {
	.max = 65535U,
};

static const struct nla_policy system_set_policy[] = {
	[HCOMM_A_SYSTEM_NODE] = NLA_POLICY_MIN(NLA_U32, 1),
	[HCOMM_A_SYSTEM_HEARTBEAT_INTV] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_10_60000),
	[HCOMM_A_SYSTEM_RETRY_TIMEOUT] = NLA_POLICY_RANGE(NLA_U32, 1, 10000),
	[HCOMM_A_SYSTEM_SESSION_TIMEOUT] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_1_3600000),
	[HCOMM_A_SYSTEM_SNDBUF] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_65536_268435456),
	[HCOMM_A_SYSTEM_RCVBUF] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_65536_268435456),
	[HCOMM_A_SYSTEM_TX_QUEUE_SIZE] = NLA_POLICY_RANGE(NLA_U32, 16, 8192),
	[HCOMM_A_SYSTEM_LOSS_THRESHOLD] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_1_1000000),
	[HCOMM_A_SYSTEM_HOLDDOWN] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_0_300000),
	[HCOMM_A_SYSTEM_MAX_LINKS] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_1_65536),
	[HCOMM_A_SYSTEM_MAX_SESSIONS] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_1_65536),
	[HCOMM_A_SYSTEM_MAX_LANES] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_1_1048576),
	[HCOMM_A_SYSTEM_PORT] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_1_65535),
};

static const struct nla_policy peer_new_policy[] = {
	[HCOMM_A_PEER_NODE] = NLA_POLICY_MIN(NLA_U32, 1),
	[HCOMM_A_PEER_NAME] = {
		.type = NLA_NUL_STRING, .len = HCOMM_NAME_LEN - 1,
	},
};

static const struct nla_policy peer_del_policy[] = {
	[HCOMM_A_PEER_NODE] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy peer_set_policy[] = {
	[HCOMM_A_PEER_NODE] = NLA_POLICY_MIN(NLA_U32, 1),
	[HCOMM_A_PEER_NAME] = {
		.type = NLA_NUL_STRING, .len = HCOMM_NAME_LEN - 1,
	},
};

static const struct nla_policy peer_get_policy[] = {
	[HCOMM_A_PEER_NODE] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy link_new_policy[] = {
	[HCOMM_A_LINK_PEER] = NLA_POLICY_MIN(NLA_U32, 1),
	[HCOMM_A_LINK_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_1_65535),
	[HCOMM_A_LINK_NAME] = {
		.type = NLA_NUL_STRING, .len = HCOMM_NAME_LEN - 1,
	},
	[HCOMM_A_LINK_TRANSPORT] = NLA_POLICY_MAX(NLA_U32, 3),
	[HCOMM_A_LINK_LOCAL_ADDR] = NLA_POLICY_RANGE(NLA_BINARY, 4, 16),
	[HCOMM_A_LINK_REMOTE_ADDR] = NLA_POLICY_RANGE(NLA_BINARY, 4, 16),
	[HCOMM_A_LINK_LOCAL_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[HCOMM_A_LINK_REMOTE_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[HCOMM_A_LINK_IFINDEX] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_1_2147483647),
	[HCOMM_A_LINK_SCOPE_ID] = { .type = NLA_U32, },
	[HCOMM_A_LINK_METRIC] = { .type = NLA_U32, },
	[HCOMM_A_LINK_ADMIN] = NLA_POLICY_MAX(NLA_U32, 1),
	[HCOMM_A_LINK_GSO] = NLA_POLICY_MAX(NLA_U32, 2),
	[HCOMM_A_LINK_LOSS_THRESHOLD] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_0_1000000),
};

static const struct nla_policy link_del_policy[] = {
	[HCOMM_A_LINK_PEER] = NLA_POLICY_MIN(NLA_U32, 1),
	[HCOMM_A_LINK_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_1_65535),
	[HCOMM_A_LINK_NAME] = {
		.type = NLA_NUL_STRING, .len = HCOMM_NAME_LEN - 1,
	},
};

static const struct nla_policy link_set_policy[] = {
	[HCOMM_A_LINK_PEER] = NLA_POLICY_MIN(NLA_U32, 1),
	[HCOMM_A_LINK_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_1_65535),
	[HCOMM_A_LINK_NAME] = {
		.type = NLA_NUL_STRING, .len = HCOMM_NAME_LEN - 1,
	},
	[HCOMM_A_LINK_METRIC] = { .type = NLA_U32, },
	[HCOMM_A_LINK_ADMIN] = NLA_POLICY_MAX(NLA_U32, 1),
	[HCOMM_A_LINK_GSO] = NLA_POLICY_MAX(NLA_U32, 2),
	[HCOMM_A_LINK_LOSS_THRESHOLD] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_0_1000000),
};

static const struct nla_policy link_get_policy[] = {
	[HCOMM_A_LINK_PEER] = NLA_POLICY_MIN(NLA_U32, 1),
	[HCOMM_A_LINK_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_1_65535),
	[HCOMM_A_LINK_NAME] = {
		.type = NLA_NUL_STRING, .len = HCOMM_NAME_LEN - 1,
	},
};

static const struct nla_policy route_new_policy[] = {
	[HCOMM_A_ROUTE_NODE] = NLA_POLICY_MIN(NLA_U32, 1),
	[HCOMM_A_ROUTE_PINNED_PEER] = { .type = NLA_U32, },
	[HCOMM_A_ROUTE_PINNED_LINK] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_0_65535),
};

static const struct nla_policy route_del_policy[] = {
	[HCOMM_A_ROUTE_NODE] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy route_set_policy[] = {
	[HCOMM_A_ROUTE_NODE] = NLA_POLICY_MIN(NLA_U32, 1),
	[HCOMM_A_ROUTE_PINNED_PEER] = { .type = NLA_U32, },
	[HCOMM_A_ROUTE_PINNED_LINK] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &range_0_65535),
};

static const struct nla_policy route_get_policy[] = {
	[HCOMM_A_ROUTE_NODE] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy ping_policy[] = {
	[HCOMM_A_PING_NODE] = NLA_POLICY_MIN(NLA_U32, 1),
	[HCOMM_A_PING_LINK] = NLA_POLICY_FULL_RANGE(NLA_U32, &range_1_65535),
	[HCOMM_A_PING_SIZE] = NLA_POLICY_MAX(NLA_U32, 1024),
	[HCOMM_A_PING_TIMEOUT] = NLA_POLICY_RANGE(NLA_U32, 1, 5000),
};

const struct genl_ops hcomm_nl_ops[16] = {
	{
		.cmd		= HCOMM_CMD_SYSTEM_GET,
		.doit		= hcomm_nl_system_get_doit,
		.policy		= reject_policy,
		.maxattr	= ARRAY_SIZE(reject_policy) - 1,
	},
	{
		.cmd		= HCOMM_CMD_SYSTEM_SET,
		.doit		= hcomm_nl_system_set_doit,
		.policy		= system_set_policy,
		.maxattr	= HCOMM_A_SYSTEM_PORT,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= HCOMM_CMD_PEER_NEW,
		.doit		= hcomm_nl_peer_new_doit,
		.policy		= peer_new_policy,
		.maxattr	= HCOMM_A_PEER_NAME,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= HCOMM_CMD_PEER_DEL,
		.doit		= hcomm_nl_peer_del_doit,
		.policy		= peer_del_policy,
		.maxattr	= HCOMM_A_PEER_NODE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= HCOMM_CMD_PEER_SET,
		.doit		= hcomm_nl_peer_set_doit,
		.policy		= peer_set_policy,
		.maxattr	= HCOMM_A_PEER_NAME,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= HCOMM_CMD_PEER_GET,
		.doit		= hcomm_nl_peer_get_doit,
		.dumpit		= hcomm_nl_peer_get_dumpit,
		.policy		= peer_get_policy,
		.maxattr	= HCOMM_A_PEER_NODE,
	},
	{
		.cmd		= HCOMM_CMD_LINK_NEW,
		.doit		= hcomm_nl_link_new_doit,
		.policy		= link_new_policy,
		.maxattr	= HCOMM_A_LINK_LOSS_THRESHOLD,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= HCOMM_CMD_LINK_DEL,
		.doit		= hcomm_nl_link_del_doit,
		.policy		= link_del_policy,
		.maxattr	= HCOMM_A_LINK_NAME,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= HCOMM_CMD_LINK_SET,
		.doit		= hcomm_nl_link_set_doit,
		.policy		= link_set_policy,
		.maxattr	= HCOMM_A_LINK_LOSS_THRESHOLD,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= HCOMM_CMD_LINK_GET,
		.doit		= hcomm_nl_link_get_doit,
		.dumpit		= hcomm_nl_link_get_dumpit,
		.policy		= link_get_policy,
		.maxattr	= HCOMM_A_LINK_NAME,
	},
	{
		.cmd		= HCOMM_CMD_ROUTE_NEW,
		.doit		= hcomm_nl_route_new_doit,
		.policy		= route_new_policy,
		.maxattr	= HCOMM_A_ROUTE_PINNED_LINK,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= HCOMM_CMD_ROUTE_DEL,
		.doit		= hcomm_nl_route_del_doit,
		.policy		= route_del_policy,
		.maxattr	= HCOMM_A_ROUTE_NODE,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= HCOMM_CMD_ROUTE_SET,
		.doit		= hcomm_nl_route_set_doit,
		.policy		= route_set_policy,
		.maxattr	= HCOMM_A_ROUTE_PINNED_LINK,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= HCOMM_CMD_ROUTE_GET,
		.doit		= hcomm_nl_route_get_doit,
		.dumpit		= hcomm_nl_route_get_dumpit,
		.policy		= route_get_policy,
		.maxattr	= HCOMM_A_ROUTE_NODE,
	},
	{
		.cmd		= HCOMM_CMD_SOCKET_GET,
		.dumpit		= hcomm_nl_socket_get_dumpit,
		.policy		= reject_policy,
		.maxattr	= ARRAY_SIZE(reject_policy) - 1,
	},
	{
		.cmd		= HCOMM_CMD_PING,
		.doit		= hcomm_nl_ping_doit,
		.policy		= ping_policy,
		.maxattr	= HCOMM_A_PING_TIMEOUT,
	},
};

const struct genl_multicast_group hcomm_nl_mcgrps[1] = {
	[HCOMM_NLGRP_EVENTS] = { .name = HCOMM_GENL_EVENTS, },
};
