// SPDX-License-Identifier: GPL-2.0
#include "port.h"

#include <linux/random.h>
#include <linux/rhashtable.h>

#include <hcomm/socket.h>

static const struct rhashtable_params params = {
	.head_offset = offsetof(struct hcomm_port, hash),
	.key_offset = offsetof(struct hcomm_port, nr),
	.key_len = sizeof_field(struct hcomm_port, nr),
	.automatic_shrinking = true,
};

int hcomm_port_net_init(struct hcomm_net *hn)
{
	return rhashtable_init(&hn->ports, &params);
}

void hcomm_port_net_exit(struct hcomm_net *hn)
{
	rhashtable_destroy(&hn->ports);
}

/* Under rcu_read_lock(). */
struct hcomm_port *hcomm_port_find(struct hcomm_net *hn, u32 nr)
{
	return rhashtable_lookup(&hn->ports, &nr, params);
}

static int take_ephemeral(struct hcomm_net *hn, struct hcomm_port *port)
{
	int tries, err;

	for (tries = 0; tries < 64; tries++) {
		port->nr = get_random_u32() | HCOMM_PORT_EPHEMERAL_FIRST;
		err = rhashtable_lookup_insert_fast(&hn->ports, &port->hash,
						    params);
		if (err != -EEXIST)
			return err;
	}
	return -EADDRINUSE;
}

/**
 * hcomm_port_take - take a port
 * @hn: namespace
 * @port: with ops and owner set
 * @nr: number, 0: any free one
 *
 * Return: 0, -EADDRINUSE, -ENOMEM. Whoever frees the owner waits for a grace
 * period after hcomm_port_release().
 */
int hcomm_port_take(struct hcomm_net *hn, struct hcomm_port *port, u32 nr)
{
	int err;

	if (!nr) {
		err = take_ephemeral(hn, port);
	} else {
		port->nr = nr;
		err = rhashtable_lookup_insert_fast(&hn->ports, &port->hash,
						    params);
	}
	if (err)
		port->nr = 0;
	return err == -EEXIST ? -EADDRINUSE : err;
}

void hcomm_port_release(struct hcomm_net *hn, struct hcomm_port *port)
{
	rhashtable_remove_fast(&hn->ports, &port->hash, params);
}
