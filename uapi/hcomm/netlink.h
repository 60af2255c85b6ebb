/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* Made by selftests/ynl_gen.py from Documentation/netlink/specs/hcomm.yaml: do not edit. */
#ifndef _UAPI_HCOMM_NETLINK_H
#define _UAPI_HCOMM_NETLINK_H

#define HCOMM_GENL_NAME	"hcomm"
#define HCOMM_GENL_VERSION	1

#define HCOMM_GENL_EVENTS	"events"

#define HCOMM_NAME_LEN	16	/* size of a name, with its terminating zero */

/**
 * enum hcomm_link_state - what a link is good for
 * @HCOMM_LINK_STATE_DOWN: not usable; probed slowly if the administrator
 *	wants it up
 * @HCOMM_LINK_STATE_PROBING: heartbeats are sent and not answered yet
 * @HCOMM_LINK_STATE_UP: usable
 * @HCOMM_LINK_STATE_DEGRADED: loses more than the threshold; used if there
 *	is nothing better
 */
enum hcomm_link_state {
	HCOMM_LINK_STATE_DOWN,
	HCOMM_LINK_STATE_PROBING,
	HCOMM_LINK_STATE_UP,
	HCOMM_LINK_STATE_DEGRADED,
};

/**
 * enum hcomm_transport_type - what carries the packets of a link
 * @HCOMM_TRANSPORT_UDP: UDP datagrams, IPv4 or IPv6
 * @HCOMM_TRANSPORT_TCP: one TCP connection
 * @HCOMM_TRANSPORT_LOOP: a node to itself
 * @HCOMM_TRANSPORT_RDMA: RDMA device; reserved
 */
enum hcomm_transport_type {
	HCOMM_TRANSPORT_UDP,
	HCOMM_TRANSPORT_TCP,
	HCOMM_TRANSPORT_LOOP,
	HCOMM_TRANSPORT_RDMA,
};

/**
 * enum hcomm_gso - many datagrams in one call (UDP segmentation offload)
 * @HCOMM_GSO_AUTO: as long as the device can
 * @HCOMM_GSO_ON: always; a device that cannot makes sending fail
 * @HCOMM_GSO_OFF: never
 */
enum hcomm_gso {
	HCOMM_GSO_AUTO,
	HCOMM_GSO_ON,
	HCOMM_GSO_OFF,
};

/**
 * enum hcomm_admin - what the administrator wants of a link
 * @HCOMM_ADMIN_DOWN: the link is not used and sends nothing
 * @HCOMM_ADMIN_UP: the link is used when it works
 */
enum hcomm_admin {
	HCOMM_ADMIN_DOWN,
	HCOMM_ADMIN_UP,
};

/**
 * enum hcomm_peer_state - whether a peer can be reached directly
 * @HCOMM_PEER_STATE_DOWN: no link to it is usable
 * @HCOMM_PEER_STATE_UP: at least one link to it is up or degraded
 */
enum hcomm_peer_state {
	HCOMM_PEER_STATE_DOWN,
	HCOMM_PEER_STATE_UP,
};

/**
 * enum hcomm_session_nl_state - state of what two nodes agreed on
 * @HCOMM_SESSION_STATE_IDLE: nothing was sent yet
 * @HCOMM_SESSION_STATE_HELLO: greeted, no answer yet
 * @HCOMM_SESSION_STATE_OPEN: data flows
 */
enum hcomm_session_nl_state {
	HCOMM_SESSION_STATE_IDLE,
	HCOMM_SESSION_STATE_HELLO,
	HCOMM_SESSION_STATE_OPEN,
};

/**
 * enum hcomm_socket_state - state of an AF_HCOMM socket
 * @HCOMM_SOCKET_STATE_CLOSED: neither connected nor listening; a SOCK_RDM
 *	socket is always so
 * @HCOMM_SOCKET_STATE_CONNECTING: connect() waits for an answer
 * @HCOMM_SOCKET_STATE_CONNECTED: connected
 * @HCOMM_SOCKET_STATE_LISTENING: listen() was called
 */
