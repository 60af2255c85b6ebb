// SPDX-License-Identifier: LGPL-2.1 OR MIT
#include <errno.h>
#include <string.h>

#include "engine.h"
#include "public.h"
#include "reduce.h"
#include "segment.h"

/*
 * What all algorithms share. "from" is where this rank's elements stand: the
 * send buffer, and after a first step the receive buffer.
 *
 * Two things hold everywhere. The order in which elements are put together
 * depends on the ranks alone, never on who comes first. And memory that is
 * still to be sent is not written: either there is an explicit wait, or what
 * overwrites a piece was made from that very piece by the one it was sent to.
 */
struct job {
	struct hc_comm *c;
	const uint8_t *from;
	uint8_t *to;
	uint64_t count;
	size_t size;		/* of an element */
	hc_reduce_fn fn;
};

static inline size_t seg_at(const struct job *j, uint32_t i)
{
	return (size_t)hc_seg_first(j->count, j->c->n, i) * j->size;
}

static inline size_t seg_len(const struct job *j, uint32_t i)
{
	return (size_t)hc_seg_count(j->count, j->c->n, i) * j->size;
}

/*
 * Bytes that may be received from each of @peers before they are used: some
 * pieces, so that the next comes in while the present one is worked on.
 */
static size_t window(const struct hc_comm *c, uint32_t peers, size_t len)
{
	size_t pieces = HC_WINDOWS_BYTES / c->piece / peers;

	if (pieces > HC_WINDOW)
		pieces = HC_WINDOW;
	if (pieces < 1)
		pieces = 1;
	return len < pieces * c->piece ? len : pieces * c->piece;
}

static inline size_t piece_end(const struct hc_comm *c, size_t at, size_t len)
{
	return len - at < c->piece ? len : at + c->piece;
}

static int no_memory(struct hc_comm *c, size_t len)
{
	return hc_fail(c, ENOMEM, "all_reduce: rank %u has no memory for %zu bytes",
		       c->rank, len);
}

/* A transfer that is received through a window and put together by pieces. */
struct input {
	struct hc_xfer *x;
	uint8_t *tmp;
	size_t win;
};

static struct input input_post(struct hc_comm *c, uint32_t from, void *tmp,
			       size_t len, size_t win, unsigned int step)
{
	return (struct input){
		.x = hc_post_recv(c, from, tmp, len, win, (ptrdiff_t)win, step),
		.tmp = tmp,
		.win = win,
	};
}

static inline const void *input_at(const struct input *in, size_t at)
{
	return in->tmp + (in->win ? at % in->win : 0);
}

/* All before @at has been used: its place may be filled again. */
static inline void input_used(struct input *in, size_t at)
{
	size_t len = in->x->len;

	in->x->limit = (ptrdiff_t)(len - at < in->win ? len : at + in->win);
}

/*
 * oneshot: all of the vector to and from each. twoshot: segment i goes to rank
 * i, which puts it together and sends the result to all. In both each rank has
 * one range to put together in the order of the ranks.
 */
