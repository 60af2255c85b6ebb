/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_CONFIG_H
#define HCOMM_CONFIG_H

#include <linux/types.h>

struct hcomm_link;
struct hcomm_link_config;
struct hcomm_net;
struct hcomm_peer;
struct netlink_ext_ack;

int hcomm_config_set_node(struct hcomm_net *hn, u32 node,
			  struct netlink_ext_ack *extack);
void hcomm_config_del_peer(struct hcomm_peer *peer);
struct hcomm_link *hcomm_config_add_link(struct hcomm_net *hn,
					 struct hcomm_link_config *cfg,
					 struct netlink_ext_ack *extack);
void hcomm_config_del_link(struct hcomm_link *link);
void hcomm_config_flush(struct hcomm_net *hn);

#endif /* HCOMM_CONFIG_H */
