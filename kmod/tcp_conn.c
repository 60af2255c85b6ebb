// SPDX-License-Identifier: GPL-2.0
/*
 * The tcp transport: connections that are made, and what goes over them.
 *
 * All is done with bottom halves off. The spinlock of the socket is taken to
 * get out of it what arrived, which a tasklet hands up later, and to put into
 * it what is to be sent: whoever has packets does it himself, if the lock is
 * free at once, else the tasklet does. Only when a process owns the socket a
 * work item takes its turn. No function of hcomm is called with it locked.
 */
#include "tcp_conn.h"

#include <linux/pkt_sched.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "batch.h"
#include "compat.h"
#include "link.h"
#include "wire.h"

enum {
	TCP_HEAD_LEN = 8,
	TCP_MAX_PACKETS = 64,
	TCP_QUEUE = 1 << 20,
	TCP_ARRIVED = 64,
	/*
	 * So much is acknowledged by TCP at once. That should be dealt with
	 * before a reader is woken, or it is left to ksoftirqd.
	 */
	TCP_ANSWERED = 4096,
	/* A reference costs more than to copy so little. */
	TCP_COPY_BELOW = 1024,
};

/**
 * struct tcp_out - a batch that waits to be sent
 * @list: in tcp_conn.queue
 * @len: bytes that are left
 * @at: the first piece that is left
 * @nr: pieces
 * @bv: the pieces, each with a reference to its page
 */
struct tcp_out {
	struct list_head list;
	u32 len;
	u32 at;
	u32 nr;
	struct bio_vec bv[];
};

/**
 * struct tcp_in - skb->cb of what was taken from the socket
 * @off: its first byte that is new
 * @end: behind its last one
 */
struct tcp_in {
	u32 off;
	u32 end;
};

static struct workqueue_struct *tcp_wq;

static struct tcp_in *in_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct tcp_in) > sizeof(skb->cb));
	return (struct tcp_in *)skb->cb;
}

static void broken(struct tcp_conn *c)
{
	queue_work(hcomm_tcp_wq, &c->tl->broken);
}

static void conn_space(struct sock *sk)
{
	struct tcp_conn *c;

	rcu_read_lock();
	c = rcu_dereference_sk_user_data(sk);
	/* TCP calls it also to say that there is none. */
	if (c && !c->inside && sk_stream_is_writeable(sk)) {
		clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		tasklet_schedule(&c->tasklet);
	}
	rcu_read_unlock();
}

static void conn_state(struct sock *sk)
{
	struct tcp_conn *c;

	rcu_read_lock();
	c = rcu_dereference_sk_user_data(sk);
	if (c && sk->sk_state != TCP_ESTABLISHED)
		broken(c);
	rcu_read_unlock();
}

static void free_out(struct tcp_out *o)
{
	u32 i;

	for (i = o->at; i < o->nr; i++)
		put_page(o->bv[i].bv_page);
	kfree(o);
}

/* Forgets what was on its way; nobody uses the connection any more. */
static void reset(struct tcp_conn *c)
{
	struct tcp_out *o, *next;

	list_for_each_entry_safe(o, next, &c->queue, list)
		free_out(o);
	INIT_LIST_HEAD(&c->queue);
	atomic_set(&c->bytes, 0);
	skb_queue_purge(&c->arrived);
	kfree_skb(c->part);
	c->part = NULL;
	c->bad = false;
}

/* After a grace period nobody uses the connection that it had. */
static struct socket *take_sock(struct tcp_conn *c)
{
	struct socket *sock = c->sock;

	/* Under the lock: nothing is queued any more. */
	spin_lock_bh(&c->lock);
	WRITE_ONCE(c->sock, NULL);
	spin_unlock_bh(&c->lock);
	if (sock)
		hcomm_tcp_quiet(sock);
	return sock;
}

/**
 * hcomm_tcp_close - close both connections of a link
 * @tl: link
 * @trying: also those that are being made
 *
 * Waits for a grace period, once for all. Return: there was one.
 */