enum hcomm_socket_state {
	HCOMM_SOCKET_STATE_CLOSED,
	HCOMM_SOCKET_STATE_CONNECTING,
	HCOMM_SOCKET_STATE_CONNECTED,
	HCOMM_SOCKET_STATE_LISTENING,
};

/**
 * enum hcomm_event_type - what happened
 * @HCOMM_EVENT_LINK_STATE: a link changed from old-state to new-state
 * @HCOMM_EVENT_LINK_NEW: a link was made
 * @HCOMM_EVENT_LINK_DEL: a link was deleted
 * @HCOMM_EVENT_LINK_SET: settings of a link were changed
 * @HCOMM_EVENT_ROUTE_CHANGE: traffic to a node takes another link; link is 0
 *	when none is left
 * @HCOMM_EVENT_ROUTE_NEW: a route was made
 * @HCOMM_EVENT_ROUTE_DEL: a route was deleted
 * @HCOMM_EVENT_PEER_NEW: a peer was made
 * @HCOMM_EVENT_PEER_DEL: a peer was deleted
 * @HCOMM_EVENT_PEER_UP: the first link to a peer became usable
 * @HCOMM_EVENT_PEER_DOWN: the last usable link to a peer is gone
 * @HCOMM_EVENT_SESSION_UP: a session with a node was opened
 * @HCOMM_EVENT_SESSION_RESET: a session with a node ended, as the node
 *	restarted
 * @HCOMM_EVENT_SYSTEM_SET: settings of this node were changed
 */
enum hcomm_event_type {
	HCOMM_EVENT_LINK_STATE,
	HCOMM_EVENT_LINK_NEW,
	HCOMM_EVENT_LINK_DEL,
	HCOMM_EVENT_LINK_SET,
	HCOMM_EVENT_ROUTE_CHANGE,
	HCOMM_EVENT_ROUTE_NEW,
	HCOMM_EVENT_ROUTE_DEL,
	HCOMM_EVENT_PEER_NEW,
	HCOMM_EVENT_PEER_DEL,
	HCOMM_EVENT_PEER_UP,
	HCOMM_EVENT_PEER_DOWN,
	HCOMM_EVENT_SESSION_UP,
	HCOMM_EVENT_SESSION_RESET,
	HCOMM_EVENT_SYSTEM_SET,
};

/**
 * enum hcomm_a_system - settings of this node
 * @HCOMM_A_SYSTEM_NODE: number of this node, 1 to 2^32-1; 0 while not set
 *	(u32)
 * @HCOMM_A_SYSTEM_INCARNATION: random number of this life of the node, read
 *	only (u64)
 * @HCOMM_A_SYSTEM_VERSION: version of the module, read only (string)
 * @HCOMM_A_SYSTEM_HEARTBEAT_INTV: time between heartbeats in ms, 10 to 60000
 *	(u32)
 * @HCOMM_A_SYSTEM_RETRY_TIMEOUT: shortest retransmission timeout in ms, 1 to
 *	10000 (u32)
 * @HCOMM_A_SYSTEM_SESSION_TIMEOUT: time that data waits for a usable link in
 *	ms, 1 to 3600000 (u32)
 * @HCOMM_A_SYSTEM_SNDBUF: default SO_SNDBUF of sockets in bytes, 65536 to
 *	268435456 (u32)
 * @HCOMM_A_SYSTEM_RCVBUF: default SO_RCVBUF of sockets in bytes, 65536 to
 *	268435456 (u32)
 * @HCOMM_A_SYSTEM_MAX_MSG: longest message in bytes, read only (u32)
 * @HCOMM_A_SYSTEM_TX_QUEUE_SIZE: packets in flight on one link, 16 to 8192
 *	(u32)
 * @HCOMM_A_SYSTEM_LOSS_THRESHOLD: loss above which a link is degraded, in
 *	ppm, 1 to 1000000 (u32)
 * @HCOMM_A_SYSTEM_HOLDDOWN: time in ms that a link which was bad is not
 *	preferred, 0 to 300000; it doubles each time the link is bad again soon
 *	(u32)
 * @HCOMM_A_SYSTEM_MAX_LINKS: limit of links, 1 to 65536 (u32)
 * @HCOMM_A_SYSTEM_MAX_SESSIONS: limit of sessions, 1 to 65536 (u32)
 * @HCOMM_A_SYSTEM_MAX_LANES: limit of lanes of one session in each
 *	direction, 1 to 1048576 (u32)
 * @HCOMM_A_SYSTEM_PORT: default UDP and TCP port of the transports, 1 to
 *	65535 (u32)
 * @HCOMM_A_SYSTEM_FAMILY: number of the AF_HCOMM address family, read only
 *	(u32)
 * @HCOMM_A_SYSTEM_COUNTERS: counters of this node, read only (nest of
 *	counters)
 * @HCOMM_A_SYSTEM_PAD: alignment of 64-bit values, no content (pad)
 */
