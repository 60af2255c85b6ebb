// SPDX-License-Identifier: GPL-2.0
#include "txlane.h"

#include <linux/slab.h>

#include "batch.h"
#include "msg.h"
#include "trace.h"

void hcomm_txlane_put(struct hcomm_txlane *lane)
{
	if (!refcount_dec_and_test(&lane->ref))
		return;
	hcomm_session_put(lane->session);
	kfree_rcu(lane, rcu);
}

static void unready(struct hcomm_txlane *lane)
{
	if (lane->is_ready) {
		list_del_init(&lane->ready_node);
		lane->is_ready = false;
	}
}

/* Takes the lane out of the session, and with it the session's reference. */
static void close_lane(struct hcomm_txlane *lane)
{
	struct hcomm_session *s = lane->session;

	lockdep_assert_held(&s->lock);
	if (!lane->open)
		return;
	lane->open = false;
	unready(lane);
	xa_erase(&s->txlanes, lane->id);
	s->nr_tx--;
	hcomm_txlane_put(lane);
}

static struct hcomm_msg *first_msg(struct hcomm_txlane *lane)
{
	return rb_entry_safe(rb_first(&lane->msgs), struct hcomm_msg, node);
}

static void drop_msg(struct hcomm_txlane *lane, struct hcomm_msg *msg)
{
	if (lane->cursor == msg)
		lane->cursor = NULL;
	rb_erase(&msg->node, &lane->msgs);
	hcomm_msg_free(msg);
}

/* Whether everything that the owner left behind is done. */
bool hcomm_txlane_idle(const struct hcomm_txlane *lane)
{
	return lane->una == lane->end && !lane->reset;
}

/* Can be sent now: lost pieces, or new ones within the credit. */
static bool has_work(const struct hcomm_txlane *lane)
{
	const struct hcomm_msg *m = lane->cursor;

	if (!lane->open)
		return false;
	if (lane->reset)
		return !lane->reset_sent;
	if (lane->resend.nr)
		return true;
	if (lane->nxt == lane->end || lane->nxt >= lane->credit)
		return false;
	/* At the beginning of a message the number of messages counts. */
	return !m || m->start != lane->nxt || m->seq <= lane->credit_msgs;
}

/* Puts the lane into the session's list if it has something to send. */
void hcomm_txlane_ready(struct hcomm_txlane *lane)
{
	struct hcomm_session *s = lane->session;

	lockdep_assert_held(&s->lock);
	if (lane->is_ready || !has_work(lane))
		return;
	list_add_tail(&lane->ready_node, &s->ready[lane->class]);
	lane->is_ready = true;
}

/**
 * hcomm_txlane_queue - add a message at the end of the lane
 * @lane: lane; the session's lock is held
 * @msg: message; belongs to the lane if the call succeeds
 *
 * Return: 0, or why the lane was given up (negative).
 */
int hcomm_txlane_queue(struct hcomm_txlane *lane, struct hcomm_msg *msg)
{
	struct rb_node **p = &lane->msgs.rb_node, *parent = NULL;

	lockdep_assert_held(&lane->session->lock);
	if (lane->err)
		return -lane->err;
	if (!lane->open || lane->fin)
		return -EPIPE;
	msg->start = lane->end;
	msg->seq = ++lane->queued_msgs;
	while (*p) {
		parent = *p;
		p = &parent->rb_right;
	}
	rb_link_node(&msg->node, parent, p);
	rb_insert_color(&msg->node, &lane->msgs);
	/* The clock of a lane without data stands. */
	if (lane->una == lane->end)
		lane->progress = ktime_get_ns();
	lane->end += hcomm_wire_span(msg->len);
	if (msg->kind == HCOMM_KIND_FIN)
		lane->fin = true;
	hcomm_txlane_ready(lane);
	return 0;
}

int hcomm_txlane_send(struct hcomm_txlane *lane, struct hcomm_msg *msg)
{
	struct hcomm_session *s = lane->session;
	int err;

	spin_lock_bh(&s->lock);
	err = hcomm_txlane_queue(lane, msg);
	spin_unlock_bh(&s->lock);
	if (!err)
		hcomm_session_kick(s);
	return err;
}

