/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_FLIGHT_H
#define HCOMM_FLIGHT_H

#include <linux/list.h>
#include <linux/types.h>

#include "window.h"

struct hcomm_link;
struct hcomm_session;
struct hcomm_wire_ack;
struct hcomm_batch;

enum hcomm_flight_const {
	HCOMM_SENT_ITEMS = 6,
	HCOMM_SENT_PACKETS = 64,	/* bits of hcomm_sent.left */
	HCOMM_FLIGHT_MIN = 64,
	HCOMM_REORDER_MIN = 3,
	HCOMM_REORDER_MAX = 256,
};

/**
 * struct hcomm_sent_item - what a packet carried
 * @kind: enum hcomm_frame_type
 * @lane: lane
 * @len: DATA: bytes of the lane
 * @off: DATA: offset in the lane
 */
struct hcomm_sent_item {
	u8 kind;
	u32 lane;
	u32 len;
	u64 off;
};

/**
 * struct hcomm_sent - a packet whose fate matters, or a train of them
 * @node: in a list of packets that were acknowledged or lost
 * @pn: first packet number
 * @left: a bit for each packet whose fate is not known; in a list: for each
 *	that the list is about
 * @time: when they were sent, ns
 * @bytes: length of all
 * @seg_len: length of each but the last
 * @part: bytes of the lane in each but the last
 * @nr: packets
 * @items: how many of @item are in use; a train has one
 * @session: whose they are, with a reference
 * @item: what they carried
 */
struct hcomm_sent {
	struct list_head node;
	u64 pn;
	u64 left;
	u64 time;
	u32 bytes;
	u32 seg_len;
	u32 part;
	u8 nr;
	u8 items;
	struct hcomm_session *session;
	struct hcomm_sent_item item[HCOMM_SENT_ITEMS];
};

/**
 * struct hcomm_flight_slot - place of a record
 * @end: behind its last packet number
 * @sent: the record, NULL when nothing of it is awaited any more
 */
struct hcomm_flight_slot {
	u64 end;
	struct hcomm_sent *sent;
};

/**
 * struct hcomm_flight - packets of a link that are on their way (RFC 9002)
 * @slot: records by packet number, a ring
 * @mask: size of @slot - 1
 * @first: first slot in use; counts on
 * @end: behind the last
 * @nr: packets whose fate is not known
 * @next: next packet number
 * @largest: largest acknowledged packet number + 1
 * @last_sent: when the last packet went that wants an acknowledgement
 * @loss_at: when the oldest packet counts as lost by time, 0: not set
 * @ptos: probe timeouts in a row
 * @probes: packets that may be sent beyond the window
 * @reorder: packets that must overtake before one counts as lost
 * @lost: numbers declared lost lately, to find out that they were not
 */
struct hcomm_flight {
	struct hcomm_flight_slot *slot;
	u32 mask;
	u32 first;
	u32 end;
	u32 nr;
	u64 next;
	u64 largest;
	u64 last_sent;
	u64 loss_at;
	u32 ptos;
	u32 probes;
	u32 reorder;
	struct hcomm_ranges lost;
};

int hcomm_flight_init(void);
void hcomm_flight_exit(void);
int hcomm_flight_create(struct hcomm_flight *fl);
void hcomm_flight_destroy(struct hcomm_flight *fl);

struct hcomm_sent *hcomm_sent_alloc(void);
void hcomm_sent_free(struct hcomm_sent *sent);
bool hcomm_sent_add(struct hcomm_sent *sent, u8 kind, u32 lane, u64 off,
		    u32 len);

u64 hcomm_flight_pns(struct hcomm_link *link, u32 nr);
bool hcomm_flight_slot(struct hcomm_link *link);
u32 hcomm_flight_room(struct hcomm_link *link);
void hcomm_flight_add(struct hcomm_link *link, struct hcomm_sent *sent,
		      u64 now);
u32 hcomm_flight_ack(struct hcomm_link *link, const struct hcomm_wire_ack *a,
		     u64 now, struct list_head *acked, struct list_head *lost);
u64 hcomm_flight_timer(struct hcomm_link *link, u64 now,
		       struct list_head *lost);
void hcomm_flight_abandon(struct hcomm_link *link, struct list_head *lost);
void hcomm_flight_take_back(struct hcomm_link *link, struct hcomm_batch *b,
			    struct list_head *lost);
void hcomm_flight_finish(struct list_head *acked, struct list_head *lost);

#endif /* HCOMM_FLIGHT_H */