enum hcomm_a_system {
	HCOMM_A_SYSTEM_NODE = 1,
	HCOMM_A_SYSTEM_INCARNATION,
	HCOMM_A_SYSTEM_VERSION,
	HCOMM_A_SYSTEM_HEARTBEAT_INTV,
	HCOMM_A_SYSTEM_RETRY_TIMEOUT,
	HCOMM_A_SYSTEM_SESSION_TIMEOUT,
	HCOMM_A_SYSTEM_SNDBUF,
	HCOMM_A_SYSTEM_RCVBUF,
	HCOMM_A_SYSTEM_MAX_MSG,
	HCOMM_A_SYSTEM_TX_QUEUE_SIZE,
	HCOMM_A_SYSTEM_LOSS_THRESHOLD,
	HCOMM_A_SYSTEM_HOLDDOWN,
	HCOMM_A_SYSTEM_MAX_LINKS,
	HCOMM_A_SYSTEM_MAX_SESSIONS,
	HCOMM_A_SYSTEM_MAX_LANES,
	HCOMM_A_SYSTEM_PORT,
	HCOMM_A_SYSTEM_FAMILY,
	HCOMM_A_SYSTEM_COUNTERS,
	HCOMM_A_SYSTEM_PAD,
};

#define HCOMM_A_SYSTEM_MAX	HCOMM_A_SYSTEM_PAD

/**
 * enum hcomm_a_counters - a list of counters
 * @HCOMM_A_COUNTERS_COUNTER: one counter (nest of counter, several)
 */
enum hcomm_a_counters {
	HCOMM_A_COUNTERS_COUNTER = 1,
};

#define HCOMM_A_COUNTERS_MAX	HCOMM_A_COUNTERS_COUNTER

/**
 * enum hcomm_a_counter - one counter; it grows only, and reading does not
 *	reset it
 * @HCOMM_A_COUNTER_NAME: its name (string)
 * @HCOMM_A_COUNTER_VALUE: its value (u64)
 * @HCOMM_A_COUNTER_PAD: alignment of 64-bit values, no content (pad)
 */
enum hcomm_a_counter {
	HCOMM_A_COUNTER_NAME = 1,
	HCOMM_A_COUNTER_VALUE,
	HCOMM_A_COUNTER_PAD,
};

#define HCOMM_A_COUNTER_MAX	HCOMM_A_COUNTER_PAD

/**
 * enum hcomm_a_peer - a node that this node has links to
 * @HCOMM_A_PEER_NODE: its number, 1 to 2^32-1 (u32)
 * @HCOMM_A_PEER_NAME: name for people, 1 to 15 characters (string)
 * @HCOMM_A_PEER_STATE: enum hcomm_peer_state, read only (u32)
 * @HCOMM_A_PEER_LINKS: number of links to it, read only (u32)
 * @HCOMM_A_PEER_SESSION: what is open between the two nodes, read only;
 *	absent if nothing (nest of session)
 */
enum hcomm_a_peer {
	HCOMM_A_PEER_NODE = 1,
	HCOMM_A_PEER_NAME,
	HCOMM_A_PEER_STATE,
	HCOMM_A_PEER_LINKS,
	HCOMM_A_PEER_SESSION,
};

