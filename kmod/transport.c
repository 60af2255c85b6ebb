// SPDX-License-Identifier: GPL-2.0
#include "transport.h"

#include <linux/errno.h>
#include <linux/kernel.h>

enum { MAX_TRANSPORTS = 8 };

/* Written at module load and unload only. */
static const struct hcomm_transport *transports[MAX_TRANSPORTS];

int hcomm_transport_register(const struct hcomm_transport *t)
{
	if (t->type >= MAX_TRANSPORTS)
		return -EINVAL;
	if (transports[t->type])
		return -EEXIST;
	WRITE_ONCE(transports[t->type], t);
	return 0;
}

void hcomm_transport_unregister(const struct hcomm_transport *t)
{
	WRITE_ONCE(transports[t->type], NULL);
}

const struct hcomm_transport *hcomm_transport_find(u8 type)
{
	return type < MAX_TRANSPORTS ? READ_ONCE(transports[type]) : NULL;
}
