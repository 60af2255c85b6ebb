// SPDX-License-Identifier: GPL-2.0
/* libFuzzer over the decoders. ASan finds what they read beyond the packet. */
#include <stdio.h>
#include <stdlib.h>

#include "frames.h"

static void look(const struct hcomm_packet *p, const struct hcomm_frame *f)
{
	const char *bad = frames_bad(p, f);

	if (!bad && !frames_stable(f))
		bad = "not the same again";
	if (!bad)
		return;
	fprintf(stderr, "frame of type %#x: %s\n", f->type, bad);
	abort();
}

static void frames(struct hcomm_packet *p)
{
	struct hcomm_frame f;

	while (hcomm_wire_next(p, &f) > 0) {
		look(p, &f);
		if (f.type == HCOMM_FRAME_SESSION) {
			struct hcomm_packet in = *p;

			in.off = f.payload;
			in.end = f.payload + f.payload_len;
			in.in_session = true;
			frames(&in);
		}
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct frames_packet bytes = { data, size };
	struct hcomm_packet p = {
		.peek = frames_peek, .ctx = &bytes, .end = size,
	};
	struct hcomm_wire_link h;
	u8 again[HCOMM_WIRE_LINK_LEN];

	if (hcomm_wire_get_link(&p, &h))
		return 0;
	hcomm_wire_put_link(again, &h);
	if (memcmp(again, data, sizeof(again)))
		abort();
	frames(&p);
	return 0;
}