#define HCOMM_A_PEER_MAX	HCOMM_A_PEER_SESSION

/**
 * enum hcomm_a_session - what two nodes agreed on, read only
 * @HCOMM_A_SESSION_STATE: enum hcomm_session_nl_state (u32)
 * @HCOMM_A_SESSION_REMOTE_INCARNATION: incarnation of the other node (u64)
 * @HCOMM_A_SESSION_LANES_TX: lanes that this node sends on (u32)
 * @HCOMM_A_SESSION_LANES_RX: lanes that this node receives on (u32)
 * @HCOMM_A_SESSION_TX_QUEUED: bytes that are sent or wait to be, and are not
 *	acknowledged (u64)
 * @HCOMM_A_SESSION_RX_QUEUED: bytes that arrived and were not read (u64)
 * @HCOMM_A_SESSION_PAD: alignment of 64-bit values, no content (pad)
 */
enum hcomm_a_session {
	HCOMM_A_SESSION_STATE = 1,
	HCOMM_A_SESSION_REMOTE_INCARNATION,
	HCOMM_A_SESSION_LANES_TX,
	HCOMM_A_SESSION_LANES_RX,
	HCOMM_A_SESSION_TX_QUEUED,
	HCOMM_A_SESSION_RX_QUEUED,
	HCOMM_A_SESSION_PAD,
};

#define HCOMM_A_SESSION_MAX	HCOMM_A_SESSION_PAD

/**
 * enum hcomm_a_loss - what was lost on a link during a time, read only
 * @HCOMM_A_LOSS_WINDOW_MS: length of the time that is looked at, in ms (u32)
 * @HCOMM_A_LOSS_SENT: packets whose fate is known (u32)
 * @HCOMM_A_LOSS_LOST: how many of them were lost (u32)
 * @HCOMM_A_LOSS_EVENTS: in how many runs (u32)
 * @HCOMM_A_LOSS_LOWER_PPM: the loss is above this with confidence, in ppm
 *	(u32)
 * @HCOMM_A_LOSS_UPPER_PPM: the loss is below this with confidence, in ppm
 *	(u32)
 */
enum hcomm_a_loss {
	HCOMM_A_LOSS_WINDOW_MS = 1,
	HCOMM_A_LOSS_SENT,
	HCOMM_A_LOSS_LOST,
	HCOMM_A_LOSS_EVENTS,
	HCOMM_A_LOSS_LOWER_PPM,
	HCOMM_A_LOSS_UPPER_PPM,
};

#define HCOMM_A_LOSS_MAX	HCOMM_A_LOSS_UPPER_PPM