static int direct(struct job *j, bool twoshot)
{
	struct hc_comm *c = j->c;
	uint32_t n = c->n, i, r;
	size_t at = twoshot ? seg_at(j, c->rank) : 0;
	size_t len = twoshot ? seg_len(j, c->rank) : (size_t)j->count * j->size;
	size_t win = window(c, n - 1, len), done = 0;
	size_t stride = (win + HC_PIECE_ALIGN - 1) / HC_PIECE_ALIGN * HC_PIECE_ALIGN;
	const void **src;
	struct hc_xfer **out;
	struct input *in;
	uint8_t *tmp;
	int ret = 0;

	/* Windows, then one pointer and two records per rank. */
	tmp = hc_comm_tmp(c, stride * n + n * (sizeof(*src) + sizeof(*out) + sizeof(*in)));
	if (!tmp)
		return no_memory(c, stride * n);
	in = (void *)(tmp + stride * n);
	src = (void *)(in + n);
	out = (void *)(src + n);

	/* Each begins with the next rank, so that not all send to one. */
	for (i = 1; i < n; i++) {
		r = hc_rank_up(c->rank, i, n);
		if (twoshot)
			out[r] = hc_post_send(c, r, j->from + seg_at(j, r), seg_len(j, r),
					      (ptrdiff_t)seg_len(j, r), 0);
		else
			out[r] = hc_post_send(c, r, j->from, len, (ptrdiff_t)len, 0);
		in[r] = input_post(c, r, tmp + stride * r, len, win, 0);
	}
	for (i = 1; twoshot && i < n; i++) {
		r = hc_rank_up(c->rank, i, n);
		out[r] = hc_post_send(c, r, j->to + at, len, HC_HOLD, 1);
		hc_post_recv(c, r, j->to + seg_at(j, r), seg_len(j, r), 0,
			     (ptrdiff_t)seg_len(j, r), 1);
	}
	do {
		size_t end = piece_end(c, done, len);

		for (r = 0; r < n; r++) {
			if (r == c->rank) {
				src[r] = j->from + at + done;
				continue;
			}
			ret = hc_wait(c, in[r].x, end);
			/* oneshot in place: it must have left, too */
			if (!ret && !twoshot)
				ret = hc_wait(c, out[r], end);
			if (ret)
				return ret;
			src[r] = input_at(&in[r], done);
		}
		hc_reduce_many(j->fn, j->size, j->to + at + done, src, n,
			       (end - done) / j->size);
		done = end;
		for (r = 0; r < n; r++) {
			if (r == c->rank)
				continue;
			input_used(&in[r], done);
			if (twoshot)
				out[r]->limit = (ptrdiff_t)done;
		}
	} while (done < len);
	return hc_finish(c);
}

/*
 * Send a range to @peer and put the range that it sends together with ours,
 * the lower rank's elements first. Returns when the second is done.
 */
static int pair_reduce(struct job *j, uint32_t peer, bool send,
		       size_t out_at, size_t out_len,
		       size_t at, size_t len, unsigned int step)
{
	struct hc_comm *c = j->c;
	size_t win = window(c, 1, len), done = 0;
	uint8_t *tmp = hc_comm_tmp(c, win);
	struct hc_xfer *out = NULL;
	struct input in;
	int ret = 0;

	if (!tmp)
		return no_memory(c, win);
	if (send)
		out = hc_post_send(c, peer, j->from + out_at, out_len,
				   (ptrdiff_t)out_len, step);
	in = input_post(c, peer, tmp, len, win, step);
	do {
		size_t end = piece_end(c, done, len);
		const void *mine = j->from + at + done, *theirs;

		ret = hc_wait(c, in.x, end);
		if (!ret && out && out_at == at)
			ret = hc_wait(c, out, end);
		if (ret)
			return ret;
		theirs = input_at(&in, done);
		j->fn(j->to + at + done, peer < c->rank ? theirs : mine,
		      peer < c->rank ? mine : theirs, (end - done) / j->size);
		done = end;
		input_used(&in, done);
	} while (done < len);
	return 0;
}

/*
 * doubling and halving want a power of two. Of the first 2 * rest ranks the
 * even ones lend their elements to the next and get the result at the end.
 */
struct fold {
	uint32_t p2;		/* ranks that take part */
	uint32_t rest;
	uint32_t me;		/* number of this rank among them */
	bool out;		/* this one does not take part */
};

#define STEP_FOLD	100
#define STEP_UNFOLD	101

static uint32_t fold_rank(const struct fold *f, uint32_t me)
{
	return me < f->rest ? 2 * me + 1 : me + f->rest;
}

static int fold_begin(struct job *j, struct fold *f)
{
	struct hc_comm *c = j->c;
	size_t len = (size_t)j->count * j->size;
	int ret;

	f->p2 = hc_pow2_floor(c->n);
	f->rest = c->n - f->p2;
	f->out = c->rank < 2 * f->rest && c->rank % 2 == 0;
	f->me = c->rank < 2 * f->rest ? c->rank / 2 : c->rank - f->rest;
	if (c->rank >= 2 * f->rest)
		return 0;
	if (f->out) {
		hc_post_send(c, c->rank + 1, j->from, len, (ptrdiff_t)len, STEP_FOLD);
		return 0;
	}
	ret = pair_reduce(j, c->rank - 1, false, 0, 0, 0, len, STEP_FOLD);
	j->from = j->to;
	return ret;
}

