/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_STATS_H
#define HCOMM_STATS_H

#include <linux/types.h>

/*
 * Counters of a namespace. The names are ABI: netlink and hcomm_stat show
 * them as they are written here.
 */
#define HCOMM_STATS(X)							\
	X(rx_packets)		/* packets that reached a link */	\
	X(rx_unknown)		/* from an address that is not configured */ \
	X(rx_malformed)		/* a header or frame that cannot be */	\
	X(rx_version)		/* another protocol version */		\
	X(rx_key)		/* a key that is not known */		\
	X(rx_bad_tag)		/* not of this life of the link */	\
	X(rx_duplicate)		/* a packet number seen before */	\
	X(rx_wrong_node)	/* claims a node the link does not lead to */ \
	X(rx_not_mine)		/* for another node; not forwarded */	\
	X(rx_incarnation)	/* of another incarnation of either end */ \
	X(rx_no_memory)		/* dropped for want of memory */	\
	X(rx_no_lane)		/* a lane that is not open */		\
	X(rx_over_credit)	/* beyond what was granted */		\
	X(rx_full)		/* the reader has enough, or it is too small */ \
	X(rx_refused)		/* a port where nobody listens */	\
	X(rx_old_data)		/* a piece that was there already */	\
	X(rx_backlog)		/* no room among the waiting connections */ \
	X(tx_packets)							\
	X(tx_no_memory)							\
	X(tx_errors)		/* the transport refused a packet */	\
	X(tx_unsent)		/* taken back, to be sent again */	\
	X(retrans_bytes)	/* bytes sent again */			\
	X(gso_fallbacks)	/* links that fell back to single datagrams */ \
	X(links_down)							\
	X(failovers)							\
	X(failbacks)							\
	X(sessions_opened)						\
	X(sessions_reset)	/* the peer restarted */		\
	X(lanes_timed_out)						\
	X(illegal_events)	/* events that a state does not expect */ \
	X(msgs_sent)							\
	X(msgs_received)						\
	X(msgs_dropped)		/* reported to the sender */

struct hcomm_stats {
#define HCOMM_STATS_FIELD(name) u64 name;
	HCOMM_STATS(HCOMM_STATS_FIELD)
#undef HCOMM_STATS_FIELD
};

struct hcomm_net;

extern const char *const hcomm_stats_names[];
unsigned int hcomm_stats_nr(void);
void hcomm_stats_sum(struct hcomm_net *hn, u64 *out);

#endif /* HCOMM_STATS_H */
