// SPDX-License-Identifier: GPL-2.0
/* Made by selftests/ynl_gen.py from Documentation/netlink/specs/hcomm.yaml: do not edit. */

#include "attrs.h"

#include <hcomm/netlink.h>

const struct attr_names names_link_state = {
	.nr = 4,
	.name = (const char *const[]){
		"down",
		"probing",
		"up",
		"degraded",
	},
};

const struct attr_names names_transport_type = {
	.nr = 4,
	.name = (const char *const[]){
		"udp",
		"tcp",
		"loop",
		"rdma",
	},
};

const struct attr_names names_gso = {
	.nr = 3,
	.name = (const char *const[]){
		"auto",
		"on",
		"off",
	},
};

const struct attr_names names_admin = {
	.nr = 2,
	.name = (const char *const[]){
		"down",
		"up",
	},
};

const struct attr_names names_peer_state = {
	.nr = 2,
	.name = (const char *const[]){
		"down",
		"up",
	},
};

const struct attr_names names_session_state = {
	.nr = 3,
	.name = (const char *const[]){
		"idle",
		"hello",
		"open",
	},
};

const struct attr_names names_socket_state = {
	.nr = 4,
	.name = (const char *const[]){
		"closed",
		"connecting",
		"connected",
		"listening",
	},
};

const struct attr_names names_event_type = {
	.nr = 14,
	.name = (const char *const[]){
		"link-state",
		"link-new",
		"link-del",
		"link-set",
		"route-change",
		"route-new",
		"route-del",
		"peer-new",
		"peer-del",
		"peer-up",
		"peer-down",
		"session-up",
		"session-reset",
		"system-set",
	},
};

const struct attr_set attrs_system = {
	.name = "system",
	.max = HCOMM_A_SYSTEM_MAX,
	.attr = (const struct attr_info[]){
		[HCOMM_A_SYSTEM_NODE] = {
			.name = "node",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_INCARNATION] = {
			.name = "incarnation",
			.kind = ATTR_U64,
		},
		[HCOMM_A_SYSTEM_VERSION] = {
			.name = "version",
			.kind = ATTR_STRING,
		},
		[HCOMM_A_SYSTEM_HEARTBEAT_INTV] = {
			.name = "heartbeat-intv",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_RETRY_TIMEOUT] = {
			.name = "retry-timeout",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_SESSION_TIMEOUT] = {
			.name = "session-timeout",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_SNDBUF] = {
			.name = "sndbuf",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_RCVBUF] = {
			.name = "rcvbuf",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_MAX_MSG] = {
			.name = "max-msg",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_TX_QUEUE_SIZE] = {
			.name = "tx-queue-size",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_LOSS_THRESHOLD] = {
			.name = "loss-threshold",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_HOLDDOWN] = {
			.name = "holddown",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_MAX_LINKS] = {
			.name = "max-links",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_MAX_SESSIONS] = {
			.name = "max-sessions",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_MAX_LANES] = {
			.name = "max-lanes",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_PORT] = {
			.name = "port",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_FAMILY] = {
			.name = "family",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SYSTEM_COUNTERS] = {
			.name = "counters",
			.kind = ATTR_NEST,
			.nest = &attrs_counters,
		},
		[HCOMM_A_SYSTEM_PAD] = {
			.name = "pad",
			.kind = ATTR_PAD,
		},
	},
};

const struct attr_set attrs_counters = {
	.name = "counters",
	.max = HCOMM_A_COUNTERS_MAX,
	.attr = (const struct attr_info[]){
		[HCOMM_A_COUNTERS_COUNTER] = {
			.name = "counter",
			.kind = ATTR_NEST,
			.multi = true,
			.nest = &attrs_counter,
		},
	},
};

const struct attr_set attrs_counter = {
	.name = "counter",
	.max = HCOMM_A_COUNTER_MAX,
	.attr = (const struct attr_info[]){
		[HCOMM_A_COUNTER_NAME] = {
			.name = "name",
			.kind = ATTR_STRING,
		},
		[HCOMM_A_COUNTER_VALUE] = {
			.name = "value",
			.kind = ATTR_U64,
		},
		[HCOMM_A_COUNTER_PAD] = {
			.name = "pad",
			.kind = ATTR_PAD,
		},
	},
};

const struct attr_set attrs_peer = {
	.name = "peer",
	.max = HCOMM_A_PEER_MAX,
	.attr = (const struct attr_info[]){
		[HCOMM_A_PEER_NODE] = {
			.name = "node",
			.kind = ATTR_U32,
		},
		[HCOMM_A_PEER_NAME] = {
			.name = "name",
			.kind = ATTR_STRING,
		},
		[HCOMM_A_PEER_STATE] = {
			.name = "state",
			.kind = ATTR_U32,
			.values = &names_peer_state,
		},
		[HCOMM_A_PEER_LINKS] = {
			.name = "links",
			.kind = ATTR_U32,
		},
		[HCOMM_A_PEER_SESSION] = {
			.name = "session",
			.kind = ATTR_NEST,
			.nest = &attrs_session,
		},
	},
};

