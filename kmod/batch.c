// SPDX-License-Identifier: GPL-2.0
#include "batch.h"

#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>

static DEFINE_PER_CPU(struct hcomm_batch *, batches);

int hcomm_batch_init(void)
{
	struct hcomm_batch *b;
	int cpu;

	for_each_possible_cpu(cpu) {
		b = kzalloc_node(sizeof(*b), GFP_KERNEL, cpu_to_node(cpu));
		if (!b)
			goto err;
		per_cpu(batches, cpu) = b;
		b->arena = kmalloc_node(HCOMM_BATCH_ARENA, GFP_KERNEL,
					cpu_to_node(cpu));
		if (!b->arena)
			goto err;
	}
	return 0;
err:
	hcomm_batch_exit();
	return -ENOMEM;
}

void hcomm_batch_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hcomm_batch *b = per_cpu(batches, cpu);

		if (b)
			kfree(b->arena);
		kfree(b);
		per_cpu(batches, cpu) = NULL;
	}
}

/*
 * The batch of this CPU, empty; hcomm_batch_end() when it was sent. NULL: a
 * redirecting device made a packet arrive inside the sending of another.
 */
struct hcomm_batch *hcomm_batch_get(u8 class)
{
	struct hcomm_batch *b = *this_cpu_ptr(&batches);

	if (b->busy)
		return NULL;
	b->busy = true;
	b->limit = HCOMM_BATCH_BYTES;
	b->class = class;
	b->short_end = false;
	b->nr_seg = 0;
	b->nr_bv = 0;
	b->nr_sent = 0;
	b->used = 0;
	b->bytes = 0;
	b->seg_len = 0;
	b->room = 0;
	return b;
}

/**
 * hcomm_batch_open - begin a packet
 * @b: batch
 * @room: what it may become
 *
 * Return: false: the batch takes no more.
 */
bool hcomm_batch_open(struct hcomm_batch *b, u32 room)
{
	if (b->short_end || b->nr_seg == HCOMM_BATCH_SEGS ||
	    b->nr_bv + 8 > HCOMM_BATCH_BV ||
	    b->used + 512 > HCOMM_BATCH_ARENA ||
	    b->bytes + room > b->limit)
		return false;
	b->open_bv = b->nr_bv;
	b->open_len = 0;
	/* All have the length of the first, but for a shorter last one. */
	b->room = b->nr_seg ? min(room, b->seg_len) : room;
	return true;
}

/**
 * hcomm_batch_head - room for a header in the packet being built
 * @b: batch
 * @len: bytes
 *
 * Return: where to write, or NULL if the packet or the batch is full.
 */
u8 *hcomm_batch_head(struct hcomm_batch *b, u32 len)
{
	u32 at = offset_in_page(b->arena) + b->used;
	struct bio_vec *bv;

	if (len > b->room || b->used + len > HCOMM_BATCH_ARENA)
		return NULL;
	bv = b->nr_bv > b->open_bv ? &b->bv[b->nr_bv - 1] : NULL;
	if (bv && bv->bv_page == virt_to_page(b->arena) &&
	    bv->bv_offset + bv->bv_len == at) {
		bv->bv_len += len;
	} else {
		if (b->nr_bv == HCOMM_BATCH_BV)
			return NULL;
		bvec_set_page(&b->bv[b->nr_bv++], virt_to_page(b->arena), len,
			      at);
	}
	b->used += len;
	b->room -= len;
	b->open_len += len;
	return b->arena + b->used - len;
}

/* Gives back the last @len bytes of what hcomm_batch_head() gave. */
void hcomm_batch_trim(struct hcomm_batch *b, u32 len)
{
	struct bio_vec *bv = &b->bv[b->nr_bv - 1];

	b->used -= len;
	b->room += len;
	b->open_len -= len;
	bv->bv_len -= len;
	if (!bv->bv_len)
		b->nr_bv--;
}

