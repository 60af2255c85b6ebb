/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_WHEEL_H
#define HCOMM_WHEEL_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* One slot is a millisecond (2^20 ns); two seconds until it comes round. */
enum hcomm_wheel_const {
	HCOMM_WHEEL_SHIFT = 20,
	HCOMM_WHEEL_SLOTS = 2048,
};

/**
 * struct hcomm_timer - a timer of the wheel
 * @node: in a slot
 * @expires: when to run, ns
 * @slot: the slot that @node is in
 * @queued: @node is in a slot
 * @fn: runs in softirq context under rcu_read_lock(), with no lock held. The
 *	object that holds the timer is freed after a grace period.
 */
struct hcomm_timer {
	struct hlist_node node;
	u64 expires;
	u32 slot;
	bool queued;
	void (*fn)(struct hcomm_timer *t);
};

/**
 * struct hcomm_wheel - the timers of a namespace behind one hrtimer
 * @lock: protects all below
 * @hrtimer: set to the first slot that is not empty
 * @armed: what @hrtimer is set to, in slots; U64_MAX: not set
 * @now: first slot that was not run, absolute
 * @dead: nothing is queued any more
 * @busy: bit per slot that is not empty
 * @slots: timers whose expiry falls into the slot in this round or a later one
 */
struct hcomm_wheel {
	spinlock_t lock;	/* all below */
	struct hrtimer hrtimer;
	u64 armed;
	u64 now;
	bool dead;
	DECLARE_BITMAP(busy, HCOMM_WHEEL_SLOTS);
	struct hlist_head slots[HCOMM_WHEEL_SLOTS];
};

static inline void hcomm_timer_init(struct hcomm_timer *t,
				    void (*fn)(struct hcomm_timer *t))
{
	INIT_HLIST_NODE(&t->node);
	t->queued = false;
	t->fn = fn;
}

void hcomm_wheel_init(struct hcomm_wheel *w);
void hcomm_wheel_stop(struct hcomm_wheel *w);
void hcomm_timer_set(struct hcomm_wheel *w, struct hcomm_timer *t, u64 at);
void hcomm_timer_by(struct hcomm_wheel *w, struct hcomm_timer *t, u64 at);
void hcomm_timer_cancel(struct hcomm_wheel *w, struct hcomm_timer *t);

#endif /* HCOMM_WHEEL_H */
