// SPDX-License-Identifier: GPL-2.0
#include "rxlane.h"

#include <linux/net.h>
#include <linux/slab.h>

#include "batch.h"
#include "msg.h"
#include "note.h"
#include "port.h"
#include "trace.h"

/* A message costs memory beyond its bytes: so many per byte of window. */
enum { BYTES_PER_MSG = 256, CREDIT_STEP = 256 << 10 };

/* What is left of a packet may pin more than this many times its length. */
enum { MEM_FACTOR = 4 };

void hcomm_rxlane_put(struct hcomm_rxlane *lane)
{
	if (!refcount_dec_and_test(&lane->ref))
		return;
	hcomm_session_put(lane->session);
	kfree_rcu(lane, rcu);
}

static void drop_pieces(struct hcomm_rxlane *lane)
{
	struct hcomm_chunk *c, *next;
	struct rb_node *n;

	while ((n = rb_first(&lane->early))) {
		c = rb_entry(n, struct hcomm_chunk, rb);
		rb_erase(n, &lane->early);
		hcomm_chunk_free(c);
	}
	list_for_each_entry_safe(c, next, &lane->part, list)
		hcomm_chunk_free(c);
	INIT_LIST_HEAD(&lane->part);
	lane->mem -= lane->part_truesize;
	lane->part_truesize = 0;
	lane->part_len = 0;
	lane->early_mem = 0;
}

static void close_lane(struct hcomm_rxlane *lane)
{
	struct hcomm_session *s = lane->session;

	lockdep_assert_held(&s->lock);
	if (!lane->open)
		return;
	lane->open = false;
	drop_pieces(lane);
	if (lane->ack || lane->credit) {
		list_del_init(&lane->ctl_node);
		lane->ack = false;
		lane->credit = false;
	}
	xa_erase(&s->rxlanes, lane->id);
	s->nr_rx--;
	hcomm_rxlane_put(lane);
}

static void want(struct hcomm_rxlane *lane, bool ack, bool credit)
{
	if (!lane->open)
		return;
	if (!lane->ack && !lane->credit)
		list_add_tail(&lane->ctl_node, &lane->session->ctl);
	lane->ack |= ack;
	lane->credit |= credit;
}

/* The reply to a packet about the lane was lost. */
void hcomm_rxlane_again(struct hcomm_rxlane *lane, u8 kind)
{
	lockdep_assert_held(&lane->session->lock);
	want(lane, kind == HCOMM_FRAME_LANE_ACK, kind == HCOMM_FRAME_CREDIT);
}

/**
 * hcomm_rxlane_accept - an endpoint takes a lane
 * @lane: lane; called from hcomm_port_ops.open() with the session's lock held
 * @ops: of the endpoint
 * @owner: for @ops
 * @window: bytes that it takes ahead
 * @window_max: what the window may grow to if the reader is that fast
 *
 * The endpoint gets a reference.
 */
void hcomm_rxlane_accept(struct hcomm_rxlane *lane,
			 const struct hcomm_rxlane_ops *ops, void *owner,
			 u32 window, u32 window_max)
{
	lockdep_assert_held(&lane->session->lock);
	refcount_inc(&lane->ref);
	lane->window_max = window_max;
	lane->ops = ops;
	lane->owner = owner;
	lane->window = window;
	if (window > lane->limit) {
		lane->limit = window;
		lane->limit_msgs = max_t(u64, lane->limit_msgs,
					 window / BYTES_PER_MSG);
		want(lane, false, true);
	}
}

static struct hcomm_rxlane *make_lane(struct hcomm_session *s,
				      const struct hcomm_wire_data *d)
{
	struct hcomm_rxlane *lane;

	lane = kzalloc(sizeof(*lane), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!lane)
		return NULL;
	refcount_set(&lane->ref, 1);
	lane->session = s;
	INIT_LIST_HEAD(&lane->owner_node);
	INIT_LIST_HEAD(&lane->ctl_node);
	INIT_LIST_HEAD(&lane->part);
	lane->early = RB_ROOT;
	lane->id = d->lane;
	lane->src_port = d->src_port;
	lane->dst_port = d->dst_port;
	lane->peer_lane = d->peer_lane;
	lane->type = d->type;
	lane->class = d->class;
	lane->limit = HCOMM_INITIAL_CREDIT;
	lane->limit_msgs = HCOMM_INITIAL_MSGS;
	lane->told = lane->limit;
	lane->told_msgs = lane->limit_msgs;
	return lane;
}

