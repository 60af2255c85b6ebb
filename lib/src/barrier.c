// SPDX-License-Identifier: LGPL-2.1 OR MIT
#include "engine.h"
#include "public.h"
#include "segment.h"

/* Dissemination: after step k each has heard from the 2^(k+1)-1 before it. */
int hc_check_all(struct hc_comm *c)
{
	uint32_t dist;
	unsigned int step = 0;
	int ret;

	for (dist = 1; dist < c->n; dist *= 2, step++) {
		hc_post_send(c, hc_rank_up(c->rank, dist, c->n), NULL, 0, 0, step);
		hc_post_recv(c, hc_rank_down(c->rank, dist, c->n), NULL, 0, 0, 0, step);
		ret = hc_finish(c);
		if (ret)
			return ret;
	}
	return 0;
}

HC_PUBLIC int hcomm_barrier(struct hcomm_comm *comm)
{
	struct hc_comm *c;
	int ret = hc_comm_enter(comm, &c);

	if (ret)
		return ret;
	hc_begin(c, HC_KIND_BARRIER, 0, 0, 0, 0, 0);
	ret = hc_check_all(c);
	hc_comm_leave(comm);
	return ret;
}