const struct attr_set attrs_session = {
	.name = "session",
	.max = HCOMM_A_SESSION_MAX,
	.attr = (const struct attr_info[]){
		[HCOMM_A_SESSION_STATE] = {
			.name = "state",
			.kind = ATTR_U32,
			.values = &names_session_state,
		},
		[HCOMM_A_SESSION_REMOTE_INCARNATION] = {
			.name = "remote-incarnation",
			.kind = ATTR_U64,
		},
		[HCOMM_A_SESSION_LANES_TX] = {
			.name = "lanes-tx",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SESSION_LANES_RX] = {
			.name = "lanes-rx",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SESSION_TX_QUEUED] = {
			.name = "tx-queued",
			.kind = ATTR_U64,
		},
		[HCOMM_A_SESSION_RX_QUEUED] = {
			.name = "rx-queued",
			.kind = ATTR_U64,
		},
		[HCOMM_A_SESSION_PAD] = {
			.name = "pad",
			.kind = ATTR_PAD,
		},
	},
};

const struct attr_set attrs_loss = {
	.name = "loss",
	.max = HCOMM_A_LOSS_MAX,
	.attr = (const struct attr_info[]){
		[HCOMM_A_LOSS_WINDOW_MS] = {
			.name = "window-ms",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LOSS_SENT] = {
			.name = "sent",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LOSS_LOST] = {
			.name = "lost",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LOSS_EVENTS] = {
			.name = "events",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LOSS_LOWER_PPM] = {
			.name = "lower-ppm",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LOSS_UPPER_PPM] = {
			.name = "upper-ppm",
			.kind = ATTR_U32,
		},
	},
};

const struct attr_set attrs_link = {
	.name = "link",
	.max = HCOMM_A_LINK_MAX,
	.attr = (const struct attr_info[]){
		[HCOMM_A_LINK_PEER] = {
			.name = "peer",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_ID] = {
			.name = "id",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_NAME] = {
			.name = "name",
			.kind = ATTR_STRING,
		},
		[HCOMM_A_LINK_TRANSPORT] = {
			.name = "transport",
			.kind = ATTR_U32,
			.values = &names_transport_type,
		},
		[HCOMM_A_LINK_LOCAL_ADDR] = {
			.name = "local-addr",
			.kind = ATTR_BINARY,
		},
		[HCOMM_A_LINK_REMOTE_ADDR] = {
			.name = "remote-addr",
			.kind = ATTR_BINARY,
		},
		[HCOMM_A_LINK_LOCAL_PORT] = {
			.name = "local-port",
			.kind = ATTR_U16,
		},
		[HCOMM_A_LINK_REMOTE_PORT] = {
			.name = "remote-port",
			.kind = ATTR_U16,
		},
		[HCOMM_A_LINK_IFINDEX] = {
			.name = "ifindex",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_IFNAME] = {
			.name = "ifname",
			.kind = ATTR_STRING,
		},
		[HCOMM_A_LINK_SCOPE_ID] = {
			.name = "scope-id",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_METRIC] = {
			.name = "metric",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_ADMIN] = {
			.name = "admin",
			.kind = ATTR_U32,
			.values = &names_admin,
		},
		[HCOMM_A_LINK_GSO] = {
			.name = "gso",
			.kind = ATTR_U32,
			.values = &names_gso,
		},
		[HCOMM_A_LINK_GSO_STATE] = {
			.name = "gso-state",
			.kind = ATTR_U8,
		},
		[HCOMM_A_LINK_GSO_REASON] = {
			.name = "gso-reason",
			.kind = ATTR_STRING,
		},
		[HCOMM_A_LINK_LOSS_THRESHOLD] = {
			.name = "loss-threshold",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_STATE] = {
			.name = "state",
			.kind = ATTR_U32,
			.values = &names_link_state,
		},
		[HCOMM_A_LINK_REASON] = {
			.name = "reason",
			.kind = ATTR_STRING,
		},
		[HCOMM_A_LINK_MTU] = {
			.name = "mtu",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_RTT_MIN] = {
			.name = "rtt-min",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_RTT_SMOOTHED] = {
			.name = "rtt-smoothed",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_RTT_VAR] = {
			.name = "rtt-var",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_CWND] = {
			.name = "cwnd",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_INFLIGHT] = {
			.name = "inflight",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_PACING_RATE] = {
			.name = "pacing-rate",
			.kind = ATTR_U64,
		},
		[HCOMM_A_LINK_LOSS] = {
			.name = "loss",
			.kind = ATTR_NEST,
			.multi = true,
			.nest = &attrs_loss,
		},
		[HCOMM_A_LINK_HOLDDOWN_LEFT] = {
			.name = "holddown-left",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_CARRIES] = {
			.name = "carries",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_SINCE] = {
			.name = "since",
			.kind = ATTR_U64,
		},
		[HCOMM_A_LINK_FAILOVERS] = {
			.name = "failovers",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_FAILBACKS] = {
			.name = "failbacks",
			.kind = ATTR_U32,
		},
		[HCOMM_A_LINK_COUNTERS] = {
			.name = "counters",
			.kind = ATTR_NEST,
			.nest = &attrs_counters,
		},
		[HCOMM_A_LINK_PAD] = {
			.name = "pad",
			.kind = ATTR_PAD,
		},
	},
};