/* Asks the port; a refusal is remembered, so that the answer stays the same. */
static void ask_port(struct hcomm_rxlane *lane, int *err)
{
	struct hcomm_net *hn = lane->session->hn;
	struct hcomm_port *port;

	port = hcomm_port_find(hn, lane->dst_port);
	*err = port ? port->ops->open(port, lane) : -ECONNREFUSED;
	if (!*err || *err == -EAGAIN)
		return;
	hcomm_count(hn, rx_refused);
	lane->refused = -*err;
}

/*
 * Numbers of lanes come in order, but for packets that overtook others and
 * lanes that were given up before they were opened. A number between others
 * that was not opened yet is a hole: a value in the table of lanes.
 */
static bool is_hole(const void *entry)
{
	return xa_is_value(entry);
}

/* The lane, if it is open. */
struct hcomm_rxlane *hcomm_rxlane_find(struct hcomm_session *s, u32 id)
{
	void *entry = xa_load(&s->rxlanes, id);

	return is_hole(entry) ? NULL : entry;
}

static void fill_hole(struct hcomm_session *s, u32 id)
{
	if (is_hole(xa_load(&s->rxlanes, id))) {
		xa_erase(&s->rxlanes, id);
		s->nr_holes--;
	}
}

/* Forgets the lowest holes; who comes with such a number is refused. */
static void forget_holes(struct hcomm_session *s, u32 below, u32 keep)
{
	unsigned long id;
	void *entry;

	xa_for_each(&s->rxlanes, id, entry) {
		if (id >= below && s->nr_holes <= keep)
			break;
		if (!is_hole(entry))
			continue;
		xa_erase(&s->rxlanes, id);
		s->nr_holes--;
		s->rx_floor = id + 1;
	}
	s->rx_floor = max(s->rx_floor, below);
	s->rx_next = max(s->rx_next, below);
}

/* Hears of a number; false: no memory to remember those in between. */
static bool note_number(struct hcomm_session *s, u32 id)
{
	u32 max = READ_ONCE(s->hn->conf.max_lanes);

	/* No sender gives it to a lane: what comes next would go round. */
	if (id == U32_MAX)
		return false;
	if (id < s->rx_next)
		return true;
	if (id - s->rx_next > max)
		forget_holes(s, id - max, U32_MAX);
	for (; s->rx_next < id; s->rx_next++) {
		if (xa_err(xa_store(&s->rxlanes, s->rx_next, xa_mk_value(0),
				    GFP_ATOMIC)))
			return false;
		s->nr_holes++;
	}
	s->rx_next = id + 1;
	if (s->nr_holes > max)
		forget_holes(s, 0, max / 2);
	return true;
}

/* Another incarnation: its numbers begin anew. All lanes are closed. */
void hcomm_rxlane_forget(struct hcomm_session *s)
{
	lockdep_assert_held(&s->lock);
	forget_holes(s, 0, 0);
	s->rx_next = 1;
	s->rx_floor = 0;
}

/* The first piece of a lane; NULL: it cannot be taken now. */
static struct hcomm_rxlane *open_lane(struct hcomm_session *s,
				      const struct hcomm_wire_data *d)
{
	struct hcomm_rxlane *lane;
	int err;

	if (s->nr_rx >= READ_ONCE(s->hn->conf.max_lanes))
		goto err_count;
	lane = make_lane(s, d);
	if (!lane)
		goto err_count;
	if (!note_number(s, lane->id))
		goto err_free;
	if (is_hole(xa_load(&s->rxlanes, lane->id)))
		s->nr_holes--;
	if (xa_err(xa_store(&s->rxlanes, lane->id, lane, GFP_ATOMIC)))
		goto err_hole;
	hcomm_session_hold(s);
	lane->open = true;
	s->nr_rx++;
	ask_port(lane, &err);
	if (err == -EAGAIN) {
		/* As if it had never come: the sender says it again. */
		hcomm_count(s->hn, rx_backlog);
		refcount_inc(&lane->ref);
		close_lane(lane);
		if (!xa_err(xa_store(&s->rxlanes, lane->id, xa_mk_value(0),
				     GFP_ATOMIC)))
			s->nr_holes++;
		else
			/* It must not look as if it had been there. */
			s->rx_floor = max(s->rx_floor, lane->id + 1);
		hcomm_rxlane_put(lane);
		return NULL;
	}
	return lane;

err_hole:
	/* The number was heard of, and the lane is not there. */
	s->rx_floor = max(s->rx_floor, lane->id + 1);
err_free:
	kfree(lane);
err_count:
	hcomm_count(s->hn, rx_no_memory);
	return NULL;
}

