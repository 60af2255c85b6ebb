/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_BATCH_H
#define HCOMM_BATCH_H

#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/types.h>
#include <linux/uio.h>

struct hcomm_sent;

enum hcomm_batch_const {
	HCOMM_BATCH_SEGS = 60,
	HCOMM_BATCH_BYTES = 65000,	/* with headers below what IP carries */
	HCOMM_BATCH_BV = 320,
	HCOMM_BATCH_ARENA = 65536,
};

/**
 * struct hcomm_batch - packets that one call hands to a transport
 * @busy: it is being built or sent
 * @class: enum hcomm_class of the most urgent content
 * @short_end: the last packet is shorter than the others: nothing may follow
 * @nr_seg: packets
 * @nr_bv: pieces of all packets
 * @nr_sent: records in @sent
 * @open_bv: first piece of the packet being built
 * @used: bytes of @arena in use
 * @bytes: bytes of all packets
 * @limit: what @bytes may become
 * @seg_len: bytes of each packet but the last
 * @open_len: bytes of the packet being built
 * @room: bytes that it may still take
 * @flags: where the last packet has its flags
 * @sent: what the packets carry
 * @sent_pn: the first packet number of each record
 * @bv: the packets one after the other: headers in @arena, pages of messages
 * @arena: headers and short messages
 *
 * One per CPU, used with bottom halves off.
 */
struct hcomm_batch {
	bool busy;
	u8 class;
	bool short_end;
	u16 nr_seg;
	u16 nr_bv;
	u16 nr_sent;
	u16 open_bv;
	u32 used;
	u32 bytes;
	u32 limit;
	u32 seg_len;
	u32 open_len;
	u32 room;
	u8 *flags;
	struct hcomm_sent *sent[HCOMM_BATCH_SEGS];
	u64 sent_pn[HCOMM_BATCH_SEGS];
	struct bio_vec bv[HCOMM_BATCH_BV];
	u8 *arena;
};

/**
 * struct hcomm_batch_iter - goes through the packets of a batch
 * @it: what is left
 * @seg_len: of each packet but the last
 */
struct hcomm_batch_iter {
	struct iov_iter it;
	u32 seg_len;
};

/* Padding up to this much is cheaper than another batch. */
static inline u32 hcomm_batch_max_pad(u32 seg_len)
{
	return seg_len / 4;
}

int hcomm_batch_init(void);
void hcomm_batch_exit(void);

/* Building; bottom halves are off from hcomm_batch_get() on. */
struct hcomm_batch *hcomm_batch_get(u8 class);
bool hcomm_batch_open(struct hcomm_batch *b, u32 room);
u8 *hcomm_batch_head(struct hcomm_batch *b, u32 len);
void hcomm_batch_trim(struct hcomm_batch *b, u32 len);
bool hcomm_batch_pages(struct hcomm_batch *b, struct page *page, u32 off,
		       u32 len);
bool hcomm_batch_pad(struct hcomm_batch *b);
void hcomm_batch_close(struct hcomm_batch *b);
void hcomm_batch_drop(struct hcomm_batch *b);
void hcomm_batch_end(struct hcomm_batch *b);
u32 hcomm_batch_room(const struct hcomm_batch *b, u32 len);
void hcomm_batch_add(struct hcomm_batch *b, u32 nr, u32 seg_len, u32 bytes);
void hcomm_batch_note(struct hcomm_batch *b, struct hcomm_sent *sent, u64 pn);

/* For transports. */
void hcomm_batch_begin(const struct hcomm_batch *b, struct hcomm_batch_iter *i);
u32 hcomm_batch_next(const struct hcomm_batch_iter *i);
bool hcomm_batch_take(struct hcomm_batch_iter *i, void *to, u32 len);

/* Whether a piece stays as it is after the batch was sent, for who refers to it. */
static inline bool hcomm_batch_lasting(const struct hcomm_batch *b,
				       const struct bio_vec *bv)
{
	return bv->bv_page != virt_to_page(b->arena);
}

#endif /* HCOMM_BATCH_H */