/*
 * Payload by reference; false if the packet or the batch is full. The message
 * may be freed before the batch is sent: its pages stay until
 * hcomm_batch_end().
 */
bool hcomm_batch_pages(struct hcomm_batch *b, struct page *page, u32 off,
		       u32 len)
{
	if (len > b->room || b->nr_bv == HCOMM_BATCH_BV)
		return false;
	get_page(page);
	bvec_set_page(&b->bv[b->nr_bv++], page, len, off);
	b->open_len += len;
	b->room -= len;
	return true;
}

/* Fills the packet up to the length of the others; false: it stays shorter. */
bool hcomm_batch_pad(struct hcomm_batch *b)
{
	u32 want = b->nr_seg ? b->seg_len : b->open_len + b->room;
	u32 have = b->open_len;
	u8 *p;

	if (have == want)
		return true;
	if (have > want || want - have > hcomm_batch_max_pad(want))
		return false;
	p = hcomm_batch_head(b, want - have);
	if (!p)
		return false;
	memset(p, 0, want - have);
	return true;
}

/* The packet is complete. */
void hcomm_batch_close(struct hcomm_batch *b)
{
	hcomm_batch_add(b, 1, b->nr_seg ? b->seg_len : b->open_len,
			b->open_len);
}

/* There is no packet after all. */
void hcomm_batch_drop(struct hcomm_batch *b)
{
	u32 i;

	for (i = b->open_bv; i < b->nr_bv; i++) {
		if (hcomm_batch_lasting(b, &b->bv[i]))
			put_page(b->bv[i].bv_page);
		else
			b->used -= b->bv[i].bv_len;
	}
	b->nr_bv = b->open_bv;
	b->room = 0;
}

/* It was sent, or will not be: nothing of it is needed any more. */
void hcomm_batch_end(struct hcomm_batch *b)
{
	u32 i;

	for (i = 0; i < b->nr_bv; i++)
		if (hcomm_batch_lasting(b, &b->bv[i]))
			put_page(b->bv[i].bv_page);
	b->nr_bv = 0;
	b->busy = false;
}

/* How many packets of @len bytes the batch still takes. */
u32 hcomm_batch_room(const struct hcomm_batch *b, u32 len)
{
	if (b->short_end || (b->nr_seg && b->seg_len != len) ||
	    b->nr_bv + 40 > HCOMM_BATCH_BV)
		return 0;
	return min_t(u32, HCOMM_BATCH_SEGS - b->nr_seg,
		     (b->limit - b->bytes) / len);
}

/**
 * hcomm_batch_add - packets were added behind the others
 * @b: batch; their pieces are in it
 * @nr: packets
 * @seg_len: of each but the last
 * @bytes: of all
 */
void hcomm_batch_add(struct hcomm_batch *b, u32 nr, u32 seg_len, u32 bytes)
{
	b->seg_len = seg_len;
	b->short_end = bytes < nr * seg_len;
	b->nr_seg += nr;
	b->bytes += bytes;
	b->room = 0;
}

/* Somebody waits for the fate of packets of this batch. */
void hcomm_batch_note(struct hcomm_batch *b, struct hcomm_sent *sent, u64 pn)
{
	b->sent_pn[b->nr_sent] = pn;
	b->sent[b->nr_sent++] = sent;
}

void hcomm_batch_begin(const struct hcomm_batch *b, struct hcomm_batch_iter *i)
{
	iov_iter_bvec(&i->it, ITER_SOURCE, b->bv, b->nr_bv, b->bytes);
	i->seg_len = b->seg_len;
}

/* Length of the next packet, 0: there is none. */
u32 hcomm_batch_next(const struct hcomm_batch_iter *i)
{
	return min_t(size_t, iov_iter_count(&i->it), i->seg_len);
}

/* Copies the next @len bytes. */
bool hcomm_batch_take(struct hcomm_batch_iter *i, void *to, u32 len)
{
	return copy_from_iter(to, len, &i->it) == len;
}
