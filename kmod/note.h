/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HCOMM_NOTE_H
#define HCOMM_NOTE_H

#include <linux/types.h>

struct hcomm_batch;
struct hcomm_sent;
struct hcomm_session;

enum { HCOMM_NOTES = 64 };

/**
 * struct hcomm_note - something short to say about a lane that is gone
 * @kind: HCOMM_FRAME_LANE_ACK (closed) or HCOMM_FRAME_RESET
 * @receiver: RESET: said as the receiver of the lane
 * @code: RESET: errno
 * @lane: number of the lane
 */
struct hcomm_note {
	u8 kind;
	bool receiver;
	u16 code;
	u32 lane;
};

bool hcomm_note_add(struct hcomm_session *s, u8 kind, u32 lane, bool receiver,
		    u16 code);
bool hcomm_note_fill(struct hcomm_session *s, struct hcomm_batch *b,
		     struct hcomm_sent *sent);

#endif /* HCOMM_NOTE_H */
