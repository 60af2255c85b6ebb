// SPDX-License-Identifier: GPL-2.0
#include "link.h"

#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>

#include "peer.h"
#include "trace.h"
#include "wire.h"

enum {
	DOWN = HCOMM_LINK_STATE_DOWN,
	PROBING = HCOMM_LINK_STATE_PROBING,
	UP = HCOMM_LINK_STATE_UP,
	DEGRADED = HCOMM_LINK_STATE_DEGRADED,
	SAME,
	ILLEGAL,
};

/*
 * What each event makes of each state. SAME: expected, changes nothing.
 * Documentation/wire-protocol.md shows the same table.
 */
static const u8 table[__HCOMM_LINK_EV_MAX][4] = {
	/*				 DOWN	  PROBING  UP	    DEGRADED */
	[HCOMM_LINK_EV_START]	     = { PROBING, SAME,	   SAME,     SAME },
	[HCOMM_LINK_EV_ADMIN_DOWN]   = { SAME,	  DOWN,	   DOWN,     DOWN },
	[HCOMM_LINK_EV_CARRIER_LOST] = { SAME,	  DOWN,	   DOWN,     DOWN },
	[HCOMM_LINK_EV_ADDR_LOST]    = { SAME,	  DOWN,	   DOWN,     DOWN },
	[HCOMM_LINK_EV_DEV_GONE]     = { SAME,	  DOWN,	   DOWN,     DOWN },
	[HCOMM_LINK_EV_SILENCE]	     = { ILLEGAL, SAME,	   DOWN,     DOWN },
	[HCOMM_LINK_EV_PEER_RESTART] = { ILLEGAL, SAME,	   PROBING,  PROBING },
	[HCOMM_LINK_EV_TX_ERROR]     = { SAME,	  SAME,	   DOWN,     DOWN },
	[HCOMM_LINK_EV_RETRY]	     = { PROBING, SAME,	   SAME,     SAME },
	[HCOMM_LINK_EV_VERIFIED]     = { ILLEGAL, UP,	   SAME,     SAME },
	[HCOMM_LINK_EV_LOSSY]	     = { ILLEGAL, ILLEGAL, DEGRADED, SAME },
	[HCOMM_LINK_EV_CLEAN]	     = { ILLEGAL, ILLEGAL, SAME,     UP },
	[HCOMM_LINK_EV_CONN_LOST]    = { SAME,	  SAME,	   DOWN,     DOWN },
	[HCOMM_LINK_EV_PEER_DOWN]    = { SAME,	  SAME,	   DOWN,     DOWN },
};

static const char *const reasons[__HCOMM_LINK_EV_MAX] = {
	[HCOMM_LINK_EV_START] = "started",
	[HCOMM_LINK_EV_ADMIN_DOWN] = "set down by the administrator",
	[HCOMM_LINK_EV_CARRIER_LOST] = "device is down or has no carrier",
	[HCOMM_LINK_EV_ADDR_LOST] = "local address was removed",
	[HCOMM_LINK_EV_DEV_GONE] = "device is gone or in another namespace",
	[HCOMM_LINK_EV_SILENCE] = "heartbeats are not answered",
	[HCOMM_LINK_EV_PEER_RESTART] = "peer restarted",
	[HCOMM_LINK_EV_TX_ERROR] = "the transport refuses to send",
	[HCOMM_LINK_EV_RETRY] = "probing after silence",
	[HCOMM_LINK_EV_VERIFIED] = "heartbeat answered",
	[HCOMM_LINK_EV_LOSSY] = "loss above the threshold",
	[HCOMM_LINK_EV_CLEAN] = "clean for the hold-down time",
	[HCOMM_LINK_EV_CONN_LOST] = "connection lost",
	[HCOMM_LINK_EV_PEER_DOWN] = "peer says that it is down",
};