bool hcomm_tcp_close(struct tcp_link *tl, bool trying)
{
	struct socket *gone[2 * TCP_CONN_KINDS];
	u32 nr = 0, made, i;
	int kind;

	lockdep_assert_held(&tl->mutex);
	for (kind = 0; kind < TCP_CONN_KINDS; kind++) {
		gone[nr] = take_sock(&tl->conn[kind]);
		nr += !!gone[nr];
	}
	made = nr;
	for (kind = 0; trying && kind < TCP_CONN_KINDS; kind++)
		if (tl->conn[kind].trying) {
			hcomm_tcp_quiet(tl->conn[kind].trying);
			gone[nr++] = tl->conn[kind].trying;
			tl->conn[kind].trying = NULL;
		}
	hcomm_link_wait(tl->link);
	for (i = 0; i < nr; i++)
		hcomm_tcp_abort(gone[i]);
	for (kind = 0; kind < TCP_CONN_KINDS; kind++)
		reset(&tl->conn[kind]);
	return made;
}

static void close_one(struct tcp_conn *c)
{
	struct socket *sock = take_sock(c);

	if (!sock)
		return;
	synchronize_rcu();
	hcomm_tcp_abort(sock);
	reset(c);
}

static void set_socket(struct tcp_conn *c, struct socket *sock)
{
	struct sock *sk = sock->sk;

	tcp_sock_set_nodelay(sk);
	/* It is sent from where one may not sleep, and for any process. */
	sk->sk_allocation = GFP_ATOMIC | __GFP_NOWARN;
	sk->sk_use_task_frag = false;
	if (c->kind == TCP_CONN_CONTROL)
		sk->sk_priority = TC_PRIO_CONTROL;
	/* What the kernel gave up on is noticed by heartbeats much earlier. */
	tcp_sock_set_user_timeout(sk, 10000);
}

static bool has_room(const struct tcp_conn *c)
{
	return atomic_read(&c->bytes) < TCP_QUEUE / 2;
}

/* Whether somebody waits for room, and there is some. */
static bool may_go_on(struct tcp_conn *c)
{
	/* Pairs with the one in hcomm_tcp_room(). */
	smp_mb();
	return test_bit(0, &c->wanted) && has_room(c);
}

static void was_sent(struct tcp_conn *c, struct tcp_out *o, u32 n)
{
	atomic_sub(n, &c->bytes);
	o->len -= n;
	for (; o->at < o->nr && n >= o->bv[o->at].bv_len; o->at++) {
		n -= o->bv[o->at].bv_len;
		put_page(o->bv[o->at].bv_page);
	}
	if (o->at < o->nr) {
		o->bv[o->at].bv_offset += n;
		o->bv[o->at].bv_len -= n;
		return;
	}
	spin_lock_bh(&c->lock);
	list_del(&o->list);
	spin_unlock_bh(&c->lock);
	free_out(o);
}

/* Sends what is queued as far as it goes; the socket is locked. */
static void flush(struct tcp_conn *c, struct sock *sk)
{
	struct tcp_out *o;
	bool more;
	int n = 1;

	c->inside = true;
	while (n > 0) {
		spin_lock_bh(&c->lock);
		o = list_first_entry_or_null(&c->queue, struct tcp_out, list);
		more = o && !list_is_last(&o->list, &c->queue);
		spin_unlock_bh(&c->lock);
		if (!o)
			break;
		n = hcomm_compat_tcp_send(sk, o->bv + o->at, o->nr - o->at,
					  o->len, more);
		if (n > 0)
			was_sent(c, o, n);
	}
	c->inside = false;
	if (n > 0)
		return;
	if (n && n != -EAGAIN)
		broken(c);
	else if (sk_stream_is_writeable(sk))
		/* Without memory: nobody says when it will be better. */
		queue_delayed_work(tcp_wq, &c->work, 1);
}

/* Gives the link what is whole. */
static void deliver(struct tcp_conn *c, struct sk_buff *skb, u32 off, u32 len)
{
	hcomm_link_receive_on(c->tl->link, skb, off, len, c->seg);
}