/**
 * enum hcomm_a_link - one way to a peer; found by name, or by peer and id
 * @HCOMM_A_LINK_PEER: node at the other end, 1 to 2^32-1 (u32)
 * @HCOMM_A_LINK_ID: number of the link, the same on both ends, 1 to 65535;
 *	the lowest free one if it is not given (u32)
 * @HCOMM_A_LINK_NAME: name, 1 to 15 characters; "<peer>.<id>" if it is not
 *	given (string)
 * @HCOMM_A_LINK_TRANSPORT: enum hcomm_transport_type (u32)
 * @HCOMM_A_LINK_LOCAL_ADDR: own address, 4 bytes of IPv4 or 16 of IPv6
 *	(binary)
 * @HCOMM_A_LINK_REMOTE_ADDR: address of the peer, as long as local-addr
 *	(binary)
 * @HCOMM_A_LINK_LOCAL_PORT: own port, 1 to 65535, host byte order; that of
 *	the system (u16)
 * @HCOMM_A_LINK_REMOTE_PORT: port of the peer, 1 to 65535, host byte order;
 *	that of the system (u16)
 * @HCOMM_A_LINK_IFINDEX: device that has the local address, 1 to 2^31-1;
 *	found by the address if it is not given (u32)
 * @HCOMM_A_LINK_IFNAME: name of the device, read only (string)
 * @HCOMM_A_LINK_SCOPE_ID: index of the device of an IPv6 link-local address,
 *	else 0 (u32)
 * @HCOMM_A_LINK_METRIC: the usable link with the lowest is taken; default
 *	100 (u32)
 * @HCOMM_A_LINK_ADMIN: enum hcomm_admin, default up (u32)
 * @HCOMM_A_LINK_GSO: enum hcomm_gso, default auto (u32)
 * @HCOMM_A_LINK_GSO_STATE: 1 if many datagrams go in one call now, else 0;
 *	read only (u8)
 * @HCOMM_A_LINK_GSO_REASON: why not, read only; absent if they do (string)
 * @HCOMM_A_LINK_LOSS_THRESHOLD: loss above which it is degraded, in ppm; 0
 *	is that of the system (u32)
 * @HCOMM_A_LINK_STATE: enum hcomm_link_state, read only (u32)
 * @HCOMM_A_LINK_REASON: why it is in this state, read only (string)
 * @HCOMM_A_LINK_MTU: longest IP packet that gets through, in bytes, read
 *	only (u32)
 * @HCOMM_A_LINK_RTT_MIN: shortest round trip in microseconds, read only
 *	(u32)
 * @HCOMM_A_LINK_RTT_SMOOTHED: smoothed round trip in microseconds, read only
 *	(u32)
 * @HCOMM_A_LINK_RTT_VAR: variation of the round trip in microseconds, read
 *	only (u32)
 * @HCOMM_A_LINK_CWND: congestion window in bytes, read only (u32)
 * @HCOMM_A_LINK_INFLIGHT: bytes that are sent and not acknowledged, read
 *	only (u32)
 * @HCOMM_A_LINK_PACING_RATE: bytes per second that it sends at most, read
 *	only (u64)
 * @HCOMM_A_LINK_LOSS: what was lost lately, one for each window, read only
 *	(nest of loss, several)
 * @HCOMM_A_LINK_HOLDDOWN_LEFT: ms until it is preferred again, read only
 *	(u32)
 * @HCOMM_A_LINK_CARRIES: routes that use it now, read only (u32)
 * @HCOMM_A_LINK_SINCE: ms that it is in this state, read only (u64)
 * @HCOMM_A_LINK_FAILOVERS: times that traffic left it as it was bad, read
 *	only (u32)
 * @HCOMM_A_LINK_FAILBACKS: times that traffic came back to it, read only
 *	(u32)
 * @HCOMM_A_LINK_COUNTERS: counters of this link, read only (nest of
 *	counters)
 * @HCOMM_A_LINK_PAD: alignment of 64-bit values, no content (pad)
 */
enum hcomm_a_link {
	HCOMM_A_LINK_PEER = 1,
	HCOMM_A_LINK_ID,
	HCOMM_A_LINK_NAME,
	HCOMM_A_LINK_TRANSPORT,
	HCOMM_A_LINK_LOCAL_ADDR,
	HCOMM_A_LINK_REMOTE_ADDR,
	HCOMM_A_LINK_LOCAL_PORT,
	HCOMM_A_LINK_REMOTE_PORT,
	HCOMM_A_LINK_IFINDEX,
	HCOMM_A_LINK_IFNAME,
	HCOMM_A_LINK_SCOPE_ID,
	HCOMM_A_LINK_METRIC,
	HCOMM_A_LINK_ADMIN,
	HCOMM_A_LINK_GSO,
	HCOMM_A_LINK_GSO_STATE,
	HCOMM_A_LINK_GSO_REASON,
	HCOMM_A_LINK_LOSS_THRESHOLD,
	HCOMM_A_LINK_STATE,
	HCOMM_A_LINK_REASON,
	HCOMM_A_LINK_MTU,
	HCOMM_A_LINK_RTT_MIN,
	HCOMM_A_LINK_RTT_SMOOTHED,
	HCOMM_A_LINK_RTT_VAR,
	HCOMM_A_LINK_CWND,
	HCOMM_A_LINK_INFLIGHT,
	HCOMM_A_LINK_PACING_RATE,
	HCOMM_A_LINK_LOSS,
	HCOMM_A_LINK_HOLDDOWN_LEFT,
	HCOMM_A_LINK_CARRIES,
	HCOMM_A_LINK_SINCE,
	HCOMM_A_LINK_FAILOVERS,
	HCOMM_A_LINK_FAILBACKS,
	HCOMM_A_LINK_COUNTERS,
	HCOMM_A_LINK_PAD,
};

