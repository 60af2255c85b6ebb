// SPDX-License-Identifier: LGPL-2.1 OR MIT
#include <errno.h>

#include "engine.h"
#include "public.h"
#include "reduce.h"
#include "segment.h"

/*
 * The steps of hc_check_all(), counted from the root, with the data on those
 * that make a binomial tree: in step k the first 2^k ranks have the data and
 * the next 2^k get it. So it takes no longer than the tree alone, and still no
 * rank returns before all have called the same.
 */
static int bcast_tree(struct hc_comm *c, void *buf, size_t len, uint32_t root)
{
	uint32_t me = hc_rank_down(c->rank, root, c->n), dist;
	unsigned int step = 0;
	int ret;

	for (dist = 1; dist < c->n; dist *= 2, step++) {
		size_t out = me < dist && me < c->n - dist ? len : 0;
		size_t in = me >= dist && me - dist < dist ? len : 0;

		hc_post_send(c, hc_rank_up(c->rank, dist, c->n), buf, out,
			     (ptrdiff_t)out, step);
		hc_post_recv(c, hc_rank_down(c->rank, dist, c->n), buf, in, 0,
			     (ptrdiff_t)in, step);
		ret = hc_finish(c);
		if (ret)
			return ret;
	}
	return 0;
}

/* Each passes on each piece to the next as it comes. */
static int bcast_chain(struct hc_comm *c, void *buf, size_t len, uint32_t root)
{
	uint32_t me = hc_rank_down(c->rank, root, c->n);
	unsigned int step = 64;	/* none of the check */
	struct hc_xfer *in = NULL, *out = NULL;
	int ret;

	ret = hc_check_all(c);
	if (ret)
		return ret;
	if (me > 0)
		in = hc_post_recv(c, hc_rank_down(c->rank, 1, c->n), buf, len, 0,
				  (ptrdiff_t)len, step);
	if (me < c->n - 1)
		out = hc_post_send(c, hc_rank_up(c->rank, 1, c->n), buf, len,
				   in ? HC_HOLD : (ptrdiff_t)len, step);
	while (c->nactive) {
		ret = hc_advance(c);
		if (ret)
			return ret;
		if (in && out && (in->done || in->finished))
			out->limit = (ptrdiff_t)in->done;
	}
	return 0;
}

HC_PUBLIC int hcomm_broadcast(struct hcomm_comm *comm, void *buf, size_t count,
			      enum hcomm_type type, uint32_t root)
{
	size_t size = hc_type_size(type);
	unsigned int algo;
	struct hc_comm *c;
	int ret = hc_comm_enter(comm, &c);

	if (ret)
		return ret;
	if (!size || root >= c->n || (count && !buf))
		ret = -EINVAL;
	else if (count > PTRDIFF_MAX / size)
		ret = -EOVERFLOW;
	if (ret || c->n == 1)
		goto out;
	algo = hc_bcast_choose(c->algos.bcast, c->n, count * size);
	hc_begin(c, HC_KIND_BROADCAST, count, type, 0, root, algo);
	if (algo == HC_BCAST_CHAIN)
		ret = bcast_chain(c, buf, count * size, root);
	else
		ret = bcast_tree(c, buf, count * size, root);
out:
	hc_comm_leave(comm);
	return ret;
}
