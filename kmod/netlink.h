/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_KMOD_NETLINK_H
#define HCOMM_KMOD_NETLINK_H

#include <linux/types.h>

struct hcomm_link;
struct hcomm_net;
struct hcomm_route;

int hcomm_netlink_init(void);
void hcomm_netlink_exit(void);
void hcomm_netlink_link_event(struct hcomm_link *link, u8 old, u8 new);
void hcomm_netlink_route_event(struct hcomm_route *route, const char *reason);

#endif /* HCOMM_KMOD_NETLINK_H */