const struct attr_set attrs_route = {
	.name = "route",
	.max = HCOMM_A_ROUTE_MAX,
	.attr = (const struct attr_info[]){
		[HCOMM_A_ROUTE_NODE] = {
			.name = "node",
			.kind = ATTR_U32,
		},
		[HCOMM_A_ROUTE_PINNED_PEER] = {
			.name = "pinned-peer",
			.kind = ATTR_U32,
		},
		[HCOMM_A_ROUTE_PINNED_LINK] = {
			.name = "pinned-link",
			.kind = ATTR_U32,
		},
		[HCOMM_A_ROUTE_ACTIVE_PEER] = {
			.name = "active-peer",
			.kind = ATTR_U32,
		},
		[HCOMM_A_ROUTE_ACTIVE_LINK] = {
			.name = "active-link",
			.kind = ATTR_U32,
		},
		[HCOMM_A_ROUTE_FAILOVERS] = {
			.name = "failovers",
			.kind = ATTR_U32,
		},
		[HCOMM_A_ROUTE_FAILBACKS] = {
			.name = "failbacks",
			.kind = ATTR_U32,
		},
		[HCOMM_A_ROUTE_CANDIDATES] = {
			.name = "candidates",
			.kind = ATTR_NEST,
			.multi = true,
			.nest = &attrs_candidate,
		},
		[HCOMM_A_ROUTE_AUTO] = {
			.name = "auto",
			.kind = ATTR_U8,
		},
		[HCOMM_A_ROUTE_SINCE] = {
			.name = "since",
			.kind = ATTR_U64,
		},
		[HCOMM_A_ROUTE_PAD] = {
			.name = "pad",
			.kind = ATTR_PAD,
		},
	},
};

const struct attr_set attrs_candidate = {
	.name = "candidate",
	.max = HCOMM_A_CANDIDATE_MAX,
	.attr = (const struct attr_info[]){
		[HCOMM_A_CANDIDATE_PEER] = {
			.name = "peer",
			.kind = ATTR_U32,
		},
		[HCOMM_A_CANDIDATE_LINK] = {
			.name = "link",
			.kind = ATTR_U32,
		},
		[HCOMM_A_CANDIDATE_NAME] = {
			.name = "name",
			.kind = ATTR_STRING,
		},
		[HCOMM_A_CANDIDATE_METRIC] = {
			.name = "metric",
			.kind = ATTR_U32,
		},
		[HCOMM_A_CANDIDATE_STATE] = {
			.name = "state",
			.kind = ATTR_U32,
			.values = &names_link_state,
		},
		[HCOMM_A_CANDIDATE_COST] = {
			.name = "cost",
			.kind = ATTR_U32,
		},
		[HCOMM_A_CANDIDATE_ACTIVE] = {
			.name = "active",
			.kind = ATTR_U8,
		},
		[HCOMM_A_CANDIDATE_REASON] = {
			.name = "reason",
			.kind = ATTR_STRING,
		},
	},
};

