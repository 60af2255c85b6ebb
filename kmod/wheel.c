// SPDX-License-Identifier: GPL-2.0
#include "wheel.h"

#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>

#include "compat.h"

static u64 slot_of(u64 ns)
{
	return ns >> HCOMM_WHEEL_SHIFT;
}

/* First absolute slot from w->now on that is not empty; U64_MAX if none. */
static u64 next_busy(struct hcomm_wheel *w)
{
	u32 from = w->now & (HCOMM_WHEEL_SLOTS - 1), bit;

	bit = find_next_bit(w->busy, HCOMM_WHEEL_SLOTS, from);
	if (bit < HCOMM_WHEEL_SLOTS)
		return w->now + bit - from;
	bit = find_first_bit(w->busy, from);
	if (bit < from)
		return w->now + HCOMM_WHEEL_SLOTS - from + bit;
	return U64_MAX;
}

static void arm(struct hcomm_wheel *w, u64 slot)
{
	lockdep_assert_held(&w->lock);
	if (slot >= w->armed || w->dead)
		return;
	w->armed = slot;
	/* A slot is run when it is over, so that no timer is early. */
	hrtimer_start(&w->hrtimer,
		      ns_to_ktime((slot + 1) << HCOMM_WHEEL_SHIFT),
		      HRTIMER_MODE_ABS_SOFT);
}

static void unlink_timer(struct hcomm_wheel *w, struct hcomm_timer *t)
{
	hlist_del_init(&t->node);
	t->queued = false;
	if (hlist_empty(&w->slots[t->slot]))
		__clear_bit(t->slot, w->busy);
}

static void link_timer(struct hcomm_wheel *w, struct hcomm_timer *t, u64 at)
{
	u64 slot;

	/* Else the wheel would have to turn through all the time without one. */
	if (bitmap_empty(w->busy, HCOMM_WHEEL_SLOTS))
		w->now = max(w->now, slot_of(ktime_get_ns()));
	slot = max(slot_of(at), w->now);
	t->expires = at;
	t->slot = slot & (HCOMM_WHEEL_SLOTS - 1);
	t->queued = true;
	hlist_add_head(&t->node, &w->slots[t->slot]);
	__set_bit(t->slot, w->busy);
	/* Further ahead than one round: the slot is looked at on the way. */
	arm(w, w->now + ((slot - w->now) & (HCOMM_WHEEL_SLOTS - 1)));
}

/* Moves what is due in slot to @due; the rest belongs to a later round. */
static void collect(struct hcomm_wheel *w, u64 slot, struct hlist_head *due)
{
	u32 i = slot & (HCOMM_WHEEL_SLOTS - 1);
	struct hlist_node *next;
	struct hcomm_timer *t;

	hlist_for_each_entry_safe(t, next, &w->slots[i], node) {
		if (slot_of(t->expires) > slot)
			continue;
		hlist_del(&t->node);
		hlist_add_head(&t->node, due);
	}
	if (hlist_empty(&w->slots[i]))
		__clear_bit(i, w->busy);
}

static void run_due(struct hcomm_wheel *w, struct hlist_head *due)
{
	struct hcomm_timer *t;

	lockdep_assert_held(&w->lock);
	while (!hlist_empty(due)) {
		t = hlist_entry(due->first, struct hcomm_timer, node);
		hlist_del_init(&t->node);
		t->queued = false;
		spin_unlock(&w->lock);
		t->fn(t);
		spin_lock(&w->lock);
	}
}

static enum hrtimer_restart wheel_run(struct hrtimer *hrtimer)
{
	struct hcomm_wheel *w = container_of(hrtimer, struct hcomm_wheel,
					     hrtimer);
	HLIST_HEAD(due);
	u64 upto, slot;

	rcu_read_lock();
	spin_lock(&w->lock);
	w->armed = U64_MAX;
	upto = slot_of(ktime_get_ns());
	while ((slot = next_busy(w)) < upto) {
		collect(w, slot, &due);
		/* Late by more than a round: each slot is looked at once. */
		w->now = slot + 1;
		run_due(w, &due);
	}
	w->now = max(w->now, upto);
	slot = next_busy(w);
	if (slot != U64_MAX)
		arm(w, slot);
	spin_unlock(&w->lock);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

void hcomm_wheel_init(struct hcomm_wheel *w)
{
	u32 i;

	spin_lock_init(&w->lock);
	for (i = 0; i < HCOMM_WHEEL_SLOTS; i++)
		INIT_HLIST_HEAD(&w->slots[i]);
	bitmap_zero(w->busy, HCOMM_WHEEL_SLOTS);
	w->armed = U64_MAX;
	w->now = slot_of(ktime_get_ns());
	w->dead = false;
	hcomm_compat_hrtimer_setup(&w->hrtimer, wheel_run, CLOCK_MONOTONIC,
				   HRTIMER_MODE_ABS_SOFT);
}

/* After this no timer runs and none can be set. May sleep. */
void hcomm_wheel_stop(struct hcomm_wheel *w)
{
	spin_lock_bh(&w->lock);
	w->dead = true;
	spin_unlock_bh(&w->lock);
	hrtimer_cancel(&w->hrtimer);
}

/**
 * hcomm_timer_set - run a timer at a time, whatever it was set to
 * @w: wheel
 * @t: timer
 * @at: ns of ktime_get_ns()
 */
void hcomm_timer_set(struct hcomm_wheel *w, struct hcomm_timer *t, u64 at)
{
	spin_lock_bh(&w->lock);
	if (t->queued)
		unlink_timer(w, t);
	if (!w->dead)
		link_timer(w, t, at);
	spin_unlock_bh(&w->lock);
}

/**
 * hcomm_timer_by - see that a timer runs at a time or earlier
 * @w: wheel
 * @t: timer; its function finds out itself what is due
 * @at: ns of ktime_get_ns()
 *
 * Costs one comparison when the timer is set early enough already.
 */
void hcomm_timer_by(struct hcomm_wheel *w, struct hcomm_timer *t, u64 at)
{
	if (READ_ONCE(t->queued) && READ_ONCE(t->expires) <= at)
		return;
	spin_lock_bh(&w->lock);
	if (!w->dead && (!t->queued || t->expires > at)) {
		if (t->queued)
			unlink_timer(w, t);
		link_timer(w, t, at);
	}
	spin_unlock_bh(&w->lock);
}

/* The function may be running on another CPU when this returns. */
void hcomm_timer_cancel(struct hcomm_wheel *w, struct hcomm_timer *t)
{
	spin_lock_bh(&w->lock);
	if (t->queued)
		unlink_timer(w, t);
	spin_unlock_bh(&w->lock);
}
