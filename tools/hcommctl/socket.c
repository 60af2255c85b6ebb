// SPDX-License-Identifier: GPL-2.0
#include "ctl.h"

#include <inttypes.h>
#include <sys/socket.h>

static const char usage[] = "Usage: hcommctl socket [ show ]\n";

static const char *type_name(uint32_t type)
{
	switch (type) {
	case SOCK_STREAM:
		return "stream";
	case SOCK_SEQPACKET:
		return "seqpacket";
	case SOCK_RDM:
		return "rdm";
	}
	return "unknown";
}

static int print_socket(const struct hnl_obj *obj, void *arg)
{
	(void)arg;
	if (out_mode.json) {
		hnl_json(obj);
		return 0;
	}
	say("%s %s port %u", type_name(hnl_u32(obj, HCOMM_A_SOCKET_TYPE)),
	    hnl_enum(obj, HCOMM_A_SOCKET_STATE),
	    hnl_u32(obj, HCOMM_A_SOCKET_LOCAL_PORT));
	if (hnl_u32(obj, HCOMM_A_SOCKET_REMOTE_NODE))
		say(" remote %u:%u", hnl_u32(obj, HCOMM_A_SOCKET_REMOTE_NODE),
		    hnl_u32(obj, HCOMM_A_SOCKET_REMOTE_PORT));
	say(" queued rx %u tx %u", hnl_u32(obj, HCOMM_A_SOCKET_RX_QUEUED),
	    hnl_u32(obj, HCOMM_A_SOCKET_TX_QUEUED));
	say(" pid %u (%s) uid %u", hnl_u32(obj, HCOMM_A_SOCKET_PID),
	    hnl_str(obj, HCOMM_A_SOCKET_COMM),
	    hnl_u32(obj, HCOMM_A_SOCKET_UID));
	if (ctl_opt.details && hnl_has(obj, HCOMM_A_SOCKET_INODE))
		say(" inode %" PRIu64, hnl_u64(obj, HCOMM_A_SOCKET_INODE));
	if (ctl_opt.stats) {
		say_more();
		say("messages rx %" PRIu64 " tx %" PRIu64 " drops %" PRIu64
		    " rcvbuf %u sndbuf %u",
		    hnl_u64(obj, HCOMM_A_SOCKET_RX_MESSAGES),
		    hnl_u64(obj, HCOMM_A_SOCKET_TX_MESSAGES),
		    hnl_u64(obj, HCOMM_A_SOCKET_DROPS),
		    hnl_u32(obj, HCOMM_A_SOCKET_RCVBUF),
		    hnl_u32(obj, HCOMM_A_SOCKET_SNDBUF));
	}
	say_end();
	return 0;
}

static int socket_show(struct words *w)
{
	int err = word_end(w);

	if (!err)
		err = hnl_open();
	return err ? err : show(HCOMM_CMD_SOCKET_GET, print_socket, NULL);
}

int do_socket(struct words *w)
{
	static const struct verb verbs[] = {
		{ "show", socket_show }, { "list", socket_show }, {}
	};

	return run_verb(w, "socket", verbs, usage);
}
