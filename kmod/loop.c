// SPDX-License-Identifier: GPL-2.0
/* The loop transport: a node's link to itself. */
#include "loop.h"

#include <linux/interrupt.h>
#include <linux/netlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "batch.h"
#include "link.h"

enum {
	LOOP_PACKET = 32768,
	LOOP_QUEUE = 1024,
	LOOP_BUDGET = 64,
};

/**
 * struct loop - packets on their way from the node to itself
 * @link: the link
 * @queue: packets
 * @tasklet: hands them back, so that sending never calls receiving
 */
struct loop {
	struct hcomm_link *link;
	struct sk_buff_head queue;
	struct tasklet_struct tasklet;
};

static void run(struct tasklet_struct *t)
{
	struct loop *l = from_tasklet(l, t, tasklet);
	struct sk_buff *skb;
	u32 n = 0;

	rcu_read_lock();
	while (n++ < LOOP_BUDGET && (skb = skb_dequeue(&l->queue))) {
		hcomm_link_receive_on(l->link, skb, 0, skb->len, skb->len);
		consume_skb(skb);
	}
	hcomm_link_receive_done(l->link);
	/* What was held back for want of room may go now. */
	if (test_bit(0, &l->link->tx_again))
		hcomm_link_kick(l->link);
	rcu_read_unlock();
	if (!skb_queue_empty_lockless(&l->queue))
		tasklet_schedule(t);
}

static int attach(struct hcomm_link *link, struct netlink_ext_ack *extack)
{
	struct loop *l = kzalloc(sizeof(*l), GFP_KERNEL_ACCOUNT);

	if (!l)
		return -ENOMEM;
	l->link = link;
	skb_queue_head_init(&l->queue);
	tasklet_setup(&l->tasklet, run);
	link->tp = l;
	return 0;
}

static void detach(struct hcomm_link *link)
{
	struct loop *l = link->tp;

	/* Nobody sends any more: the link is down, and this waits for all. */
	hcomm_link_wait(link);
	tasklet_kill(&l->tasklet);
	skb_queue_purge(&l->queue);
	kfree(l);
}

static struct sk_buff *make_skb(struct hcomm_batch_iter *i, u32 len)
{
	struct sk_buff *skb = alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);

	if (skb)
		hcomm_batch_take(i, skb_put(skb, len), len);
	return skb;
}

static int send(struct hcomm_link *link, struct hcomm_batch *b)
{
	struct loop *l = link->tp;
	struct sk_buff_head list;
	struct hcomm_batch_iter i;
	struct sk_buff *skb;
	u32 len;

	if (skb_queue_len_lockless(&l->queue) + b->nr_seg > LOOP_QUEUE)
		return -EAGAIN;
	__skb_queue_head_init(&list);
	hcomm_batch_begin(b, &i);
	while ((len = hcomm_batch_next(&i))) {
		skb = make_skb(&i, len);
		if (!skb) {
			__skb_queue_purge(&list);
			return -ENOMEM;
		}
		__skb_queue_tail(&list, skb);
	}
	spin_lock(&l->queue.lock);
	skb_queue_splice_tail(&list, &l->queue);
	spin_unlock(&l->queue.lock);
	tasklet_schedule(&l->tasklet);
	return 0;
}

static bool room(struct hcomm_link *link)
{
	struct loop *l = link->tp;

	return skb_queue_len_lockless(&l->queue) < LOOP_QUEUE / 2;
}

static u32 max_packet(struct hcomm_link *link)
{
	return LOOP_PACKET;
}

static const struct hcomm_transport loop_transport = {
	.name = "loop",
	.type = HCOMM_TRANSPORT_LOOP,
	.reliable = true,
	.attach = attach,
	.detach = detach,
	.send = send,
	.room = room,
	.max_packet = max_packet,
};

int hcomm_loop_init(void)
{
	return hcomm_transport_register(&loop_transport);
}

void hcomm_loop_exit(void)
{
	hcomm_transport_unregister(&loop_transport);
}
