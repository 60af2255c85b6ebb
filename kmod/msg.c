// SPDX-License-Identifier: GPL-2.0
#include "msg.h"

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "batch.h"
#include "wire.h"

static struct kmem_cache *chunk_cache;
static struct kmem_cache *rxmsg_cache;

int hcomm_msg_init(void)
{
	chunk_cache = KMEM_CACHE(hcomm_chunk, 0);
	if (!chunk_cache)
		return -ENOMEM;
	rxmsg_cache = KMEM_CACHE(hcomm_rxmsg, 0);
	if (!rxmsg_cache) {
		kmem_cache_destroy(chunk_cache);
		return -ENOMEM;
	}
	return 0;
}

void hcomm_msg_exit(void)
{
	kmem_cache_destroy(rxmsg_cache);
	kmem_cache_destroy(chunk_cache);
}

static struct hcomm_msg *alloc_inline(u32 len, gfp_t gfp)
{
	size_t head = ALIGN(struct_size((struct hcomm_msg *)NULL, frag, 1), 16);
	struct hcomm_msg *msg = kmalloc(head + len, gfp);
	void *data = (void *)msg + head;

	if (!msg)
		return NULL;
	msg->nr = 1;
	msg->paged = false;
	msg->part = 0;
	msg->slack = 0;
	msg->truesize = head + len;
	bvec_set_page(&msg->frag[0], virt_to_page(data), len,
		      offset_in_page(data));
	return msg;
}

static struct page *alloc_frag(unsigned int *order, gfp_t gfp)
{
	struct page *page;

	while (*order) {
		page = alloc_pages((gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_COMP |
				   __GFP_NOWARN | __GFP_NORETRY, *order);
		if (page)
			return page;
		--*order;
	}
	return alloc_pages(gfp | __GFP_NOWARN, 0);
}

static struct hcomm_msg *alloc_pages_msg(u32 len, u32 part, gfp_t gfp)
{
	u32 left = len, slack = 0, max;
	struct hcomm_msg *msg;

	if (part) {
		slack = roundup(len, part) - len;
		if (slack > hcomm_batch_max_pad(part))
			slack = 0;
		left += DIV_ROUND_UP(len, part) * HCOMM_WIRE_PLAIN_LEN + slack;
	}
	/* Memory may be in single pages by then. */
	max = DIV_ROUND_UP(left, PAGE_SIZE);
	msg = kmalloc(struct_size(msg, frag, max), gfp);
	if (!msg)
		return NULL;
	msg->nr = 0;
	msg->paged = true;
	msg->part = part;
	msg->slack = slack;
	msg->truesize = struct_size(msg, frag, max);
	msg->release = NULL;
	while (left) {
		unsigned int order = min_t(unsigned int, get_order(left),
					   PAGE_ALLOC_COSTLY_ORDER);
		struct page *page = alloc_frag(&order, gfp);
		u32 n;

		if (!page) {
			hcomm_msg_free(msg);
			return NULL;
		}
		n = min_t(u32, left, PAGE_SIZE << order);
		bvec_set_page(&msg->frag[msg->nr++], page, n, 0);
		msg->truesize += PAGE_SIZE << order;
		left -= n;
	}
	return msg;
}

/**
 * hcomm_msg_alloc - make room for a message
 * @len: bytes, at most HCOMM_MAX_MSG_LEN
 * @kind: enum hcomm_msg_kind
 * @part: bytes that one packet can carry, see struct hcomm_msg
 * @gfp: how to allocate
 *
 * Return: a message without an owner, or NULL.
 */
struct hcomm_msg *hcomm_msg_alloc(u32 len, u8 kind, u32 part, gfp_t gfp)
{
	struct hcomm_msg *msg;

