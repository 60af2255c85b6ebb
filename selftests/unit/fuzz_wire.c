// SPDX-License-Identifier: GPL-2.0
/* libFuzzer over the decoders: reads beyond the packet are found by ASan. */
#include <stdlib.h>

#include "wire.h"

struct ctx {
	const u8 *data;
	u32 len;
};

static const void *peek(void *p, u32 off, u32 len, void *to)
{
	struct ctx *c = p;

	if (off > c->len || len > c->len - off)
		abort();
	memcpy(to, c->data + off, len);
	return to;
}

static void frames(struct hcomm_packet *p, u32 len)
{
	struct hcomm_packet body;
	struct hcomm_frame f;

	while (hcomm_wire_next(p, &f) > 0) {
		if (f.payload > len || f.payload_len > len - f.payload)
			abort();
		if (f.type == HCOMM_FRAME_DATA && f.data.len != f.payload_len)
			abort();
		if (f.type != HCOMM_FRAME_SESSION)
			continue;
		body = *p;
		body.off = f.payload;
		body.end = f.payload + f.payload_len;
		body.in_session = true;
		frames(&body, len);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct ctx c = { .data = data, .len = size };
	struct hcomm_packet p = { .peek = peek, .ctx = &c, .end = size };
	struct hcomm_wire_link h;

	if (!hcomm_wire_get_link(&p, &h))
		frames(&p, size);
	return 0;
}
