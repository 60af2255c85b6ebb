// SPDX-License-Identifier: GPL-2.0
#include "note.h"

#include "batch.h"
#include "session.h"
#include "wire.h"

/**
 * hcomm_note_add - remember to say something about a lane
 * @s: session; its lock is held
 * @kind: HCOMM_FRAME_LANE_ACK: finished; HCOMM_FRAME_RESET
 * @lane: number
 * @receiver: RESET: as its receiver
 * @code: RESET: positive errno
 *
 * Return: false: no room; the peer will ask again.
 */
bool hcomm_note_add(struct hcomm_session *s, u8 kind, u32 lane, bool receiver,
		    u16 code)
{
	struct hcomm_note *n;
	u32 i;

	lockdep_assert_held(&s->lock);
	for (i = 0; i < s->nr_notes; i++)
		if (s->note[i].kind == kind && s->note[i].lane == lane &&
		    s->note[i].receiver == receiver)
			return true;
	if (s->nr_notes == HCOMM_NOTES)
		return false;
	n = &s->note[s->nr_notes++];
	n->kind = kind;
	n->lane = lane;
	n->receiver = receiver;
	n->code = code;
	return true;
}

static bool fill_one(struct hcomm_batch *b, struct hcomm_sent *sent,
		     const struct hcomm_note *n)
{
	struct hcomm_wire_lane_ack a = { .lane = n->lane, .closed = true };
	struct hcomm_wire_reset r = {
		.lane = n->lane, .receiver = n->receiver, .code = n->code,
	};
	bool reset = n->kind == HCOMM_FRAME_RESET;
	u32 len = reset ? HCOMM_WIRE_FRAME_LEN + HCOMM_WIRE_RESET_LEN :
			  hcomm_wire_lane_ack_size(0);
	u8 *p = hcomm_batch_head(b, len);

	if (!p)
		return false;
	/* The offset of the item says what kind of note it was. */
	if (!hcomm_sent_add(sent, n->kind, n->lane,
			    1 + n->receiver, n->code)) {
		hcomm_batch_trim(b, len);
		return false;
	}
	if (reset)
		hcomm_wire_put_reset(p, &r);
	else
		hcomm_wire_put_lane_ack(p, &a);
	return true;
}

/* Puts what there is to say into a packet; false: not all of it. */
bool hcomm_note_fill(struct hcomm_session *s, struct hcomm_batch *b,
		     struct hcomm_sent *sent)
{
	lockdep_assert_held(&s->lock);
	for (; s->nr_notes; s->nr_notes--)
		if (!fill_one(b, sent, &s->note[s->nr_notes - 1]))
			return false;
	return true;
}