	if (len <= HCOMM_MSG_INLINE)
		msg = alloc_inline(len, gfp);
	else
		msg = alloc_pages_msg(len, part, gfp);
	if (!msg)
		return NULL;
	RB_CLEAR_NODE(&msg->node);
	msg->len = len;
	msg->kind = kind;
	msg->release = NULL;
	msg->owner = NULL;
	return msg;
}

/* Copies the whole message from user space or fails with EFAULT. */
int hcomm_msg_fill(struct hcomm_msg *msg, struct iov_iter *from)
{
	struct bio_vec bv;
	u32 off, n;

	for (off = 0; off < msg->len; off += n) {
		n = hcomm_msg_frag(msg, off, &bv);
		/* Not from high memory: it has an address. */
		if (copy_from_iter(bvec_virt(&bv), n, from) != n)
			return -EFAULT;
	}
	return 0;
}

void hcomm_msg_free(struct hcomm_msg *msg)
{
	u32 i;

	if (msg->release)
		msg->release(msg);
	if (msg->paged)
		for (i = 0; i < msg->nr; i++)
			put_page(msg->frag[i].bv_page);
	kfree(msg);
}

/* The piece of the fragments that begins at byte @at of them all. */
static u32 frag_at(const struct hcomm_msg *msg, u32 at, struct bio_vec *bv)
{
	u32 i;

	for (i = 0; i < msg->nr; i++) {
		const struct bio_vec *f = &msg->frag[i];

		if (at < f->bv_len) {
			bvec_set_page(bv, f->bv_page, f->bv_len - at,
				      f->bv_offset + at);
			return bv->bv_len;
		}
		at -= f->bv_len;
	}
	return 0;
}

/* Where byte @off of the message is in the fragments. */
static u32 place_in(const struct hcomm_msg *msg, u32 off)
{
	return msg->part ?
		off + (off / msg->part + 1) * HCOMM_WIRE_PLAIN_LEN : off;
}

/**
 * hcomm_msg_frag - the part of a message from an offset on
 * @msg: message
 * @off: offset, below its length
 * @bv: set to the contiguous piece that begins there
 *
 * Return: bytes in the piece.
 */
u32 hcomm_msg_frag(const struct hcomm_msg *msg, u32 off, struct bio_vec *bv)
{
	u32 n = frag_at(msg, place_in(msg, off), bv);

	n = min(n, msg->len - off);
	if (msg->part)
		n = min(n, msg->part - off % msg->part);
	bv->bv_len = n;
	return n;
}

/* Writes headers into the room in front of a part, or zeros behind the last. */
static void write_at(struct hcomm_msg *msg, u32 at, const u8 *from, u32 len)
{
	struct bio_vec bv;
	u32 n;

	for (; len; at += n, len -= n) {
		n = min_t(u32, frag_at(msg, at, &bv), len);
		if (WARN_ON_ONCE(!n))
			return;
		if (from) {
			memcpy(bvec_virt(&bv), from, n);
			from += n;
		} else {
			memset(bvec_virt(&bv), 0, n);
		}
	}
}

/**
 * hcomm_msg_put_train - put packets of a message into a batch as they lie
 * @msg: message with room for headers
 * @off: offset, at the beginning of a packet
 * @len: bytes, up to the end of a packet
 * @pad: bytes behind them that make the last packet as long as the others
 * @head: headers of the first packet; changed
 * @b: batch with room for the pieces
 *
 * It is done once for each part: packets that went may still be on their way,
 * and their headers must stay as they are.
 */
void hcomm_msg_put_train(struct hcomm_msg *msg, u32 off, u32 len, u32 pad,
			 u8 *head, struct hcomm_batch *b)
{
	u32 at = place_in(msg, off) - HCOMM_WIRE_PLAIN_LEN, end = at, done, n;
	struct bio_vec *bv, flags;

	for (done = 0; done < len; done += n) {
		n = min(len - done, msg->part);
		if (!done || n < msg->part)
			hcomm_wire_plain_len(head, n);
		if (done + n == len)
			frag_at(msg, end + 1, &flags);
		write_at(msg, end, head, HCOMM_WIRE_PLAIN_LEN);
		hcomm_wire_step(head, n);
		end += HCOMM_WIRE_PLAIN_LEN + n;
	}
	b->flags = bvec_virt(&flags);
	write_at(msg, end, NULL, pad);
	for (end += pad; at < end; at += n) {
		bv = &b->bv[b->nr_bv++];
		n = min(frag_at(msg, at, bv), end - at);
		bv->bv_len = n;
		/* Until hcomm_batch_end(). */
		get_page(bv->bv_page);
	}
}

/* Where byte @at of a payload is, and how many follow it without a gap. */
static u32 place(const struct hcomm_payload *p, u32 at, u32 *off)
{
	u32 nr = at / p->part, in = at % p->part;

	*off = p->off + nr * p->stride + in;
	return p->part - in;
}

/* So little of the packet that it is better copied than kept. */
static bool little(const struct hcomm_payload *p, u32 len)
{
	return len <= HCOMM_CHUNK_COPY ||
	       (len < PAGE_SIZE && p->skb->truesize / 4 > len);
}

/**
 * hcomm_chunk_make - keep a piece of what arrived
 * @p: packet or run; a reference is taken if it must stay
 * @skip: where the piece begins in it
 * @len: its length
 *
 * Return: the chunk, or NULL without memory. Context: softirq.
 */
struct hcomm_chunk *hcomm_chunk_make(const struct hcomm_payload *p, u32 skip,
				     u32 len)
{
	struct hcomm_chunk *c;
	u32 off;

	if ((len && place(p, skip, &off) < len) || !little(p, len)) {
		c = kmem_cache_alloc(chunk_cache, GFP_ATOMIC);
		if (!c)
			return NULL;
		c->from = *p;
		c->skip = skip;
		skb_get(p->skb);
		/* Its share of the packet, which others may keep as well. */
		c->truesize = sizeof(*c) +
			div_u64((u64)p->skb->truesize * len, p->skb->len ? : 1);
		c->truesize = max_t(u32, c->truesize, len);
	} else {
		c = kmalloc(sizeof(*c) + len, GFP_ATOMIC);
		if (!c)
			return NULL;
		c->from.skb = NULL;
		c->truesize = sizeof(*c) + len;
		if (len && skb_copy_bits(p->skb, off, c->data, len)) {
			kfree(c);
			return NULL;
		}
	}
	RB_CLEAR_NODE(&c->rb);
	c->len = len;
	return c;
}

void hcomm_chunk_free(struct hcomm_chunk *c)
{
	if (c->from.skb) {
		consume_skb(c->from.skb);
		kmem_cache_free(chunk_cache, c);
	} else {
		kfree(c);
	}
}

struct hcomm_rxmsg *hcomm_rxmsg_alloc(gfp_t gfp)
{
	struct hcomm_rxmsg *m = kmem_cache_zalloc(rxmsg_cache, gfp);