/* Drops what the lane has and tells the owner; the lane stays. */
static void give_up(struct hcomm_txlane *lane, int err, u64 delivered)
{
	const struct hcomm_txlane_ops *ops = lane->ops;
	struct hcomm_msg *msg;
	u32 lost = 0;

	lockdep_assert_held(&lane->session->lock);
	lane->err = err;
	while ((msg = first_msg(lane))) {
		if (msg->start + hcomm_wire_span(msg->len) > delivered &&
		    msg->kind == HCOMM_KIND_DATA)
			lost++;
		drop_msg(lane, msg);
	}
	lane->una = lane->end;
	lane->nxt = lane->end;
	hcomm_ranges_init(&lane->resend);
	hcomm_count_add(lane->session->hn, msgs_dropped, lost);
	trace_hcomm_lane_failed(lane, err, lost);
	lane->ops = NULL;
	/* It drops its reference in here. */
	if (ops)
		ops->failed(lane, err, lost);
}

/**
 * hcomm_txlane_fail - give the lane up
 * @lane: lane; the session's lock is held
 * @err: positive errno for the owner
 * @delivered: messages that end at or below this offset did arrive
 */
void hcomm_txlane_fail(struct hcomm_txlane *lane, int err, u64 delivered)
{
	lockdep_assert_held(&lane->session->lock);
	if (!lane->open)
		return;
	refcount_inc(&lane->ref);
	close_lane(lane);
	give_up(lane, err, delivered);
	hcomm_txlane_put(lane);
}

/*
 * A peer that may know the lane, and may be there again one day, must hear that
 * nothing follows: the lane stays until it said so, or its place is needed.
 */
static void time_out(struct hcomm_txlane *lane, u64 now)
{
	if (lane->session->state != HCOMM_SESSION_OPEN) {
		hcomm_txlane_fail(lane, ETIMEDOUT, lane->una);
		return;
	}
	refcount_inc(&lane->ref);
	give_up(lane, ETIMEDOUT, lane->una);
	lane->reset = true;
	lane->reset_sent = false;
	lane->progress = now;
	lane->rto_at = 0;
	hcomm_txlane_ready(lane);
	hcomm_txlane_put(lane);
}

/* Makes room for a lane where the last word of another was still unsaid. */
static void drop_reset_lane(struct hcomm_session *s)
{
	struct hcomm_txlane *lane;
	unsigned long id;

	xa_for_each(&s->txlanes, id, lane) {
		if (lane->reset && !lane->ops) {
			close_lane(lane);
			return;
		}
	}
}

/**
 * hcomm_txlane_open_locked - make a lane to a port of the remote node
 * @s: session; its lock is held
 * @cfg: what it is
 * @gfp: how to allocate
 *
 * Return: the lane with a reference for the owner; -ENOBUFS if the session has
 * too many, -ENOMEM.
 */
struct hcomm_txlane *
hcomm_txlane_open_locked(struct hcomm_session *s,
			 const struct hcomm_txlane_config *cfg, gfp_t gfp)
{
	struct hcomm_txlane *lane;
	int err;

	lockdep_assert_held(&s->lock);
	if (s->dead)
		return ERR_PTR(-EHOSTUNREACH);
	if (s->nr_tx >= READ_ONCE(s->hn->conf.max_lanes))
		drop_reset_lane(s);
	if (s->nr_tx >= READ_ONCE(s->hn->conf.max_lanes) ||
	    s->next_lane == U32_MAX)
		return ERR_PTR(-ENOBUFS);
	lane = kzalloc(sizeof(*lane), gfp);
	if (!lane)
		return ERR_PTR(-ENOMEM);
	refcount_set(&lane->ref, 2);
	lane->session = s;
	lane->ops = cfg->ops;
	lane->owner = cfg->owner;
	INIT_LIST_HEAD(&lane->ready_node);
	lane->open = true;
	lane->id = s->next_lane + 1;
	lane->src_port = cfg->src_port;
	lane->dst_port = cfg->dst_port;
	lane->peer_lane = cfg->peer_lane;
	lane->type = cfg->type;
	lane->class = cfg->class;
	lane->timeout_ms = cfg->timeout_ms;
	lane->msgs = RB_ROOT;
	hcomm_ranges_init(&lane->resend);
	hcomm_ranges_init(&lane->sacked);
	lane->credit = s->peer_credit;
	lane->credit_msgs = HCOMM_INITIAL_MSGS;
	err = xa_err(xa_store(&s->txlanes, lane->id, lane, GFP_ATOMIC));
	if (err) {
		kfree(lane);
		return ERR_PTR(err);
	}
	s->next_lane++;
	s->nr_tx++;
	hcomm_session_hold(s);
	return lane;
}