#define HCOMM_A_LINK_MAX	HCOMM_A_LINK_PAD

/**
 * enum hcomm_a_route - how a node is reached
 * @HCOMM_A_ROUTE_NODE: destination, 1 to 2^32-1 (u32)
 * @HCOMM_A_ROUTE_PINNED_PEER: peer of the link that is pinned; 0 is none
 *	(u32)
 * @HCOMM_A_ROUTE_PINNED_LINK: id of the link that is taken as long as it is
 *	usable, 1 to 65535; 0 is none (u32)
 * @HCOMM_A_ROUTE_ACTIVE_PEER: peer of the link in use, 0 if there is none;
 *	read only (u32)
 * @HCOMM_A_ROUTE_ACTIVE_LINK: id of the link in use, 0 if there is none;
 *	read only (u32)
 * @HCOMM_A_ROUTE_FAILOVERS: times that a better link had to be left, read
 *	only (u32)
 * @HCOMM_A_ROUTE_FAILBACKS: times that a better link was taken again, read
 *	only (u32)
 * @HCOMM_A_ROUTE_CANDIDATES: one for each link that could be used, best
 *	first, read only (nest of candidate, several)
 * @HCOMM_A_ROUTE_AUTO: 1 if it came with the first link to the peer, read
 *	only (u8)
 * @HCOMM_A_ROUTE_SINCE: ms since the link in use was chosen, read only (u64)
 * @HCOMM_A_ROUTE_PAD: alignment of 64-bit values, no content (pad)
 */
enum hcomm_a_route {
	HCOMM_A_ROUTE_NODE = 1,
	HCOMM_A_ROUTE_PINNED_PEER,
	HCOMM_A_ROUTE_PINNED_LINK,
	HCOMM_A_ROUTE_ACTIVE_PEER,
	HCOMM_A_ROUTE_ACTIVE_LINK,
	HCOMM_A_ROUTE_FAILOVERS,
	HCOMM_A_ROUTE_FAILBACKS,
	HCOMM_A_ROUTE_CANDIDATES,
	HCOMM_A_ROUTE_AUTO,
	HCOMM_A_ROUTE_SINCE,
	HCOMM_A_ROUTE_PAD,
};

#define HCOMM_A_ROUTE_MAX	HCOMM_A_ROUTE_PAD

/**
 * enum hcomm_a_candidate - a link that a route could use, read only
 * @HCOMM_A_CANDIDATE_PEER: peer of the link (u32)
 * @HCOMM_A_CANDIDATE_LINK: id of the link (u32)
 * @HCOMM_A_CANDIDATE_NAME: name of the link (string)
 * @HCOMM_A_CANDIDATE_METRIC: metric of the link (u32)
 * @HCOMM_A_CANDIDATE_STATE: enum hcomm_link_state (u32)
 * @HCOMM_A_CANDIDATE_COST: what it is compared by; the lowest is taken (u32)
 * @HCOMM_A_CANDIDATE_ACTIVE: 1 if it is in use, else 0 (u8)
 * @HCOMM_A_CANDIDATE_REASON: why it is not in use; absent if it is (string)
 */
enum hcomm_a_candidate {
	HCOMM_A_CANDIDATE_PEER = 1,
	HCOMM_A_CANDIDATE_LINK,
	HCOMM_A_CANDIDATE_NAME,
	HCOMM_A_CANDIDATE_METRIC,
	HCOMM_A_CANDIDATE_STATE,
	HCOMM_A_CANDIDATE_COST,
	HCOMM_A_CANDIDATE_ACTIVE,
	HCOMM_A_CANDIDATE_REASON,
};

#define HCOMM_A_CANDIDATE_MAX	HCOMM_A_CANDIDATE_REASON