/* What stands in front of packets: their length, and that of one. */
static int get_head(struct tcp_conn *c, struct sk_buff *skb, u32 off, u32 *len)
{
	u8 buf[TCP_HEAD_LEN];
	const u8 *p = skb_header_pointer(skb, off, sizeof(buf), buf);

	if (!p)
		return -EBADMSG;
	*len = get_unaligned_le32(p);
	c->seg = get_unaligned_le32(p + 4);
	if (!*len || *len > HCOMM_TCP_BATCH || c->seg < HCOMM_WIRE_LINK_LEN ||
	    *len > (u64)c->seg * TCP_MAX_PACKETS)
		return -EBADMSG;
	return 0;
}

/* Begins to put together what is in several skbs; with no data of its own. */
static int begin_part(struct tcp_conn *c, u32 need)
{
	c->part = alloc_skb(0, GFP_ATOMIC | __GFP_NOWARN);
	if (!c->part)
		return -ENOMEM;
	c->part_last = NULL;
	c->part_own = false;
	c->part_off = 0;
	c->have = 0;
	c->need = need;
	return 0;
}

static void grow_part(struct tcp_conn *c, u32 len, u32 truesize)
{
	c->part->len += len;
	c->part->data_len += len;
	c->part->truesize += truesize;
}

static void chain(struct tcp_conn *c, struct sk_buff *skb)
{
	skb->next = NULL;
	if (c->part_last)
		c->part_last->next = skb;
	else
		skb_shinfo(c->part)->frag_list = skb;
	c->part_last = skb;
}

/* Bytes in memory of our own, so that many small pieces do not take much. */
static int copy_part(struct tcp_conn *c, struct sk_buff *skb, u32 off, u32 len)
{
	struct sk_buff *last = c->part_own ? c->part_last : NULL;
	u32 n;

	for (; len; off += n, len -= n) {
		if (!last || !skb_tailroom(last)) {
			last = alloc_skb(max_t(u32, len, 2 * TCP_COPY_BELOW),
					 GFP_ATOMIC | __GFP_NOWARN);
			if (!last)
				return -ENOMEM;
			chain(c, last);
			c->part_own = true;
			grow_part(c, 0, last->truesize);
		}
		n = min_t(u32, len, skb_tailroom(last));
		if (skb_copy_bits(skb, off, skb_put(last, n), n))
			return -EFAULT;
		grow_part(c, n, 0);
	}
	return 0;
}

/* Bytes by reference: all of the skb, as it cannot be cut without a copy. */
static int refer_part(struct tcp_conn *c, struct sk_buff *skb, u32 off, u32 len)
{
	/* It can be in one list only; what refers to it else reads it only. */
	if (skb_shared(skb))
		skb = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
	else
		skb_get(skb);
	if (!skb)
		return -ENOMEM;
	if (!c->part_last)
		c->part_off = off;
	chain(c, skb);
	c->part_own = false;
	/* Others hold the rest of it. */
	grow_part(c, skb->len, div_u64((u64)skb->truesize * len, skb->len));
	return 0;
}

static int add_part(struct tcp_conn *c, struct sk_buff *skb, u32 off, u32 len)
{
	bool from_start = !off || !c->part_last;
	bool to_end = off + len == skb->len || c->have + len == c->need;
	int err;

	if (from_start && to_end && len >= TCP_COPY_BELOW &&
	    skb->truesize / 8 <= len)
		err = refer_part(c, skb, off, len);
	else
		err = copy_part(c, skb, off, len);
	c->have += len;
	return err;
}

/* The part is as long as is known now that it must be. */
static int end_part(struct tcp_conn *c)
{
	u32 len;
	int err;

	if (c->need == TCP_HEAD_LEN) {
		err = get_head(c, c->part, c->part_off, &len);
		c->need += len;
		return err;
	}
	deliver(c, c->part, c->part_off + TCP_HEAD_LEN, c->need - TCP_HEAD_LEN);
	consume_skb(c->part);
	c->part = NULL;
	return 0;
}