static void deliver(struct hcomm_rxlane *lane, struct hcomm_rxmsg *m)
{
	struct hcomm_net *hn = lane->session->hn;

	lane->msgs++;
	if (m->kind == HCOMM_KIND_DATA)
		hcomm_count(hn, msgs_received);
	if (!lane->ops) {
		/* The endpoint has gone; only the end may still come. */
		hcomm_rxmsg_free(m);
		return;
	}
	refcount_inc(&lane->ref);
	m->lane = lane;
	m->node = lane->session->node;
	m->port = lane->src_port;
	lane->ops->deliver(lane, m);
}

static void refuse(struct hcomm_rxlane *lane)
{
	hcomm_note_add(lane->session, HCOMM_FRAME_RESET, lane->id, true,
		       lane->refused);
}

/* The sender does not keep to the rules: nothing of the lane can be used. */
static void break_lane(struct hcomm_rxlane *lane)
{
	const struct hcomm_rxlane_ops *ops = lane->ops;

	hcomm_count(lane->session->hn, rx_malformed);
	lane->refused = EPROTO;
	drop_pieces(lane);
	refuse(lane);
	lane->ops = NULL;
	if (ops)
		ops->reset(lane, EPROTO);
}

/* A message that is longer than the window must be let in whole. */
static void admit(struct hcomm_rxlane *lane, const struct hcomm_chunk *c)
{
	u64 end = c->off - c->msg_off + hcomm_wire_span(c->msg_len);

	if (end <= lane->told)
		return;
	/* The limit may be further on already, and not worth a packet yet. */
	lane->limit = max(lane->limit, end);
	want(lane, false, true);
	lane->session->urgent = true;
}

/* Whether a piece carries on the message that @cum is in, or begins one. */
static bool carries_on(struct hcomm_rxlane *lane,
		       const struct hcomm_chunk *c)
{
	const struct hcomm_chunk *first;

	if (c->msg_off != lane->part_len)
		return false;
	first = list_first_entry_or_null(&lane->part, struct hcomm_chunk, list);
	return !first ||
	       (first->msg_len == c->msg_len && first->kind == c->kind);
}

/*
 * A piece follows in order: it may be the last of its message. False: it was
 * not taken, for want of memory or because it is wrong.
 */
static bool append(struct hcomm_rxlane *lane, struct hcomm_chunk *c)
{
	struct hcomm_rxmsg *m;

	if (!carries_on(lane, c)) {
		break_lane(lane);
		return false;
	}
	if (c->msg_off + c->len < c->msg_len) {
		list_add_tail(&c->list, &lane->part);
		lane->part_len += c->len;
		lane->part_truesize += c->truesize;
		lane->mem += c->truesize;
		lane->cum += c->len;
		admit(lane, c);
		return true;
	}
	m = hcomm_rxmsg_alloc(GFP_ATOMIC);
	if (!m)
		return false;
	list_add_tail(&c->list, &lane->part);
	m->len = c->msg_len;
	m->kind = c->kind;
	m->truesize += lane->part_truesize + c->truesize;
	list_splice_init(&lane->part, &m->chunks);
	if (m->kind == HCOMM_KIND_DATA)
		lane->mem += m->truesize - lane->part_truesize;
	lane->part_truesize = 0;
	lane->part_len = 0;
	lane->cum += hcomm_wire_span(c->len);
	if (m->kind == HCOMM_KIND_FIN)
		lane->fin = true;
	deliver(lane, m);
	return true;
}

static void append_early(struct hcomm_rxlane *lane)
{
	struct rb_node *n;

	while ((n = rb_first(&lane->early)) && lane->open && !lane->refused) {
		struct hcomm_chunk *c = rb_entry(n, struct hcomm_chunk, rb);

		if (c->off != lane->cum)
			break;
		rb_erase(n, &lane->early);
		RB_CLEAR_NODE(&c->rb);
		lane->early_mem -= c->truesize;
		if (!append(lane, c)) {
			/* The sender has it still, and says it again. */
			hcomm_chunk_free(c);
			hcomm_count(lane->session->hn, rx_no_memory);
			break;
		}
	}
}