/**
 * enum hcomm_a_socket - an AF_HCOMM socket, read only
 * @HCOMM_A_SOCKET_TYPE: SOCK_SEQPACKET, SOCK_STREAM or SOCK_RDM (u32)
 * @HCOMM_A_SOCKET_STATE: enum hcomm_socket_state (u32)
 * @HCOMM_A_SOCKET_LOCAL_PORT: own port, 0 if it is not bound (u32)
 * @HCOMM_A_SOCKET_REMOTE_NODE: node that it is connected to, 0 if it is not
 *	(u32)
 * @HCOMM_A_SOCKET_REMOTE_PORT: port that it is connected to (u32)
 * @HCOMM_A_SOCKET_UID: owner (u32)
 * @HCOMM_A_SOCKET_INODE: inode number, as in /proc/PID/fd (u64)
 * @HCOMM_A_SOCKET_PID: process that made it (u32)
 * @HCOMM_A_SOCKET_COMM: name of that process (string)
 * @HCOMM_A_SOCKET_RX_QUEUED: bytes that arrived and were not read (u32)
 * @HCOMM_A_SOCKET_TX_QUEUED: bytes that were sent and are not acknowledged
 *	(u32)
 * @HCOMM_A_SOCKET_RCVBUF: SO_RCVBUF in bytes (u32)
 * @HCOMM_A_SOCKET_SNDBUF: SO_SNDBUF in bytes (u32)
 * @HCOMM_A_SOCKET_RX_MESSAGES: messages received (u64)
 * @HCOMM_A_SOCKET_TX_MESSAGES: messages sent (u64)
 * @HCOMM_A_SOCKET_DROPS: messages that were given up (u64)
 * @HCOMM_A_SOCKET_PAD: alignment of 64-bit values, no content (pad)
 */
enum hcomm_a_socket {
	HCOMM_A_SOCKET_TYPE = 1,
	HCOMM_A_SOCKET_STATE,
	HCOMM_A_SOCKET_LOCAL_PORT,
	HCOMM_A_SOCKET_REMOTE_NODE,
	HCOMM_A_SOCKET_REMOTE_PORT,
	HCOMM_A_SOCKET_UID,
	HCOMM_A_SOCKET_INODE,
	HCOMM_A_SOCKET_PID,
	HCOMM_A_SOCKET_COMM,
	HCOMM_A_SOCKET_RX_QUEUED,
	HCOMM_A_SOCKET_TX_QUEUED,
	HCOMM_A_SOCKET_RCVBUF,
	HCOMM_A_SOCKET_SNDBUF,
	HCOMM_A_SOCKET_RX_MESSAGES,
	HCOMM_A_SOCKET_TX_MESSAGES,
	HCOMM_A_SOCKET_DROPS,
	HCOMM_A_SOCKET_PAD,
};

#define HCOMM_A_SOCKET_MAX	HCOMM_A_SOCKET_PAD

/**
 * enum hcomm_a_ping - one question to a node and its answer
 * @HCOMM_A_PING_NODE: node that is asked, 1 to 2^32-1 (u32)
 * @HCOMM_A_PING_LINK: id of the link, 1 to 65535; that of the route if not
 *	given (u32)
 * @HCOMM_A_PING_SIZE: bytes of padding, 0 to 1024 (u32)
 * @HCOMM_A_PING_TIMEOUT: ms to wait for the answer, 1 to 5000, default 1000
 *	(u32)
 * @HCOMM_A_PING_RTT_US: round trip in microseconds, read only (u32)
 */
enum hcomm_a_ping {
	HCOMM_A_PING_NODE = 1,
	HCOMM_A_PING_LINK,
	HCOMM_A_PING_SIZE,
	HCOMM_A_PING_TIMEOUT,
	HCOMM_A_PING_RTT_US,
};

#define HCOMM_A_PING_MAX	HCOMM_A_PING_RTT_US