/* What begins in front of a skb or in it; returns the bytes that were used. */
static int parse(struct tcp_conn *c, struct sk_buff *skb, u32 off, u32 avail)
{
	u32 len = 0;
	int err;

	if (!c->part) {
		if (avail >= TCP_HEAD_LEN) {
			err = get_head(c, skb, off, &len);
			if (err)
				return err;
		}
		if (len && avail >= TCP_HEAD_LEN + len) {
			deliver(c, skb, off + TCP_HEAD_LEN, len);
			return TCP_HEAD_LEN + len;
		}
		err = begin_part(c, TCP_HEAD_LEN + len);
		if (err)
			return err;
	}
	len = min(avail, c->need - c->have);
	err = add_part(c, skb, off, len);
	if (!err && c->have == c->need)
		err = end_part(c);
	return err ? err : len;
}

/* TCP keeps what it hands out only until this returns: a clone lasts. */
static int take(read_descriptor_t *desc, struct sk_buff *skb, unsigned int off,
		size_t len)
{
	struct sk_buff *clone = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
	struct tcp_conn *c = desc->arg.data;

	if (!clone) {
		desc->error = -ENOMEM;
		return 0;
	}
	in_cb(clone)->off = off;
	in_cb(clone)->end = off + len;
	skb_queue_tail(&c->arrived, clone);
	desc->count--;
	desc->written += len;
	return len;
}

/*
 * Takes what is there; the socket is locked. It is acknowledged and room for
 * more is made at once, so only so much of it may wait. Returns the bytes; in
 * @more whether some were left.
 */
static u32 collect(struct tcp_conn *c, struct sock *sk, bool *more)
{
	u32 have = skb_queue_len_lockless(&c->arrived);
	read_descriptor_t desc = { .arg.data = c };

	if (have < TCP_ARRIVED) {
		desc.count = TCP_ARRIVED - have;
		c->inside = true;
		tcp_read_sock(sk, &desc, take);
		c->inside = false;
	}
	*more = !desc.count;
	/* Without memory nobody says when it will be better. */
	if (desc.error)
		queue_delayed_work(tcp_wq, &c->work, 1);
	return desc.written;
}

static void conn_ready(struct sock *sk)
{
	struct tcp_conn *c;

	rcu_read_lock();
	c = rcu_dereference_sk_user_data(sk);
	if (c)
		tasklet_schedule(&c->tasklet);
	rcu_read_unlock();
}

/* Hands up what was taken from the socket; only in the tasklet. */
static void receive(struct tcp_conn *c)
{
	struct sk_buff *skb;
	u32 off, end;
	int n = 0;

	while (!c->bad && (skb = skb_dequeue(&c->arrived))) {
		end = in_cb(skb)->end;
		for (off = in_cb(skb)->off; off < end; off += n) {
			n = parse(c, skb, off, end - off);
			if (n < 0)
				break;
		}
		consume_skb(skb);
		/* Where the next packet begins is not known any more. */
		if (n < 0) {
			c->bad = true;
			broken(c);
		}
	}
	hcomm_link_receive_done(c->tl->link);
}

static void run(struct tasklet_struct *t)
{
	struct tcp_conn *c = from_tasklet(c, t, tasklet);
	bool later = skb_queue_empty_lockless(&c->arrived);
	bool more = false;
	struct socket *sock;
	struct sock *sk;

	rcu_read_lock();
	sock = READ_ONCE(c->sock);
	if (!sock)
		goto out;
	sk = sock->sk;
	bh_lock_sock(sk);
	if (sock_owned_by_user(sk)) {
		queue_delayed_work(tcp_wq, &c->work, 0);
		later = false;
	} else {
		later &= collect(c, sk, &more) >= TCP_ANSWERED;
		flush(c, sk);
	}
	bh_unlock_sock(sk);
	if (!later)
		receive(c);
	if (later || (more && !c->bad))
		tasklet_schedule(t);
	if (may_go_on(c)) {
		clear_bit(0, &c->wanted);
		hcomm_link_kick(c->tl->link);
	}
out:
	rcu_read_unlock();
}