static bool insert_early(struct hcomm_rxlane *lane, struct hcomm_chunk *c)
{
	struct rb_node **p = &lane->early.rb_node, *parent = NULL;

	while (*p) {
		struct hcomm_chunk *o = rb_entry(*p, struct hcomm_chunk, rb);

		parent = *p;
		if (c->off + hcomm_wire_span(c->len) <= o->off)
			p = &parent->rb_left;
		else if (c->off >= o->off + hcomm_wire_span(o->len))
			p = &parent->rb_right;
		else
			return false;
	}
	rb_link_node(&c->rb, parent, p);
	rb_insert_color(&c->rb, &lane->early);
	return true;
}

/* The first early piece that ends behind @off. */
static struct hcomm_chunk *early_after(struct hcomm_rxlane *lane, u64 off)
{
	struct rb_node *n = lane->early.rb_node;
	struct hcomm_chunk *best = NULL;

	while (n) {
		struct hcomm_chunk *c = rb_entry(n, struct hcomm_chunk, rb);

		if (c->off + hcomm_wire_span(c->len) > off) {
			best = c;
			n = n->rb_left;
		} else {
			n = n->rb_right;
		}
	}
	return best;
}

static bool keep(struct hcomm_rxlane *lane, const struct hcomm_wire_data *d,
		 u64 from, u64 to, const struct hcomm_payload *p)
{
	u32 skip = from - d->offset;
	struct hcomm_chunk *c;
	bool ok;

	c = hcomm_chunk_make(p, skip, d->len ? to - from : 0);
	if (!c)
		return false;
	c->off = from;
	c->msg_len = d->msg_len;
	c->msg_off = d->msg_off + skip;
	c->kind = d->kind;
	if (from == lane->cum) {
		ok = append(lane, c);
	} else {
		ok = insert_early(lane, c);
		if (ok)
			lane->early_mem += c->truesize;
	}
	if (!ok)
		hcomm_chunk_free(c);
	return ok;
}

/* Keeps those parts of a piece that are not here yet. */
static void store(struct hcomm_rxlane *lane, const struct hcomm_wire_data *d,
		  const struct hcomm_payload *p)
{
	u64 at = d->offset, end = d->offset + hcomm_wire_span(d->len);
	bool any = false;

	while (at < end && lane->open && !lane->refused) {
		struct hcomm_chunk *next;
		u64 to = end;

		if (at < lane->cum) {
			at = lane->cum;
			continue;
		}
		next = RB_EMPTY_ROOT(&lane->early) ? NULL :
						     early_after(lane, at);
		if (next && next->off <= at) {
			at = next->off + hcomm_wire_span(next->len);
			continue;
		}
		if (next && next->off < end)
			to = next->off;
		if (!keep(lane, d, at, to, p)) {
			hcomm_count(lane->session->hn, rx_no_memory);
			return;
		}
		any = true;
		at = to;
	}
	if (!any)
		hcomm_count(lane->session->hn, rx_old_data);
	else if (!RB_EMPTY_ROOT(&lane->early))
		append_early(lane);
}

/*
 * Credit counts bytes. Pieces that take far more memory than that, too many
 * messages, and a reader who has enough: nothing is taken, and nothing is
 * acknowledged, so that it comes again. What closes a gap is taken in any case
 * if only what waits for it fills the memory.
 */
static bool has_room(struct hcomm_rxlane *lane,
		     const struct hcomm_wire_data *d)
{
	u64 max = MEM_FACTOR * (u64)max_t(u32, lane->window,
					  HCOMM_INITIAL_CREDIT) +
		  2 * HCOMM_MAX_MSG_LEN;
	u64 mem = lane->mem;

	if (d->offset > lane->cum)
		mem += lane->early_mem;
	else if (!d->msg_off && d->kind == HCOMM_KIND_DATA &&
		 lane->msgs >= lane->limit_msgs)
		return false;
	return mem <= max &&
	       (!lane->ops || !lane->ops->full || !lane->ops->full(lane));
}

/* A lane that is neither open nor new: finished, as far as is known. */
static void was_there(struct hcomm_session *s, u32 id)
{
	if (id < s->rx_floor)
		hcomm_note_add(s, HCOMM_FRAME_RESET, id, true, ECONNRESET);
	else
		/* The peer has not heard of it. */
		hcomm_note_add(s, HCOMM_FRAME_LANE_ACK, id, true, 0);
}