const struct attr_set attrs_socket = {
	.name = "socket",
	.max = HCOMM_A_SOCKET_MAX,
	.attr = (const struct attr_info[]){
		[HCOMM_A_SOCKET_TYPE] = {
			.name = "type",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SOCKET_STATE] = {
			.name = "state",
			.kind = ATTR_U32,
			.values = &names_socket_state,
		},
		[HCOMM_A_SOCKET_LOCAL_PORT] = {
			.name = "local-port",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SOCKET_REMOTE_NODE] = {
			.name = "remote-node",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SOCKET_REMOTE_PORT] = {
			.name = "remote-port",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SOCKET_UID] = {
			.name = "uid",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SOCKET_INODE] = {
			.name = "inode",
			.kind = ATTR_U64,
		},
		[HCOMM_A_SOCKET_PID] = {
			.name = "pid",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SOCKET_COMM] = {
			.name = "comm",
			.kind = ATTR_STRING,
		},
		[HCOMM_A_SOCKET_RX_QUEUED] = {
			.name = "rx-queued",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SOCKET_TX_QUEUED] = {
			.name = "tx-queued",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SOCKET_RCVBUF] = {
			.name = "rcvbuf",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SOCKET_SNDBUF] = {
			.name = "sndbuf",
			.kind = ATTR_U32,
		},
		[HCOMM_A_SOCKET_RX_MESSAGES] = {
			.name = "rx-messages",
			.kind = ATTR_U64,
		},
		[HCOMM_A_SOCKET_TX_MESSAGES] = {
			.name = "tx-messages",
			.kind = ATTR_U64,
		},
		[HCOMM_A_SOCKET_DROPS] = {
			.name = "drops",
			.kind = ATTR_U64,
		},
		[HCOMM_A_SOCKET_PAD] = {
			.name = "pad",
			.kind = ATTR_PAD,
		},
	},
};

const struct attr_set attrs_ping = {
	.name = "ping",
	.max = HCOMM_A_PING_MAX,
	.attr = (const struct attr_info[]){
		[HCOMM_A_PING_NODE] = {
			.name = "node",
			.kind = ATTR_U32,
		},
		[HCOMM_A_PING_LINK] = {
			.name = "link",
			.kind = ATTR_U32,
		},
		[HCOMM_A_PING_SIZE] = {
			.name = "size",
			.kind = ATTR_U32,
		},
		[HCOMM_A_PING_TIMEOUT] = {
			.name = "timeout",
			.kind = ATTR_U32,
		},
		[HCOMM_A_PING_RTT_US] = {
			.name = "rtt-us",
			.kind = ATTR_U32,
		},
	},
};

const struct attr_set attrs_event = {
	.name = "event",
	.max = HCOMM_A_EVENT_MAX,
	.attr = (const struct attr_info[]){
		[HCOMM_A_EVENT_EVENT] = {
			.name = "event",
			.kind = ATTR_U32,
			.values = &names_event_type,
		},
		[HCOMM_A_EVENT_TIME] = {
			.name = "time",
			.kind = ATTR_U64,
		},
		[HCOMM_A_EVENT_NODE] = {
			.name = "node",
			.kind = ATTR_U32,
		},
		[HCOMM_A_EVENT_PEER] = {
			.name = "peer",
			.kind = ATTR_U32,
		},
		[HCOMM_A_EVENT_LINK] = {
			.name = "link",
			.kind = ATTR_U32,
		},
		[HCOMM_A_EVENT_NAME] = {
			.name = "name",
			.kind = ATTR_STRING,
		},
		[HCOMM_A_EVENT_OLD_STATE] = {
			.name = "old-state",
			.kind = ATTR_U32,
			.values = &names_link_state,
		},
		[HCOMM_A_EVENT_NEW_STATE] = {
			.name = "new-state",
			.kind = ATTR_U32,
			.values = &names_link_state,
		},
		[HCOMM_A_EVENT_REASON] = {
			.name = "reason",
			.kind = ATTR_STRING,
		},
		[HCOMM_A_EVENT_OLD_LINK] = {
			.name = "old-link",
			.kind = ATTR_U32,
		},
		[HCOMM_A_EVENT_PAD] = {
			.name = "pad",
			.kind = ATTR_PAD,
		},
	},
};

const struct attr_set *const attrs_of_cmd[HCOMM_CMD_MAX + 1] = {
	[HCOMM_CMD_SYSTEM_GET] = &attrs_system,
	[HCOMM_CMD_SYSTEM_SET] = &attrs_system,
	[HCOMM_CMD_PEER_NEW] = &attrs_peer,
	[HCOMM_CMD_PEER_DEL] = &attrs_peer,
	[HCOMM_CMD_PEER_SET] = &attrs_peer,
	[HCOMM_CMD_PEER_GET] = &attrs_peer,
	[HCOMM_CMD_LINK_NEW] = &attrs_link,
	[HCOMM_CMD_LINK_DEL] = &attrs_link,
	[HCOMM_CMD_LINK_SET] = &attrs_link,
	[HCOMM_CMD_LINK_GET] = &attrs_link,
	[HCOMM_CMD_ROUTE_NEW] = &attrs_route,
	[HCOMM_CMD_ROUTE_DEL] = &attrs_route,
	[HCOMM_CMD_ROUTE_SET] = &attrs_route,
	[HCOMM_CMD_ROUTE_GET] = &attrs_route,
	[HCOMM_CMD_SOCKET_GET] = &attrs_socket,
	[HCOMM_CMD_PING] = &attrs_ping,
	[HCOMM_CMD_EVENT] = &attrs_event,
};