struct hcomm_txlane *hcomm_txlane_open(struct hcomm_session *s,
				       const struct hcomm_txlane_config *cfg,
				       gfp_t gfp)
{
	struct hcomm_txlane *lane;

	spin_lock_bh(&s->lock);
	lane = hcomm_txlane_open_locked(s, cfg, GFP_ATOMIC | __GFP_ACCOUNT);
	spin_unlock_bh(&s->lock);
	return lane;
}

/**
 * hcomm_txlane_detach - the owner goes
 * @lane: lane; the caller has a reference of its own, which is dropped, and the
 *	owner's as well unless failed() was called before
 * @abort: what is queued is not wanted any more
 *
 * Otherwise what is queued is still delivered, for session_timeout at most,
 * and the peer is told that nothing follows.
 */
void hcomm_txlane_detach(struct hcomm_txlane *lane, bool abort)
{
	struct hcomm_session *s = lane->session;
	struct hcomm_msg *msg, *fin = NULL;
	bool owned;

	if (!abort && !lane->fin)
		fin = hcomm_msg_alloc(0, HCOMM_KIND_FIN, 0,
				      GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);
	spin_lock_bh(&s->lock);
	owned = lane->ops;
	lane->ops = NULL;
	lane->owner = NULL;
	if (fin && hcomm_txlane_queue(lane, fin))
		hcomm_msg_free(fin);
	if (abort && lane->open) {
		while ((msg = first_msg(lane)))
			drop_msg(lane, msg);
		lane->una = lane->end;
		lane->nxt = lane->end;
		hcomm_ranges_init(&lane->resend);
		lane->reset = true;
		lane->progress = ktime_get_ns();
		hcomm_txlane_ready(lane);
	}
	spin_unlock_bh(&s->lock);
	hcomm_session_kick(s);
	if (owned)
		hcomm_txlane_put(lane);
	hcomm_txlane_put(lane);
}

static struct hcomm_msg *find_msg(struct hcomm_txlane *lane, u64 off)
{
	struct rb_node *n = lane->msgs.rb_node;

	while (n) {
		struct hcomm_msg *m = rb_entry(n, struct hcomm_msg, node);

		if (off < m->start)
			n = n->rb_left;
		else if (off >= m->start + hcomm_wire_span(m->len))
			n = n->rb_right;
		else
			return m;
	}
	return NULL;
}

/* A message that is not in pages of its own is copied: it may be freed soon. */
static void put_payload(struct hcomm_batch *b, struct hcomm_msg *m, u32 off,
			u32 len)
{
	struct bio_vec bv;
	u32 n;

	for (; len; off += n, len -= n) {
		n = min(len, hcomm_msg_frag(m, off, &bv));
		if (m->paged)
			hcomm_batch_pages(b, bv.bv_page, bv.bv_offset, n);
		else
			memcpy(hcomm_batch_head(b, n), bvec_virt(&bv), n);
	}
}

/* Whether the batch has a place for a header and a piece. */
static bool piece_fits(struct hcomm_batch *b, struct hcomm_msg *m, u32 head,
		       u32 off, u32 len)
{
	struct bio_vec bv;
	u32 n = 1, k;

	if (!m->paged)
		return b->nr_bv + 1 < HCOMM_BATCH_BV &&
		       b->used + head + len <= HCOMM_BATCH_ARENA;
	while (len) {
		k = min(len, hcomm_msg_frag(m, off, &bv));
		off += k;
		len -= k;
		n++;
	}
	return b->nr_bv + n <= HCOMM_BATCH_BV;
}

/*
 * Puts one piece that begins at @off and ends at @limit at the latest.
 * Returns what it covers of the lane, 0: no room in the packet.
 */