/**
 * hcomm_rxlane_receive - a DATA frame arrived, or those of a run of packets
 * @s: session; its lock is held
 * @d: decoded; the length is that of all together
 * @p: where the bytes are
 */
void hcomm_rxlane_receive(struct hcomm_session *s,
			  const struct hcomm_wire_data *d,
			  const struct hcomm_payload *p)
{
	struct hcomm_rxlane *lane;

	lockdep_assert_held(&s->lock);
	lane = hcomm_rxlane_find(s, d->lane);
	if (!lane) {
		if (d->lane < s->rx_next && !xa_load(&s->rxlanes, d->lane)) {
			was_there(s, d->lane);
			return;
		}
		if (d->open)
			lane = open_lane(s, d);
		else
			hcomm_count(s->hn, rx_no_lane);
		if (!lane)
			return;
	}
	if (lane->refused) {
		refuse(lane);
		return;
	}
	if (!lane->ops && d->kind == HCOMM_KIND_DATA &&
	    d->offset + hcomm_wire_span(d->len) > lane->cum) {
		lane->refused = ECONNRESET;
		refuse(lane);
		return;
	}
	if (d->offset + hcomm_wire_span(d->len) > lane->limit ||
	    d->msg_len > HCOMM_MAX_MSG_LEN) {
		hcomm_count(s->hn, rx_over_credit);
		return;
	}
	if (!has_room(lane, d)) {
		hcomm_count(s->hn, rx_full);
		return;
	}
	want(lane, true, false);
	store(lane, d, p);
	if (lane->fin && lane->open) {
		hcomm_note_add(s, HCOMM_FRAME_LANE_ACK, lane->id, true, 0);
		close_lane(lane);
	}
}

/* The sender gave the lane up, or confirms that it was refused. */
void hcomm_rxlane_reset(struct hcomm_session *s, u32 id)
{
	struct hcomm_rxlane *lane = hcomm_rxlane_find(s, id);

	lockdep_assert_held(&s->lock);
	/* It may not have been opened: it never will be. */
	if (!note_number(s, id))
		return;
	fill_hole(s, id);
	hcomm_note_add(s, HCOMM_FRAME_LANE_ACK, id, true, 0);
	if (lane)
		hcomm_rxlane_fail(lane, ECONNRESET);
}

void hcomm_rxlane_fail(struct hcomm_rxlane *lane, int err)
{
	const struct hcomm_rxlane_ops *ops = lane->ops;

	lockdep_assert_held(&lane->session->lock);
	refcount_inc(&lane->ref);
	close_lane(lane);
	lane->ops = NULL;
	if (ops)
		ops->reset(lane, err);
	hcomm_rxlane_put(lane);
}

static bool update_limit(struct hcomm_rxlane *lane)
{
	u64 limit = lane->read + lane->window;
	u64 msgs = lane->read_msgs +
		   max_t(u64, HCOMM_INITIAL_MSGS, lane->window / BYTES_PER_MSG);

	lane->limit = max(lane->limit, limit);
	lane->limit_msgs = max(lane->limit_msgs, msgs);
	/* Worth a packet; more at once would come as a burst, and lie cold. */
	return lane->limit - lane->told >= min(lane->window / 4, CREDIT_STEP) ||
	       lane->limit_msgs - lane->told_msgs >= HCOMM_INITIAL_MSGS / 4;
}

/*
 * A reader who takes more than half of the window in a round trip may be
 * waiting for it. More than is needed would only lie about.
 */
static void grow_window(struct hcomm_rxlane *lane)
{
	u64 now, rtt;

	if (lane->window >= lane->window_max)
		return;
	now = ktime_get_ns();
	rcu_read_lock();
	rtt = hcomm_session_rtt(lane->session);
	rcu_read_unlock();
	if (now - lane->epoch < rtt)
		return;
	if (lane->epoch && lane->read - lane->epoch_read > lane->window / 2)
		lane->window = min(lane->window * 2, lane->window_max);
	lane->epoch = now;
	lane->epoch_read = lane->read;
}

/**
 * hcomm_rxlane_read - the endpoint has read a message of the lane
 * @lane: lane; the reference that came with the message is dropped
 * @msg_len: its length
 * @truesize: memory that it took
 */
void hcomm_rxlane_read(struct hcomm_rxlane *lane, u32 msg_len, u32 truesize)
{
	struct hcomm_session *s = lane->session;
	bool tell;

	spin_lock_bh(&s->lock);
	lane->read += hcomm_wire_span(msg_len);
	lane->read_msgs++;
	lane->mem -= truesize;
	grow_window(lane);
	tell = lane->open && update_limit(lane);
	if (tell)
		want(lane, false, true);
	spin_unlock_bh(&s->lock);
	if (tell)
		hcomm_session_kick(s);
	hcomm_rxlane_put(lane);
}

