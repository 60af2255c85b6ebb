/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_NL_PUT_H
#define HCOMM_NL_PUT_H

#include <linux/types.h>

struct hcomm_link;
struct hcomm_net;
struct hcomm_peer;
struct hcomm_route;
struct hcomm_sock;
struct sk_buff;

/* Each puts an object into a message; 0 or -EMSGSIZE. */
int hcomm_nl_put_system(struct sk_buff *skb, struct hcomm_net *hn);
int hcomm_nl_put_peer(struct sk_buff *skb, struct hcomm_peer *peer);
int hcomm_nl_put_link(struct sk_buff *skb, struct hcomm_link *link);
int hcomm_nl_put_route(struct sk_buff *skb, struct hcomm_route *route);
int hcomm_nl_put_socket(struct sk_buff *skb, struct hcomm_sock *hs);
int hcomm_nl_put_link_event(struct sk_buff *skb, struct hcomm_link *link,
			    u8 old, u8 new);
int hcomm_nl_put_route_event(struct sk_buff *skb, struct hcomm_route *route,
			     const char *reason);

#endif /* HCOMM_NL_PUT_H */
