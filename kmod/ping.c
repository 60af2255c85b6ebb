// SPDX-License-Identifier: GPL-2.0
#include "ping.h"

#include <linux/completion.h>
#include <linux/jiffies.h>

#include "link.h"
#include "wire.h"

/**
 * struct ping - somebody who waits for an answer
 * @list: in hcomm_link.pings, under its lock
 * @done: it came
 * @id: of the probe
 * @at: when it came, ns
 */
struct ping {
	struct list_head list;
	struct completion done;
	u32 id;
	u64 at;
};

/**
 * hcomm_ping_link - measure a round trip
 * @link: link, with a reference
 * @size: bytes of the packet, as far as hcomm fills it
 * @timeout_ms: how long to wait
 * @rtt: result, ns
 *
 * Return: 0; -ENETDOWN if the link is not usable, -EMSGSIZE above its path
 * MTU, -ETIMEDOUT, -EINTR.
 */
int hcomm_ping_link(struct hcomm_link *link, u32 size, u32 timeout_ms, u64 *rtt)
{
	static atomic_t ids;
	struct hcomm_wire_probe p = { .size = size };
	struct ping ping;
	u64 begin;
	long left;
	int err;

	if (!hcomm_link_usable(link))
		return -ENETDOWN;
	if (size > READ_ONCE(link->mtu))
		return -EMSGSIZE;
	p.size = max_t(u32, size, HCOMM_WIRE_LINK_LEN + HCOMM_WIRE_FRAME_LEN +
				  HCOMM_WIRE_PROBE_LEN);
	ping.id = HCOMM_PING_ID |
		  (atomic_inc_return(&ids) & (HCOMM_PING_ID - 1));
	p.id = ping.id;
	init_completion(&ping.done);
	spin_lock_bh(&link->lock);
	list_add(&ping.list, &link->pings);
	spin_unlock_bh(&link->lock);
	begin = ktime_get_ns();
	err = hcomm_link_send_control(link, HCOMM_FRAME_PROBE, &p, p.size);
	left = err ? 0 : wait_for_completion_interruptible_timeout(&ping.done,
						msecs_to_jiffies(timeout_ms));
	spin_lock_bh(&link->lock);
	list_del(&ping.list);
	spin_unlock_bh(&link->lock);
	if (err)
		return err;
	if (left <= 0)
		return left ? -EINTR : -ETIMEDOUT;
	*rtt = ping.at - begin;
	return 0;
}

/* The link's lock is held. */
void hcomm_ping_reply(struct hcomm_link *link, u32 id, u64 now)
{
	struct ping *ping;

	lockdep_assert_held(&link->lock);
	list_for_each_entry(ping, &link->pings, list)
		if (ping->id == id) {
			ping->at = now;
			complete(&ping->done);
			return;
		}
}