static u32 put_piece(struct hcomm_txlane *lane, struct hcomm_batch *b,
		     struct hcomm_sent *sent, struct hcomm_msg *m, u64 off,
		     u64 limit)
{
	u32 head = HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_DATA_LEN +
		   (lane->confirmed ? 0 : HCOMM_WIRE_OPEN_LEN);
	struct hcomm_wire_data d = {
		.lane = lane->id, .kind = m->kind, .open = !lane->confirmed,
		.msg_len = m->len, .offset = off, .msg_off = off - m->start,
		.src_port = lane->src_port, .dst_port = lane->dst_port,
		.peer_lane = lane->peer_lane, .type = lane->type,
		.class = lane->class,
	};
	u32 room, span;
	u8 *p;

	if (b->room < head)
		return 0;
	room = b->room - head;
	d.len = m->len ? min_t(u64, m->len - d.msg_off, limit - off) : 0;
	/* Up to where the next packet would begin, so that a train can. */
	if (m->part)
		d.len = min(d.len, m->part - d.msg_off % m->part);
	if (d.len > room) {
		if (m->part && sent->items)
			return 0;
		/* Crumbs cost more than they carry. */
		if (room < 64)
			return 0;
		d.len = room;
	}
	if (!piece_fits(b, m, head, d.msg_off, d.len))
		return 0;
	span = hcomm_wire_span(d.len);
	if (!hcomm_sent_add(sent, HCOMM_FRAME_DATA, lane->id, off, span))
		return 0;
	p = hcomm_batch_head(b, head);
	if (!p) {
		/* What was added is the last item, or its end. */
		sent->item[sent->items - 1].len -= span;
		return 0;
	}
	hcomm_wire_put_data(p, &d);
	put_payload(b, m, d.msg_off, d.len);
	return span;
}

static u32 send_again(struct hcomm_txlane *lane, struct hcomm_batch *b,
		      struct hcomm_sent *sent)
{
	struct hcomm_range r;
	struct hcomm_msg *m;
	u32 n;

	while (hcomm_ranges_first(&lane->resend, &r)) {
		if (r.start < lane->una) {
			hcomm_ranges_del(&lane->resend, 0, lane->una);
			continue;
		}
		if (hcomm_ranges_has(&lane->sacked, r.start, r.start + 1)) {
			/* Acknowledged since; drop that part. */
			u16 i;

			for (i = 0; i < lane->sacked.nr; i++)
				if (lane->sacked.r[i].end > r.start)
					break;
			hcomm_ranges_del(&lane->resend, r.start,
					 lane->sacked.r[i].end);
			continue;
		}
		m = find_msg(lane, r.start);
		if (WARN_ON_ONCE(!m)) {
			hcomm_ranges_del(&lane->resend, r.start, r.end);
			continue;
		}
		n = put_piece(lane, b, sent, m, r.start, r.end);
		if (n) {
			hcomm_ranges_del(&lane->resend, r.start, r.start + n);
			hcomm_count_add(lane->session->hn, retrans_bytes, n);
		}
		return n;
	}
	return 0;
}

/* The message that is to be sent next, NULL: none may be. */
static struct hcomm_msg *next_msg(struct hcomm_txlane *lane)
{
	struct hcomm_msg *m = lane->cursor;

	if (lane->nxt == lane->end || lane->nxt >= lane->credit)
		return NULL;
	if (!m || lane->nxt < m->start ||
	    lane->nxt >= m->start + hcomm_wire_span(m->len)) {
		struct rb_node *next = m ? rb_next(&m->node) : NULL;

		m = next ? rb_entry(next, struct hcomm_msg, node) : NULL;
		if (!m || lane->nxt < m->start ||
		    lane->nxt >= m->start + hcomm_wire_span(m->len))
			m = find_msg(lane, lane->nxt);
		if (WARN_ON_ONCE(!m))
			return NULL;
		lane->cursor = m;
	}
	return m->seq > lane->credit_msgs ? NULL : m;
}

static u32 send_new(struct hcomm_txlane *lane, struct hcomm_batch *b,
		    struct hcomm_sent *sent)
{
	struct hcomm_msg *m = next_msg(lane);
	u32 n;

	if (!m)
		return 0;
	n = put_piece(lane, b, sent, m, lane->nxt, lane->credit);
	lane->nxt += n;
	return n;
}

/* Something goes after a silence: the clock begins to run. */
static void begin_clock(struct hcomm_txlane *lane, u64 now)
{
	if (lane->nxt == lane->una) {
		lane->progress = now;
		lane->rto_at = 0;
	}
}

/**
 * hcomm_txlane_train_len - how many packets of a message can go as they lie
 * @lane: lane; the session's lock is held
 * @mtu: of the packets
 * @max: at most so many
 *
 * Return: packets, 2 at least; 0: none.
 */
u32 hcomm_txlane_train_len(struct hcomm_txlane *lane, u32 mtu, u32 max)
{
	struct hcomm_msg *m;
	u32 off, len, nr;

	lockdep_assert_held(&lane->session->lock);
	if (lane->reset || lane->resend.nr || !lane->confirmed)
		return 0;
	m = next_msg(lane);
	if (!m || m->part + HCOMM_WIRE_PLAIN_LEN != mtu)
		return 0;
	off = lane->nxt - m->start;
	if (off % m->part)
		return 0;
	/* Whole packets, and the last of the message. */
	len = m->len - off;
	nr = DIV_ROUND_UP(len, m->part);
	if (lane->credit - lane->nxt < len)
		nr = div_u64(lane->credit - lane->nxt, m->part);
	nr = min3(nr, max, (u32)HCOMM_SENT_PACKETS);
	return nr < 2 ? 0 : nr;
}

