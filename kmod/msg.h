/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_MSG_H
#define HCOMM_MSG_H

#include <linux/bvec.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include <linux/types.h>

struct hcomm_batch;
struct iov_iter;
struct hcomm_rxlane;

/**
 * struct hcomm_msg - a message on its way out: page fragments with an owner
 * @node: in hcomm_txlane.msgs, by @start
 * @start: offset in its lane
 * @seq: number in its lane, from 1
 * @len: bytes
 * @kind: enum hcomm_msg_kind
 * @paged: the fragments are pages of their own
 * @part: bytes that go in one packet; before each is room for the headers, so
 *	that packets go out as they lie here. 0: there is no room
 * @truesize: memory that it takes
 * @release: called once when the session acknowledged it or gave it up and
 *	no packet refers to the pages any more; may run in softirq
 * @owner: for @release
 * @nr: fragments
 * @frag: the fragments
 */
struct hcomm_msg {
	struct rb_node node;
	u64 start;
	u64 seq;
	u32 len;
	u8 kind;
	bool paged;
	u32 part;
	u32 slack;
	u32 truesize;
	void (*release)(struct hcomm_msg *msg);
	void *owner;
	u32 nr;
	struct bio_vec frag[];
};

/**
 * struct hcomm_payload - bytes that arrived, in a packet or in a run of them
 * @skb: what they are in
 * @off: offset of the first in @skb
 * @part: bytes in each packet, but for the last of a run that was cut
 * @stride: from the bytes of one packet to those of the next
 */
struct hcomm_payload {
	struct sk_buff *skb;
	u32 off;
	u32 part;
	u32 stride;
};

/**
 * struct hcomm_chunk - a piece of a message that arrived
 * @rb: in hcomm_rxlane.early, by @off, while something before it is missing
 * @list: in hcomm_rxmsg.chunks after that
 * @off: offset in the lane
 * @len: bytes
 * @msg_len: length of its message
 * @msg_off: offset in its message
 * @kind: enum hcomm_msg_kind
 * @truesize: memory that it takes
 * @from: where the bytes are, with a reference; without @from.skb in @data
 * @skip: bytes of @from that come before those of the piece
 * @data: bytes of a small piece
 */
struct hcomm_chunk {
	struct rb_node rb;
	struct list_head list;
	u64 off;
	u32 len;
	u32 msg_len;
	u32 msg_off;
	u8 kind;
	u32 truesize;
	struct hcomm_payload from;
	u32 skip;
	u8 data[];
};

/**
 * struct hcomm_rxmsg - a message that arrived whole
 * @list: in the queue of its endpoint
 * @lane: the lane it came on, with a reference: reading it gives credit
 * @node: sender's node
 * @port: sender's port
 * @len: bytes
 * @done: bytes that were read already (SOCK_STREAM)
 * @kind: enum hcomm_msg_kind
 * @truesize: memory that it takes
 * @chunks: its pieces in order
 */
struct hcomm_rxmsg {
	struct list_head list;
	struct hcomm_rxlane *lane;
	u32 node;
	u32 port;
	u32 len;
	u32 done;
	u8 kind;
	u32 truesize;
	struct list_head chunks;
};

enum hcomm_msg_const {
	HCOMM_MSG_INLINE = 2048,	/* longer ones take whole pages */
	HCOMM_CHUNK_COPY = 512,		/* longer ones keep their packet */
};

int hcomm_msg_init(void);
void hcomm_msg_exit(void);

struct hcomm_msg *hcomm_msg_alloc(u32 len, u8 kind, u32 part, gfp_t gfp);
int hcomm_msg_fill(struct hcomm_msg *msg, struct iov_iter *from);
void hcomm_msg_free(struct hcomm_msg *msg);
void hcomm_msg_put_train(struct hcomm_msg *msg, u32 off, u32 len, u32 pad,
			 u8 *head, struct hcomm_batch *b);
u32 hcomm_msg_frag(const struct hcomm_msg *msg, u32 off, struct bio_vec *bv);

struct hcomm_chunk *hcomm_chunk_make(const struct hcomm_payload *p, u32 skip,
				     u32 len);
void hcomm_chunk_free(struct hcomm_chunk *c);

/**
 * hcomm_msg_bytes - where bytes of a packet are in memory
 * @skb: packet
 * @off: offset in it
 * @len: how many are wanted
 *
 * Return: their address, or NULL if they are not in one piece.
 */
static inline const void *hcomm_msg_bytes(const struct sk_buff *skb, u32 off,
					  u32 len)
{
	u32 at = skb_headlen(skb), size;
	int i;

	if (off + len <= at)
		return skb->data + off;
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++, at += size) {
		const skb_frag_t *f = &skb_shinfo(skb)->frags[i];

		size = skb_frag_size(f);
		if (off < at || off >= at + size)
			continue;
		if (off + len > at + size || PageHighMem(skb_frag_page(f)))
			return NULL;
		return skb_frag_address(f) + off - at;
	}
	return NULL;
}

struct hcomm_rxmsg *hcomm_rxmsg_alloc(gfp_t gfp);
void hcomm_rxmsg_free(struct hcomm_rxmsg *m);
int hcomm_rxmsg_copy(struct hcomm_rxmsg *m, u32 off, u32 len,
		     struct iov_iter *to);

#endif /* HCOMM_MSG_H */