static void do_work(struct work_struct *w)
{
	struct tcp_conn *c = container_of(to_delayed_work(w), struct tcp_conn,
					  work);
	struct tcp_link *tl = c->tl;
	bool more;

	mutex_lock(&tl->mutex);
	if (c->sock) {
		lock_sock(c->sock->sk);
		local_bh_disable();
		collect(c, c->sock->sk, &more);
		flush(c, c->sock->sk);
		local_bh_enable();
		release_sock(c->sock->sk);
		tasklet_schedule(&c->tasklet);
	}
	mutex_unlock(&tl->mutex);
}

static void set_callbacks(struct tcp_conn *c, struct socket *sock)
{
	struct sock *sk = sock->sk;

	/* Locked: none of the callbacks before is running. */
	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, c);
	sk->sk_data_ready = conn_ready;
	sk->sk_write_space = conn_space;
	sk->sk_state_change = conn_state;
	write_unlock_bh(&sk->sk_callback_lock);
	if (sk->sk_state != TCP_ESTABLISHED)
		broken(c);
	release_sock(sk);
}

/* A connection works in both directions. */
void hcomm_tcp_install(struct tcp_conn *c, struct socket *sock)
{
	lockdep_assert_held(&c->tl->mutex);
	close_one(c);
	set_socket(c, sock);
	spin_lock_bh(&c->lock);
	WRITE_ONCE(c->sock, sock);
	spin_unlock_bh(&c->lock);
	set_callbacks(c, sock);
	/*
	 * Something may have come before the callbacks were there. Under the
	 * mutex: detach() sets dead under it before it kills this.
	 */
	tasklet_schedule(&c->tasklet);
}

static bool copied(const struct hcomm_batch *b, const struct bio_vec *bv)
{
	return bv->bv_len < TCP_COPY_BELOW || !hcomm_batch_lasting(b, bv) ||
	       !sendpage_ok(bv->bv_page);
}

/**
 * struct copier - where pieces are copied to
 * @o: what they become part of
 * @page: the page, with a reference
 * @off: where in it
 * @room: bytes there
 * @left: bytes that will still come
 */
struct copier {
	struct tcp_out *o;
	struct page *page;
	u32 off;
	u32 room;
	u32 left;
};

static void add_piece(struct tcp_out *o, struct page *page, u32 off, u32 len)
{
	struct bio_vec *bv = o->nr ? &o->bv[o->nr - 1] : NULL;

	o->len += len;
	if (bv && bv->bv_page == page && bv->bv_offset + bv->bv_len == off) {
		bv->bv_len += len;
		return;
	}
	get_page(page);
	bvec_set_page(&o->bv[o->nr++], page, len, off);
}

/* In pages, as TCP takes nothing else by reference. */
static bool copy_in(struct copier *cp, const void *from, u32 len)
{
	void *p;
	u32 n;

	for (; len; from += n, len -= n) {
		if (!cp->room) {
			if (cp->page)
				put_page(cp->page);
			cp->page = NULL;
			cp->room = min_t(u32, cp->left, PAGE_SIZE);
			p = netdev_alloc_frag(cp->room);
			if (!p)
				return false;
			cp->page = virt_to_head_page(p);
			cp->off = p - page_address(cp->page);
		}
		n = min(len, cp->room);
		memcpy(page_address(cp->page) + cp->off, from, n);
		add_piece(cp->o, cp->page, cp->off, n);
		cp->off += n;
		cp->room -= n;
		cp->left -= n;
	}
	return true;
}

/* The pieces of a batch behind the lengths; false: no memory. */
static bool fill_out(struct copier *cp, const struct hcomm_batch *b)
{
	u8 head[TCP_HEAD_LEN];
	bool ok;
	u32 i;

	put_unaligned_le32(b->bytes, head);
	put_unaligned_le32(b->seg_len, head + 4);
	ok = copy_in(cp, head, sizeof(head));
	for (i = 0; ok && i < b->nr_bv; i++) {
		const struct bio_vec *bv = &b->bv[i];

		if (copied(b, bv))
			ok = copy_in(cp, page_address(bv->bv_page) +
				     bv->bv_offset, bv->bv_len);
		else
			add_piece(cp->o, bv->bv_page, bv->bv_offset,
				  bv->bv_len);
	}
	if (cp->page)
		put_page(cp->page);
	return ok;
}