/**
 * hcomm_txlane_train - put packets of a message into a batch
 * @lane: lane; the session's lock is held
 * @b: batch
 * @sent: @nr is what hcomm_txlane_train_len() said
 * @head: headers of the first, those of link and session complete
 * @now: time
 */
void hcomm_txlane_train(struct hcomm_txlane *lane, struct hcomm_batch *b,
			struct hcomm_sent *sent, u8 *head, u64 now)
{
	struct hcomm_msg *m = next_msg(lane);
	u32 off = lane->nxt - m->start;
	u32 len = min(sent->nr * m->part, m->len - off);
	struct hcomm_wire_data d = {
		.lane = lane->id, .kind = m->kind, .msg_len = m->len,
		.offset = lane->nxt, .msg_off = off, .len = m->part,
	};
	u32 pad = 0;

	lockdep_assert_held(&lane->session->lock);
	begin_clock(lane, now);
	hcomm_wire_put_data(head + HCOMM_WIRE_PLAIN_LEN -
			    HCOMM_WIRE_FRAME_LEN - HCOMM_WIRE_DATA_LEN, &d);
	sent->part = m->part;
	sent->seg_len = m->part + HCOMM_WIRE_PLAIN_LEN;
	sent->bytes = len + sent->nr * HCOMM_WIRE_PLAIN_LEN;
	/* A last packet of full length lets the next message follow. */
	if (off + len == m->len && m->start + m->len < lane->end)
		pad = m->slack;
	sent->bytes += pad;
	hcomm_sent_add(sent, HCOMM_FRAME_DATA, lane->id, lane->nxt, len);
	hcomm_msg_put_train(m, off, len, pad, head, b);
	hcomm_batch_add(b, sent->nr, sent->seg_len, sent->bytes);
	lane->nxt += len;
}

static bool put_reset(struct hcomm_txlane *lane, struct hcomm_batch *b,
		      struct hcomm_sent *sent)
{
	struct hcomm_wire_reset r = {
		.lane = lane->id, .code = ECONNRESET, .offset = lane->end,
	};
	u8 *p;

	p = hcomm_batch_head(b, HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_RESET_LEN);
	if (!p)
		return false;
	if (!hcomm_sent_add(sent, HCOMM_FRAME_RESET, lane->id, 0, 0)) {
		hcomm_batch_trim(b, HCOMM_WIRE_FRAME_LEN +
				    HCOMM_WIRE_RESET_LEN);
		return false;
	}
	hcomm_wire_put_reset(p, &r);
	lane->reset_sent = true;
	return true;
}

/**
 * hcomm_txlane_fill - put as much of the lane into a packet as fits
 * @lane: lane; the session's lock is held
 * @b: batch with an open packet
 * @sent: notes what went in
 * @now: time
 * @quantum: bytes that it may send before others have their turn
 *
 * Return: false: the packet is full; true: the lane has no more, or its turn
 * is over (@quantum is 0 then).
 */
bool hcomm_txlane_fill(struct hcomm_txlane *lane, struct hcomm_batch *b,
		       struct hcomm_sent *sent, u64 now, u32 *quantum)
{
	u32 n;

	lockdep_assert_held(&lane->session->lock);
	if (lane->reset)
		return lane->reset_sent || put_reset(lane, b, sent);
	begin_clock(lane, now);
	while (has_work(lane)) {
		n = send_again(lane, b, sent);
		if (!n && !lane->resend.nr) {
			if (!has_work(lane))
				break;
			n = send_new(lane, b, sent);
			if (!n && !has_work(lane))
				break;
		}
		if (!n)
			return false;
		if (n >= *quantum) {
			*quantum = 0;
			return true;
		}
		*quantum -= n;
	}
	return true;
}

/* A packet with this piece is lost: send what nobody has yet again. */
void hcomm_txlane_lost(struct hcomm_txlane *lane, u64 off, u32 len)
{
	u64 from = max(off, lane->una), to = off + len;
	struct hcomm_range gap;

	lockdep_assert_held(&lane->session->lock);
	if (!lane->open || lane->reset)
		return;
	to = min(to, lane->nxt);
	while (from < to &&
	       hcomm_ranges_next_gap(&lane->sacked, from, to, &gap)) {
		hcomm_ranges_add_widen(&lane->resend, gap.start, gap.end);
		from = gap.end;
	}
	hcomm_txlane_ready(lane);
}