const char *hcomm_link_state_name(u8 state)
{
	static const char *const names[] = {
		[DOWN] = "down", [PROBING] = "probing",
		[UP] = "up", [DEGRADED] = "degraded",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

u32 hcomm_link_loss_ppm(const struct hcomm_link *link)
{
	u32 ppm = READ_ONCE(link->loss_ppm);

	return ppm ? ppm : READ_ONCE(link->hn->conf.loss_ppm);
}

static bool carries_traffic(u8 state)
{
	return state == UP || state == DEGRADED;
}

static void enter(struct hcomm_link *link, u8 old, u8 new, u64 now,
		  struct list_head *lost)
{
	lockdep_assert_held(&link->lock);
	if (carries_traffic(old) && !carries_traffic(new)) {
		hcomm_flight_abandon(link, lost);
		hcomm_cc_init(&link->cc, link->mtu, 10);
		hcomm_count(link->hn, links_down);
	}
	if (carries_traffic(old) && new != UP) {
		hcomm_holddown_bad(&link->holddown, now);
		link->hold_at = now + hcomm_holddown_left(&link->holddown, now);
	}
	switch (new) {
	case DOWN:
		link->beat_at = 0;
		break;
	case PROBING:
		hcomm_beat_start(link, now);
		break;
	case UP:
		hcomm_holddown_good(&link->holddown, now);
		if (old == PROBING) {
			link->beat_at = now;
			hcomm_loss_reset(&link->loss, now);
			hcomm_pmtu_start(link, now);
			link->flight.reorder = HCOMM_REORDER_MIN;
		}
		break;
	case DEGRADED:
		hcomm_loss_reset(&link->loss, now);
		link->beat_at = now;
		break;
	}
}

/*
 * A switch in between keeps the carrier up at the other end, which would go on
 * sending into the void until it misses heartbeats. It is said once; if that is
 * lost, heartbeats find out.
 */
static void tell_peer(struct hcomm_link *link)
{
	struct hcomm_wire_probe p = { .id = link->id };
	struct hcomm_link *other;

	rcu_read_lock();
	list_for_each_entry_rcu(other, &link->peer->links, peer_node)
		if (other != link && hcomm_link_usable(other))
			hcomm_link_send_control(other, HCOMM_FRAME_LINK_DOWN,
						&p, 0);
	rcu_read_unlock();
}

/**
 * hcomm_link_event - something happened to a link
 * @link: link; no lock of it is held
 * @ev: what
 *
 * Return: the state changed.
 */
bool hcomm_link_event(struct hcomm_link *link, enum hcomm_link_event ev)
{
	u64 now = ktime_get_ns();
	LIST_HEAD(lost);
	u8 old, new;

	spin_lock_bh(&link->lock);
	old = link->state;
	new = link->dead && ev != HCOMM_LINK_EV_ADMIN_DOWN ? SAME :
							     table[ev][old];
	/* Whoever set it down, or took its device away, says when it goes on. */
	if ((ev == HCOMM_LINK_EV_RETRY || ev == HCOMM_LINK_EV_START) &&
	    !(READ_ONCE(link->admin_up) && READ_ONCE(link->dev_ok)))
		new = SAME;
	trace_hcomm_link_event(link, old, ev, new);
	if (new == ILLEGAL)
		hcomm_count(link->hn, illegal_events);
	if (new == ILLEGAL || new == SAME || new == old) {
		spin_unlock_bh(&link->lock);
		return false;
	}
	WRITE_ONCE(link->state, new);
	/* Why it broke says more than that it is being tried again. */
	if (ev != HCOMM_LINK_EV_RETRY)
		WRITE_ONCE(link->reason, reasons[ev]);
	link->since = now;
	enter(link, old, new, now, &lost);
	spin_unlock_bh(&link->lock);

	if (!carries_traffic(new))
		hcomm_link_ready_flush(link);
	/* First what was on its way, so that it leaves with the new choice. */
	hcomm_flight_finish(NULL, &lost);
	hcomm_link_upper->changed(link);
	if (carries_traffic(old) && new == DOWN &&
	    ev != HCOMM_LINK_EV_PEER_DOWN)
		tell_peer(link);
	hcomm_link_upper->event(link, old, new);
	if (new != DOWN)
		hcomm_timer_by(&link->hn->wheel, &link->timer, now);
	if (carries_traffic(new))
		hcomm_link_kick(link);
	return true;
}

static bool has_address(struct hcomm_link *link, struct net_device *dev)
{
	struct in_device *in_dev;
	const struct in_ifaddr *ifa;

	if (link->local.sa.sa_family == AF_INET6)
		return ipv6_chk_addr(link->hn->net, &link->local.in6.sin6_addr,
				     dev, 0);
	in_dev = __in_dev_get_rcu(dev);
	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (ifa->ifa_local == link->local.in.sin_addr.s_addr)
			return true;
	/* All of 127.0.0.0/8 is local, though only one address is set. */
	return ipv4_is_loopback(link->local.in.sin_addr.s_addr) &&
	       dev->flags & IFF_LOOPBACK;
}

static enum hcomm_link_event device_state(struct hcomm_link *link)
{
	struct net_device *dev;

	if (link->transport->type == HCOMM_TRANSPORT_LOOP)
		return HCOMM_LINK_EV_START;
	dev = dev_get_by_index_rcu(link->hn->net, link->ifindex);
	if (!dev)
		return HCOMM_LINK_EV_DEV_GONE;
	if (!(dev->flags & IFF_UP) || !netif_carrier_ok(dev))
		return HCOMM_LINK_EV_CARRIER_LOST;
	if (!has_address(link, dev))
		return HCOMM_LINK_EV_ADDR_LOST;
	return HCOMM_LINK_EV_START;
}

/* Looks at the device and its addresses; under rcu_read_lock(). */
void hcomm_link_check_device(struct hcomm_link *link)
{
	enum hcomm_link_event ev = device_state(link);

	WRITE_ONCE(link->dev_ok, ev == HCOMM_LINK_EV_START);
	if (ev != HCOMM_LINK_EV_START) {
		hcomm_link_event(link, ev);
		/* Not all that heals it is told: see look_again() in link.c. */
		hcomm_timer_by(&link->hn->wheel, &link->timer,
			       ktime_get_ns() + NSEC_PER_SEC);
	} else if (READ_ONCE(link->admin_up)) {
		hcomm_link_event(link, HCOMM_LINK_EV_START);
	}
}

void hcomm_link_admin(struct hcomm_link *link, bool up)
{
	WRITE_ONCE(link->admin_up, up);
	if (!up) {
		hcomm_link_event(link, HCOMM_LINK_EV_ADMIN_DOWN);
		return;
	}
	rcu_read_lock();
	hcomm_link_check_device(link);
	rcu_read_unlock();
}