static int fold_end(struct job *j, const struct fold *f)
{
	struct hc_comm *c = j->c;
	size_t len = (size_t)j->count * j->size;

	if (f->out)
		hc_post_recv(c, c->rank + 1, j->to, len, 0, (ptrdiff_t)len, STEP_UNFOLD);
	else if (c->rank < 2 * f->rest)
		hc_post_send(c, c->rank - 1, j->to, len, (ptrdiff_t)len, STEP_UNFOLD);
	return hc_finish(c);
}

static int doubling(struct job *j)
{
	size_t len = (size_t)j->count * j->size;
	unsigned int step = 0;
	struct fold f;
	uint32_t dist;
	int ret;

	ret = fold_begin(j, &f);
	for (dist = 1; !ret && !f.out && dist < f.p2; dist *= 2) {
		ret = pair_reduce(j, fold_rank(&f, f.me ^ dist), true, 0, len,
				  0, len, step++);
		j->from = j->to;
	}
	return ret ? ret : fold_end(j, &f);
}

static int halving(struct job *j)
{
	struct hc_comm *c = j->c;
	uint64_t lo[32], hi[32];
	unsigned int step = 0;
	struct fold f;
	uint32_t dist;
	int ret;

	ret = fold_begin(j, &f);
	lo[0] = 0;
	hi[0] = j->count;
	for (dist = f.p2 / 2; !ret && !f.out && dist; dist /= 2) {
		uint64_t mid = lo[step] + (hi[step] - lo[step]) / 2;
		bool lower = !(f.me & dist);
		uint64_t l = lower ? lo[step] : mid, h = lower ? mid : hi[step];
		uint64_t ol = lower ? mid : lo[step], oh = lower ? hi[step] : mid;

		ret = pair_reduce(j, fold_rank(&f, f.me ^ dist), true,
				  (size_t)ol * j->size, (size_t)(oh - ol) * j->size,
				  (size_t)l * j->size, (size_t)(h - l) * j->size, step);
		j->from = j->to;
		lo[++step] = l;
		hi[step] = h;
	}
	/* Back the same way: the range doubles each time. */
	for (dist = 1; !ret && !f.out && dist < f.p2; dist *= 2, step--) {
		uint32_t peer = fold_rank(&f, f.me ^ dist);
		bool lower = !(f.me & dist);
		uint64_t ol = lower ? hi[step] : lo[step - 1];
		uint64_t oh = lower ? hi[step - 1] : lo[step];
		size_t len = (size_t)(hi[step] - lo[step]) * j->size;
		struct hc_xfer *in;

		hc_post_send(c, peer, j->to + (size_t)lo[step] * j->size, len,
			     (ptrdiff_t)len, 64 + step);
		len = (size_t)(oh - ol) * j->size;
		in = hc_post_recv(c, peer, j->to + (size_t)ol * j->size, len, 0,
				  (ptrdiff_t)len, 64 + step);
		ret = hc_wait(c, in, len);
	}
	return ret ? ret : fold_end(j, &f);
}

/*
 * Step t of the first round sends segment rank - t to the right, which adds
 * its own; step t of the second passes on the finished segment rank + 1 - t.
 * A piece goes on as soon as it is ready, whatever the step.
 */