/**
 * enum hcomm_a_event - what happened
 * @HCOMM_A_EVENT_EVENT: enum hcomm_event_type (u32)
 * @HCOMM_A_EVENT_TIME: when, ns of CLOCK_REALTIME (u64)
 * @HCOMM_A_EVENT_NODE: destination of the route, or other node of the
 *	session (u32)
 * @HCOMM_A_EVENT_PEER: peer, or peer of the link (u32)
 * @HCOMM_A_EVENT_LINK: id of the link (u32)
 * @HCOMM_A_EVENT_NAME: name of the link or of the peer (string)
 * @HCOMM_A_EVENT_OLD_STATE: enum hcomm_link_state before (u32)
 * @HCOMM_A_EVENT_NEW_STATE: enum hcomm_link_state now (u32)
 * @HCOMM_A_EVENT_REASON: why (string)
 * @HCOMM_A_EVENT_OLD_LINK: id of the link that the route used before, 0 if
 *	none (u32)
 * @HCOMM_A_EVENT_PAD: alignment of 64-bit values, no content (pad)
 */
enum hcomm_a_event {
	HCOMM_A_EVENT_EVENT = 1,
	HCOMM_A_EVENT_TIME,
	HCOMM_A_EVENT_NODE,
	HCOMM_A_EVENT_PEER,
	HCOMM_A_EVENT_LINK,
	HCOMM_A_EVENT_NAME,
	HCOMM_A_EVENT_OLD_STATE,
	HCOMM_A_EVENT_NEW_STATE,
	HCOMM_A_EVENT_REASON,
	HCOMM_A_EVENT_OLD_LINK,
	HCOMM_A_EVENT_PAD,
};

#define HCOMM_A_EVENT_MAX	HCOMM_A_EVENT_PAD

/**
 * enum hcomm_cmd - what is asked for
 * @HCOMM_CMD_SYSTEM_GET: show the settings and counters of this node
 * @HCOMM_CMD_SYSTEM_SET: change settings of this node; what is not given
 *	stays
 * @HCOMM_CMD_PEER_NEW: make a peer
 * @HCOMM_CMD_PEER_DEL: delete a peer and its links
 * @HCOMM_CMD_PEER_SET: change the name of a peer
 * @HCOMM_CMD_PEER_GET: show peers
 * @HCOMM_CMD_LINK_NEW: make a link
 * @HCOMM_CMD_LINK_DEL: delete a link
 * @HCOMM_CMD_LINK_SET: change settings of a link; what is not given stays
 * @HCOMM_CMD_LINK_GET: show links; a dump can be limited to those to one
 *	peer
 * @HCOMM_CMD_ROUTE_NEW: make a route
 * @HCOMM_CMD_ROUTE_DEL: delete a route
 * @HCOMM_CMD_ROUTE_SET: pin a route to a link, or (link 0) let it choose
 *	again
 * @HCOMM_CMD_ROUTE_GET: show routes
 * @HCOMM_CMD_SOCKET_GET: show the AF_HCOMM sockets of this node
 * @HCOMM_CMD_PING: ask a node and wait for the answer
 * @HCOMM_CMD_EVENT: something happened; sent to the group "events"
 */
enum hcomm_cmd {
	HCOMM_CMD_SYSTEM_GET = 1,
	HCOMM_CMD_SYSTEM_SET,
	HCOMM_CMD_PEER_NEW,
	HCOMM_CMD_PEER_DEL,
	HCOMM_CMD_PEER_SET,
	HCOMM_CMD_PEER_GET,
	HCOMM_CMD_LINK_NEW,
	HCOMM_CMD_LINK_DEL,
	HCOMM_CMD_LINK_SET,
	HCOMM_CMD_LINK_GET,
	HCOMM_CMD_ROUTE_NEW,
	HCOMM_CMD_ROUTE_DEL,
	HCOMM_CMD_ROUTE_SET,
	HCOMM_CMD_ROUTE_GET,
	HCOMM_CMD_SOCKET_GET,
	HCOMM_CMD_PING,
	HCOMM_CMD_EVENT,
};

#define HCOMM_CMD_MAX	HCOMM_CMD_EVENT

#endif /* _UAPI_HCOMM_NETLINK_H */
