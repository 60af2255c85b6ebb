// SPDX-License-Identifier: GPL-2.0
#include "ctl.h"

#include <inttypes.h>
#include <string.h>

static const char usage[] =
	"Usage: hcommctl peer [ show [ NODE ] ]\n"
	"       hcommctl peer add NODE [ name NAME ]\n"
	"       hcommctl peer set NODE name NAME\n"
	"       hcommctl peer del NODE\n";

/* The words after "peer add". */
int peer_parse(struct words *w, struct peer_spec *spec)
{
	const char *text;
	int err;

	err = get_node(w, "peer", &spec->node);
	if (err)
		return err;
	if (word_take(w, "name")) {
		err = word_value(w, "name", &text);
		if (!err)
			err = get_name("name", text, spec->name);
		if (err)
			return err;
	}
	return word_end(w);
}

int peer_apply(uint8_t cmd, const struct peer_spec *spec)
{
	struct nl_msg *msg = hnl_request(cmd, 0);

	hnl_put_u32(msg, HCOMM_A_PEER_NODE, spec->node);
	if (cmd == HCOMM_CMD_PEER_SET ||
	    (cmd == HCOMM_CMD_PEER_NEW && spec->name[0]))
		hnl_put_str(msg, HCOMM_A_PEER_NAME, spec->name);
	return hnl_call(msg, NULL, NULL);
}

static void print_session(const struct hnl_obj *obj)
{
	struct hnl_obj s;

	if (!hnl_has(obj, HCOMM_A_PEER_SESSION))
		return;
	hnl_nest(&s, &attrs_session, obj->tb[HCOMM_A_PEER_SESSION]);
	say_more();
	say("session %s lanes tx %u rx %u queued tx %" PRIu64 " rx %" PRIu64,
	    hnl_enum(&s, HCOMM_A_SESSION_STATE),
	    hnl_u32(&s, HCOMM_A_SESSION_LANES_TX),
	    hnl_u32(&s, HCOMM_A_SESSION_LANES_RX),
	    hnl_u64(&s, HCOMM_A_SESSION_TX_QUEUED),
	    hnl_u64(&s, HCOMM_A_SESSION_RX_QUEUED));
	if (ctl_opt.details)
		say(" incarnation %016" PRIx64,
		    hnl_u64(&s, HCOMM_A_SESSION_REMOTE_INCARNATION));
}

static int print_peer(const struct hnl_obj *obj, void *arg)
{
	const char *name = hnl_str(obj, HCOMM_A_PEER_NAME);

	(void)arg;
	if (out_mode.json) {
		hnl_json(obj);
		return 0;
	}
	say("%u:", hnl_u32(obj, HCOMM_A_PEER_NODE));
	if (*name)
		say(" name %s", name);
	say(" state %s links %u", paint(hnl_enum(obj, HCOMM_A_PEER_STATE)),
	    hnl_u32(obj, HCOMM_A_PEER_LINKS));
	print_session(obj);
	say_end();
	return 0;
}

static int peer_show(struct words *w)
{
	struct peer_spec spec = {};
	struct nl_msg *msg;
	int err = 0;

	if (w->nr)
		err = get_node(w, "peer", &spec.node);
	if (!err)
		err = word_end(w);
	if (!err)
		err = hnl_open();
	if (err)
		return err;
	if (!spec.node)
		return show(HCOMM_CMD_PEER_GET, print_peer, NULL);
	msg = hnl_request(HCOMM_CMD_PEER_GET, 0);
	hnl_put_u32(msg, HCOMM_A_PEER_NODE, spec.node);
	return show_one(msg, print_peer, NULL);
}

static int peer_add(struct words *w)
{
	struct peer_spec spec = {};
	int err;

	err = peer_parse(w, &spec);
	if (!err)
		err = hnl_open();
	return err ? err : peer_apply(HCOMM_CMD_PEER_NEW, &spec);
}

static int peer_set(struct words *w)
{
	struct peer_spec spec = {};
	int err;

	err = peer_parse(w, &spec);
	if (!err && !spec.name[0])
		err = syntax("\"peer set\" needs a name");
	if (!err)
		err = hnl_open();
	return err ? err : peer_apply(HCOMM_CMD_PEER_SET, &spec);
}

static int peer_del(struct words *w)
{
	struct peer_spec spec = {};
	int err;

	err = get_node(w, "peer", &spec.node);
	if (!err)
		err = word_end(w);
	if (!err)
		err = hnl_open();
	return err ? err : peer_apply(HCOMM_CMD_PEER_DEL, &spec);
}

int do_peer(struct words *w)
{
	static const struct verb verbs[] = {
		{ "show", peer_show }, { "list", peer_show },
		{ "add", peer_add }, { "del", peer_del },
		{ "delete", peer_del }, { "set", peer_set }, {}
	};

	return run_verb(w, "peer", verbs, usage);
}