/**
 * hcomm_rxlane_detach - the endpoint goes
 * @lane: lane; the caller has a reference of its own, which is dropped, and the
 *	endpoint's as well unless reset() was called before
 * @err: positive errno that what arrives later is refused with; 0: only data
 *	is refused, the end of the lane may still come
 */
void hcomm_rxlane_detach(struct hcomm_rxlane *lane, int err)
{
	struct hcomm_session *s = lane->session;
	bool kick = false, owned;

	spin_lock_bh(&s->lock);
	owned = lane->ops;
	lane->ops = NULL;
	lane->owner = NULL;
	/* The sender must not believe that what came last was read. */
	if (!err && lane->mem)
		err = ECONNRESET;
	if (lane->open && err && !lane->refused) {
		lane->refused = err;
		drop_pieces(lane);
		refuse(lane);
		kick = true;
	}
	spin_unlock_bh(&s->lock);
	if (kick)
		hcomm_session_kick(s);
	if (owned)
		hcomm_rxlane_put(lane);
	hcomm_rxlane_put(lane);
}

static u8 early_ranges(struct hcomm_rxlane *lane,
		       struct hcomm_wire_lane_ack *a)
{
	struct rb_node *n;
	u8 nr = 0;

	for (n = rb_first(&lane->early); n; n = rb_next(n)) {
		struct hcomm_chunk *c = rb_entry(n, struct hcomm_chunk, rb);
		u64 end = c->off + hcomm_wire_span(c->len);

		if (nr && a->r[nr - 1].end == c->off) {
			a->r[nr - 1].end = end;
			continue;
		}
		if (nr == HCOMM_WIRE_LANE_RANGES)
			break;
		a->r[nr].start = c->off;
		a->r[nr].end = end;
		nr++;
	}
	return nr;
}

static bool fill_ack(struct hcomm_rxlane *lane, struct hcomm_batch *b,
		     struct hcomm_sent *sent)
{
	struct hcomm_wire_lane_ack a = { .lane = lane->id, .cum = lane->cum };
	u32 len;
	u8 *p;

	a.nr = early_ranges(lane, &a);
	while (a.nr && hcomm_wire_lane_ack_size(a.nr) > b->room)
		a.nr--;
	len = hcomm_wire_lane_ack_size(a.nr);
	p = hcomm_batch_head(b, len);
	if (!p)
		return false;
	if (!hcomm_sent_add(sent, HCOMM_FRAME_LANE_ACK, lane->id, 0, 0)) {
		hcomm_batch_trim(b, len);
		return false;
	}
	hcomm_wire_put_lane_ack(p, &a);
	lane->ack = false;
	return true;
}

static bool fill_credit(struct hcomm_rxlane *lane, struct hcomm_batch *b,
			struct hcomm_sent *sent)
{
	struct hcomm_wire_credit c = {
		.lane = lane->id, .offset = lane->limit,
		.msgs = lane->limit_msgs,
	};
	u32 len = HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_CREDIT_LEN;
	u8 *p;

	p = hcomm_batch_head(b, len);
	if (!p)
		return false;
	if (!hcomm_sent_add(sent, HCOMM_FRAME_CREDIT, lane->id, 0, 0)) {
		hcomm_batch_trim(b, len);
		return false;
	}
	hcomm_wire_put_credit(p, &c);
	lane->told = lane->limit;
	lane->told_msgs = lane->limit_msgs;
	lane->credit = false;
	return true;
}

/**
 * hcomm_rxlane_fill - put acknowledgement and credit into a packet
 * @lane: lane in hcomm_session.ctl; the session's lock is held
 * @b: batch with an open packet
 * @sent: notes what went in
 *
 * Return: false: no room, the lane stays in the list.
 */
bool hcomm_rxlane_fill(struct hcomm_rxlane *lane, struct hcomm_batch *b,
		       struct hcomm_sent *sent)
{
	lockdep_assert_held(&lane->session->lock);
	if (lane->ack && !fill_ack(lane, b, sent))
		return false;
	if (lane->credit && !fill_credit(lane, b, sent))
		return false;
	list_del_init(&lane->ctl_node);
	return true;
}