/**
 * hcomm_txlane_acked - the peer's session holds these parts of the lane
 * @lane: lane; the session's lock is held
 * @a: decoded acknowledgement
 * @now: time
 */
void hcomm_txlane_acked(struct hcomm_txlane *lane,
			const struct hcomm_wire_lane_ack *a, u64 now)
{
	u64 cum = a->closed ? lane->nxt : a->cum;
	struct hcomm_msg *msg;
	bool progress = false;
	u8 i;

	lockdep_assert_held(&lane->session->lock);
	if (lane->reset) {
		if (a->closed)
			close_lane(lane);
		return;
	}
	/* What was never sent cannot be there. */
	if (cum > lane->nxt)
		return;
	lane->confirmed = true;
	for (i = 0; i < a->nr; i++) {
		if (a->r[i].end > lane->nxt)
			return;
		if (a->r[i].start >= lane->una &&
		    !hcomm_ranges_has(&lane->sacked, a->r[i].start,
				      a->r[i].end)) {
			/* Full: a part will be sent once more, that is all. */
			hcomm_ranges_add(&lane->sacked, a->r[i].start,
					 a->r[i].end);
			progress = true;
		}
	}
	if (cum > lane->una) {
		progress = true;
		lane->una = cum;
		while ((msg = first_msg(lane)) &&
		       msg->start + hcomm_wire_span(msg->len) <= cum)
			drop_msg(lane, msg);
		hcomm_ranges_del(&lane->sacked, 0, cum);
		hcomm_ranges_del(&lane->resend, 0, cum);
	}
	if (progress) {
		lane->progress = now;
		lane->rto_at = 0;
		lane->backoff = 0;
		if (lane->ops)
			lane->ops->acked(lane);
	}
	if (lane->fin && lane->una == lane->end)
		close_lane(lane);
}

void hcomm_txlane_credit(struct hcomm_txlane *lane,
			 const struct hcomm_wire_credit *c)
{
	lockdep_assert_held(&lane->session->lock);
	/* Limits only grow; an older frame may come late. */
	lane->credit = max(lane->credit, c->offset);
	lane->credit_msgs = max(lane->credit_msgs, c->msgs);
	hcomm_txlane_ready(lane);
	if (lane->ops)
		lane->ops->acked(lane);
}

/**
 * hcomm_txlane_timer - look whether the lane waits for too long
 * @lane: lane; the session's lock is held
 * @now: time
 * @rto: retransmission timeout, ns
 *
 * Return: when to look again, 0: nothing is awaited. The lane may be gone.
 */
u64 hcomm_txlane_timer(struct hcomm_txlane *lane, u64 now, u64 rto)
{
	u64 deadline = lane->progress +
		       (u64)lane->timeout_ms * NSEC_PER_MSEC;
	bool waits = lane->nxt > lane->una || lane->reset;

	lockdep_assert_held(&lane->session->lock);
	if (!waits && lane->una == lane->end)
		return 0;
	/*
	 * Only a peer without room may let data wait for longer, and only while
	 * there is somebody whose data it is.
	 */
	if (!waits && lane->ops && lane->session->state == HCOMM_SESSION_OPEN &&
	    !has_work(lane)) {
		lane->progress = now;
		return now + (u64)lane->timeout_ms * NSEC_PER_MSEC;
	}
	if (deadline <= now && !lane->reset) {
		hcomm_count(lane->session->hn, lanes_timed_out);
		time_out(lane, now);
		return lane->open ? now + rto : 0;
	}
	if (!waits)
		return deadline;
	if (!lane->rto_at)
		lane->rto_at = max(lane->progress, now) + rto;
	if (lane->rto_at <= now) {
		lane->rto_at = now + (rto << min(lane->backoff, 5u));
		lane->backoff++;
		if (lane->reset) {
			lane->reset_sent = false;
			hcomm_txlane_ready(lane);
		} else {
			/* The peer may have had to drop what it had early. */
			hcomm_ranges_init(&lane->sacked);
			hcomm_txlane_lost(lane, lane->una,
					  HCOMM_SESSION_RESEND);
		}
	}
	return lane->reset ? lane->rto_at : min(lane->rto_at, deadline);
}