	if (m) {
		INIT_LIST_HEAD(&m->list);
		INIT_LIST_HEAD(&m->chunks);
		m->truesize = sizeof(*m);
	}
	return m;
}

/* The reference of the lane is the caller's to drop. */
void hcomm_rxmsg_free(struct hcomm_rxmsg *m)
{
	struct hcomm_chunk *c, *next;

	list_for_each_entry_safe(c, next, &m->chunks, list)
		hcomm_chunk_free(c);
	kmem_cache_free(rxmsg_cache, m);
}

static int copy_chunk(struct hcomm_chunk *c, u32 off, u32 len,
		      struct iov_iter *to)
{
	const void *p;
	u32 at, n;
	int err;

	if (!c->from.skb)
		return copy_to_iter(c->data + off, len, to) == len ? 0 :
								     -EFAULT;
	for (off += c->skip; len; off += n, len -= n) {
		n = min(len, place(&c->from, off, &at));
		p = hcomm_msg_bytes(c->from.skb, at, n);
		if (p)
			err = copy_to_iter(p, n, to) == n ? 0 : -EFAULT;
		else
			err = skb_copy_datagram_iter(c->from.skb, at, to, n);
		if (err)
			return err;
	}
	return 0;
}

/**
 * hcomm_rxmsg_copy - copy a part of a message to user space
 * @m: message
 * @off: first byte
 * @len: bytes; @off + @len is within the message
 * @to: where to
 *
 * Return: 0 or -EFAULT.
 */
int hcomm_rxmsg_copy(struct hcomm_rxmsg *m, u32 off, u32 len,
		     struct iov_iter *to)
{
	struct hcomm_chunk *c;
	int err;

	list_for_each_entry(c, &m->chunks, list) {
		u32 n;

		if (!len)
			break;
		if (off >= c->len) {
			off -= c->len;
			continue;
		}
		n = min(len, c->len - off);
		err = copy_chunk(c, off, n, to);
		if (err)
			return err;
		len -= n;
		off = 0;
	}
	return 0;
}