static struct tcp_out *make_out(const struct hcomm_batch *b)
{
	struct copier cp = { .left = TCP_HEAD_LEN };
	u32 i;

	for (i = 0; i < b->nr_bv; i++)
		if (copied(b, &b->bv[i]))
			cp.left += b->bv[i].bv_len;
	i = 1 + b->nr_bv + DIV_ROUND_UP(cp.left, PAGE_SIZE);
	cp.o = kmalloc(struct_size(cp.o, bv, i), GFP_ATOMIC | __GFP_NOWARN);
	if (!cp.o)
		return NULL;
	cp.o->len = 0;
	cp.o->at = 0;
	cp.o->nr = 0;
	if (fill_out(&cp, b))
		return cp.o;
	free_out(cp.o);
	return NULL;
}

/* The sender does it itself if the socket is free; else the tasklet does. */
static void send_now(struct tcp_conn *c, struct sock *sk)
{
	bool later = true;

	/* Trylock: nobody waits for a socket while he builds packets. */
	if (spin_trylock(&sk->sk_lock.slock)) {
		/* Where locks are nothing, what TCP sent may come back here. */
		later = c->inside || sock_owned_by_user(sk);
		if (!later)
			flush(c, sk);
		spin_unlock(&sk->sk_lock.slock);
	}
	if (later || may_go_on(c))
		tasklet_schedule(&c->tasklet);
}

/**
 * hcomm_tcp_send - send a batch
 * @c: connection
 * @b: batch
 *
 * Context: bottom halves off, under rcu_read_lock().
 * Return: 0, -ENOTCONN: there is no connection, or what send() returns.
 */
int hcomm_tcp_send(struct tcp_conn *c, struct hcomm_batch *b)
{
	struct socket *sock;
	struct tcp_out *o;

	if (!READ_ONCE(c->sock))
		return -ENOTCONN;
	if (atomic_read(&c->bytes) > TCP_QUEUE)
		return -EAGAIN;
	o = make_out(b);
	if (!o)
		return -ENOMEM;
	spin_lock_bh(&c->lock);
	sock = c->sock;
	if (sock) {
		list_add_tail(&o->list, &c->queue);
		atomic_add(o->len, &c->bytes);
	}
	spin_unlock_bh(&c->lock);
	if (!sock) {
		free_out(o);
		return -ENOTCONN;
	}
	send_now(c, sock->sk);
	return 0;
}

/* Whether there is room for data; if not, the link is kicked when there is. */
bool hcomm_tcp_room(struct tcp_conn *c)
{
	if (has_room(c))
		return true;
	set_bit(0, &c->wanted);
	/* Pairs with the one of whoever made room. */
	smp_mb__after_atomic();
	return has_room(c);
}

void hcomm_tcp_conn_setup(struct tcp_conn *c, struct tcp_link *tl,
			  enum tcp_conn_kind kind)
{
	c->tl = tl;
	c->kind = kind;
	spin_lock_init(&c->lock);
	INIT_LIST_HEAD(&c->queue);
	skb_queue_head_init(&c->arrived);
	tasklet_setup(&c->tasklet, run);
	INIT_DELAYED_WORK(&c->work, do_work);
}

/* There is no connection any more, and nobody makes one. */
void hcomm_tcp_conn_cancel(struct tcp_conn *c)
{
	/* The work first: it schedules the tasklet, which does nothing now. */
	cancel_delayed_work_sync(&c->work);
	tasklet_kill(&c->tasklet);
}

int hcomm_tcp_conn_init(void)
{
	tcp_wq = alloc_workqueue("hcomm_tcp_data", WQ_UNBOUND | WQ_MEM_RECLAIM,
				 0);
	return tcp_wq ? 0 : -ENOMEM;
}

void hcomm_tcp_conn_exit(void)
{
	destroy_workqueue(tcp_wq);
}