static int ring(struct job *j)
{
	struct hc_comm *c = j->c;
	uint32_t n = c->n, left = hc_rank_down(c->rank, 1, n);
	uint32_t right = hc_rank_up(c->rank, 1, n), seg, t, steps = n - 1;
	size_t win = window(c, 2, seg_len(j, 0)), used = 0;
	size_t stride = (win + HC_PIECE_ALIGN - 1) / HC_PIECE_ALIGN * HC_PIECE_ALIGN;
	struct hc_xfer **out, **gather;
	struct input *in;
	uint8_t *tmp;
	int ret;

	tmp = hc_comm_tmp(c, 2 * stride +
			  steps * (sizeof(*in) + 2 * sizeof(*out) + sizeof(*gather)));
	if (!tmp)
		return no_memory(c, 2 * stride);
	in = (void *)(tmp + 2 * stride);
	out = (void *)(in + steps);
	gather = out + 2 * steps;

	for (t = 0, seg = c->rank; t < 2 * steps; t++) {
		/* The segments of the second round begin one further on. */
		if (t == steps)
			seg = right;
		out[t] = hc_post_send(c, right, (t ? j->to : j->from) + seg_at(j, seg),
				      seg_len(j, seg),
				      t ? HC_HOLD : (ptrdiff_t)seg_len(j, seg), t);
		seg = hc_rank_down(seg, 1, n);
	}
	for (t = 0, seg = left; t < steps; t++) {
		size_t len = seg_len(j, seg);

		/* Two windows in turn: the next step begins before this ends. */
		in[t] = input_post(c, left, tmp + t % 2 * stride, len,
				   len < win ? len : win, t);
		if (t >= 2)
			in[t].x->limit = HC_HOLD;
		seg = hc_rank_down(seg, 1, n);
	}
	for (t = 0, seg = c->rank; t < steps; t++) {
		gather[t] = hc_post_recv(c, left, j->to + seg_at(j, seg), seg_len(j, seg),
					 0, (ptrdiff_t)seg_len(j, seg), steps + t);
		seg = hc_rank_down(seg, 1, n);
	}

	for (t = 0, seg = left; t < steps; seg = hc_rank_down(seg, 1, n), t++) {
		size_t len = seg_len(j, seg), at = seg_at(j, seg);

		used = 0;
		do {
			size_t end = piece_end(c, used, len);

			ret = hc_wait(c, in[t].x, end);
			if (ret)
				return ret;
			j->fn(j->to + at + used, input_at(&in[t], used),
			      j->from + at + used, (end - used) / j->size);
			used = end;
			input_used(&in[t], used);
			out[t + 1]->limit = (ptrdiff_t)used;
		} while (used < len);
		if (t + 2 < steps)
			in[t + 2].x->limit = (ptrdiff_t)in[t + 2].win;
	}
	while (c->nactive) {
		for (t = 0; t + 1 < steps; t++)
			if (gather[t]->done || gather[t]->finished)
				out[steps + t + 1]->limit = (ptrdiff_t)gather[t]->done;
		ret = hc_advance(c);
		if (ret)
			return ret;
	}
	return 0;
}

static int run(struct job *j, unsigned int algo)
{
	switch (algo) {
	case HC_REDUCE_ONESHOT:
		return direct(j, false);
	case HC_REDUCE_TWOSHOT:
		return direct(j, true);
	case HC_REDUCE_DOUBLING:
		return doubling(j);
	case HC_REDUCE_HALVING:
		return halving(j);
	default:
		return ring(j);
	}
}

static bool overlap(const void *a, const void *b, size_t len)
{
	uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

	return x < y ? y - x < len : x - y < len;
}

HC_PUBLIC int hcomm_all_reduce(struct hcomm_comm *comm, const void *send, void *recv,
			       size_t count, enum hcomm_type type, enum hcomm_op op)
{
	static uint8_t nothing;
	struct job j = {
		.from = send ? send : recv,
		.to = recv,
		.count = count,
		.size = hc_type_size(type),
		.fn = hc_reduce_get(type, op),
	};
	unsigned int algo;
	bool ordered;
	int ret = hc_comm_enter(comm, &j.c);

	if (ret)
		return ret;
	if (!j.fn || (count && !recv))
		ret = -EINVAL;
	else if (count > PTRDIFF_MAX / j.size)
		ret = -EOVERFLOW;
	else if (j.from != j.to && overlap(j.from, j.to, count * j.size))
		ret = -EINVAL;
	if (ret)
		goto out;
	if (!count)
		/* No arithmetic with null pointers below. */
		j.from = j.to = &nothing;
	if (j.c->n == 1) {
		if (count && j.from != j.to)
			memcpy(j.to, j.from, count * j.size);
		goto out;
	}
	ordered = j.c->flags & HCOMM_COMM_ORDERED &&
		  (type == HCOMM_F32 || type == HCOMM_F64) &&
		  (op == HCOMM_SUM || op == HCOMM_PROD);
	algo = hc_reduce_choose(j.c->algos.reduce, j.c->n, count * j.size, ordered);
	hc_begin(j.c, HC_KIND_ALL_REDUCE, count, type, op, 0, algo);
	ret = run(&j, algo);
out:
	hc_comm_leave(comm);
	return ret;
}
