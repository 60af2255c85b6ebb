// SPDX-License-Identifier: GPL-2.0
#include "pmtu.h"

#include "link.h"
#include "wire.h"

static u64 interval(const struct hcomm_link *link)
{
	u64 beat = (u64)READ_ONCE(link->hn->conf.heartbeat_ms) * NSEC_PER_MSEC;

	/* A probe may be lost by chance: wait longer than one round trip. */
	return max(beat / 2, 3 * link->rtt.smoothed);
}

static void set_mtu(struct hcomm_link *link, u32 size)
{
	WRITE_ONCE(link->mtu, size);
	hcomm_cc_set_mss(&link->cc, size);
}

/* The next size to try: first what the device takes, then by halves. */
static void choose(struct hcomm_link *link, u64 now)
{
	struct hcomm_pmtu *p = &link->pmtu;
	u32 max = link->transport->max_packet(link);

	p->tries = 0;
	if (p->bad > max + 1)
		p->bad = max + 1;
	if (p->bad <= p->good + HCOMM_PMTU_STEP) {
		p->size = 0;
		/* RFC 8899 section 5.1.1: the path may get better. */
		p->at = now + (u64)HCOMM_PMTU_RAISE_S * NSEC_PER_SEC;
		return;
	}
	if (p->bad == max + 1)
		p->size = max;
	else
		p->size = p->good + (p->bad - p->good) / 2;
	p->id++;
	p->at = now;
}

/* Starts from the size that every path takes. */
void hcomm_pmtu_start(struct hcomm_link *link, u64 now)
{
	struct hcomm_pmtu *p = &link->pmtu;
	u32 max = link->transport->max_packet(link);

	lockdep_assert_held(&link->lock);
	p->timeouts = 0;
	if (link->transport->reliable) {
		p->at = 0;
		p->size = 0;
		set_mtu(link, max);
		return;
	}
	p->good = min_t(u32, max, HCOMM_PMTU_BASE);
	p->bad = max + 1;
	set_mtu(link, p->good);
	choose(link, now);
}

/**
 * hcomm_pmtu_timer - find out whether a probe is due
 * @link: link; its lock is held
 * @now: time
 * @size: bytes of the packet to be sent, 0: none
 * @id: its id
 *
 * Return: when to call again.
 */
u64 hcomm_pmtu_timer(struct hcomm_link *link, u64 now, u32 *size, u32 *id)
{
	struct hcomm_pmtu *p = &link->pmtu;

	lockdep_assert_held(&link->lock);
	*size = 0;
	if (!p->at || p->at > now)
		return p->at;
	if (!p->size) {
		p->bad = link->transport->max_packet(link) + 1;
		choose(link, now);
	} else if (p->tries == HCOMM_PMTU_TRIES) {
		p->bad = p->size;
		choose(link, now);
	}
	if (p->size) {
		p->tries++;
		p->at = now + interval(link);
		*size = p->size;
		*id = p->id;
	}
	return p->at;
}

void hcomm_pmtu_reply(struct hcomm_link *link, const struct hcomm_wire_probe *r,
		      u64 now)
{
	struct hcomm_pmtu *p = &link->pmtu;

	lockdep_assert_held(&link->lock);
	if (!p->size || r->id != p->id || r->size != p->size)
		return;
	p->good = p->size;
	set_mtu(link, p->good);
	choose(link, now);
}

/* Full packets vanish while small ones pass: fall back, search again. */
void hcomm_pmtu_black_hole(struct hcomm_link *link, u64 now)
{
	lockdep_assert_held(&link->lock);
	link->pmtu.timeouts = 0;
	if (link->mtu <= HCOMM_PMTU_BASE)
		return;
	/* If it was none, a round trip brings the old size back. */
	hcomm_pmtu_start(link, now);
}

/* The device itself refused a packet. */
void hcomm_pmtu_too_big(struct hcomm_link *link, u64 now)
{
	lockdep_assert_held(&link->lock);
	hcomm_pmtu_start(link, now);
}
