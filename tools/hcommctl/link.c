// SPDX-License-Identifier: GPL-2.0
#include "ctl.h"

#include <string.h>

static const char usage[] =
	"Usage: hcommctl link [ show [ NAME | peer NODE [ id ID ] ] ]\n"
	"       hcommctl link add peer NODE [ id ID ] [ name NAME ] [ type TYPE ]\n"
	"                local ADDR remote ADDR [ dev DEV ]\n"
	"                [ port PORT ] [ remote-port PORT ] [ SETTING ]...\n"
	"       hcommctl link set { NAME | peer NODE id ID } SETTING...\n"
	"       hcommctl link del { NAME | peer NODE id ID }\n"
	"where  TYPE := { udp | tcp }\n"
	"       SETTING := { up | down | metric N | gso { auto | on | off } |\n"
	"                    loss-threshold { LOSS | default } }\n"
	"       LOSS := N{%|ppm}\n";

int link_apply(uint8_t cmd, const struct link_spec *s)
{
	struct nl_msg *msg = hnl_request(cmd, 0);
	static const struct {
		int attr;
		size_t off;
	} u32s[] = {
		{ HCOMM_A_LINK_PEER, offsetof(struct link_spec, peer) },
		{ HCOMM_A_LINK_ID, offsetof(struct link_spec, id) },
		{ HCOMM_A_LINK_TRANSPORT,
		  offsetof(struct link_spec, transport) },
		{ HCOMM_A_LINK_IFINDEX, offsetof(struct link_spec, ifindex) },
		{ HCOMM_A_LINK_METRIC, offsetof(struct link_spec, metric) },
		{ HCOMM_A_LINK_ADMIN, offsetof(struct link_spec, admin) },
		{ HCOMM_A_LINK_GSO, offsetof(struct link_spec, gso) },
		{ HCOMM_A_LINK_LOSS_THRESHOLD,
		  offsetof(struct link_spec, loss_ppm) },
	};
	uint32_t val;
	size_t i;

	for (i = 0; i < sizeof(u32s) / sizeof(u32s[0]); i++) {
		if (!HAS(s, u32s[i].attr))
			continue;
		memcpy(&val, (const char *)s + u32s[i].off, sizeof(val));
		hnl_put_u32(msg, u32s[i].attr, val);
	}
	if (HAS(s, HCOMM_A_LINK_NAME))
		hnl_put_str(msg, HCOMM_A_LINK_NAME, s->name);
	if (HAS(s, HCOMM_A_LINK_LOCAL_ADDR))
		hnl_put_bin(msg, HCOMM_A_LINK_LOCAL_ADDR, s->local.addr,
			    s->local.len);
	if (HAS(s, HCOMM_A_LINK_REMOTE_ADDR))
		hnl_put_bin(msg, HCOMM_A_LINK_REMOTE_ADDR, s->remote.addr,
			    s->remote.len);
	if (HAS(s, HCOMM_A_LINK_LOCAL_PORT))
		hnl_put_u16(msg, HCOMM_A_LINK_LOCAL_PORT, s->local_port);
	if (HAS(s, HCOMM_A_LINK_REMOTE_PORT))
		hnl_put_u16(msg, HCOMM_A_LINK_REMOTE_PORT, s->remote_port);
	return hnl_call(msg, NULL, NULL);
}

/*
 * Which link: NAME, or peer NODE id ID. With @any the id may be missing, and
 * so may everything.
 */
static int parse_which(struct words *w, struct link_spec *s, bool any)
{
	const char *text;
	int err;

	if (any && !w->nr)
		return 0;
	if (!word_take(w, "peer")) {
		word_take(w, "name");
		err = word_value(w, "link", &text);
		if (!err)
			err = get_name("link", text, s->name);
		SET_HAS(s, HCOMM_A_LINK_NAME);
		return err;
	}
	err = get_node(w, "peer", &s->peer);
	if (err)
		return err;
	SET_HAS(s, HCOMM_A_LINK_PEER);
	if (!word_take(w, "id"))
		return any ? 0 : syntax("the id of the link is missing");
	err = word_value(w, "id", &text);
	if (!err)
		err = get_u32("id", text, 1, 65535, &s->id);
	SET_HAS(s, HCOMM_A_LINK_ID);
	return err;
}

static const char *port_suffix(const struct hnl_obj *obj, int attr)
{
	static char buf[2][8];
	static int which;

	which = !which;
	snprintf(buf[which], sizeof(buf[which]), ":%u", hnl_u32(obj, attr));
	return buf[which];
}

static void print_ends(const struct hnl_obj *obj)
{
	bool v6 = hnl_has(obj, HCOMM_A_LINK_LOCAL_ADDR) &&
		  nla_len(obj->tb[HCOMM_A_LINK_LOCAL_ADDR]) == 16;

	if (!hnl_has(obj, HCOMM_A_LINK_LOCAL_ADDR))
		return;
	say_more();
	say(v6 ? "local [%s]%s" : "local %s%s",
	    hnl_addr(obj, HCOMM_A_LINK_LOCAL_ADDR),
	    port_suffix(obj, HCOMM_A_LINK_LOCAL_PORT));
	say(v6 ? " remote [%s]%s" : " remote %s%s",
	    hnl_addr(obj, HCOMM_A_LINK_REMOTE_ADDR),
	    port_suffix(obj, HCOMM_A_LINK_REMOTE_PORT));
	say(" dev %s", hnl_str(obj, HCOMM_A_LINK_IFNAME));
	if (hnl_has(obj, HCOMM_A_LINK_MTU))
		say(" mtu %u", hnl_u32(obj, HCOMM_A_LINK_MTU));
}

static void print_gso(const struct hnl_obj *obj)
{
	const char *why = hnl_str(obj, HCOMM_A_LINK_GSO_REASON);

	say(" gso %s", hnl_enum(obj, HCOMM_A_LINK_GSO));
	if (hnl_has(obj, HCOMM_A_LINK_GSO_STATE))
		say(" (%s%s%s)", hnl_u32(obj, HCOMM_A_LINK_GSO_STATE) ?
		    "in use" : "not in use", *why ? ": " : "", why);
}

static void print_path(const struct hnl_obj *obj)
{
	say_more();
	say("rtt %.3fms min %.3fms var %.3fms cwnd %u inflight %u",
	    hnl_u32(obj, HCOMM_A_LINK_RTT_SMOOTHED) / 1000.0,
	    hnl_u32(obj, HCOMM_A_LINK_RTT_MIN) / 1000.0,
	    hnl_u32(obj, HCOMM_A_LINK_RTT_VAR) / 1000.0,
	    hnl_u32(obj, HCOMM_A_LINK_CWND),
	    hnl_u32(obj, HCOMM_A_LINK_INFLIGHT));
	if (hnl_u64(obj, HCOMM_A_LINK_PACING_RATE))
		say(" pacing %.1fMB/s",
		    hnl_u64(obj, HCOMM_A_LINK_PACING_RATE) / 1e6);
}

static void print_loss(const struct hnl_obj *obj)
{
	struct hnl_obj l;
	struct nlattr *nla;
	int rem;

	hnl_for_each(obj, HCOMM_A_LINK_LOSS, nla, rem) {
		hnl_nest(&l, &attrs_loss, nla);
		say_more();
		say("loss in %s: %u of %u packets in %u runs, %s to %s",
		    ms_text(hnl_u32(&l, HCOMM_A_LOSS_WINDOW_MS)),
		    hnl_u32(&l, HCOMM_A_LOSS_LOST),
		    hnl_u32(&l, HCOMM_A_LOSS_SENT),
		    hnl_u32(&l, HCOMM_A_LOSS_EVENTS),
		    ppm_text(hnl_u32(&l, HCOMM_A_LOSS_LOWER_PPM)),
		    ppm_text(hnl_u32(&l, HCOMM_A_LOSS_UPPER_PPM)));
	}
}

static int print_link(const struct hnl_obj *obj, void *arg)
{
	const struct link_spec *want = arg;
	const char *reason = hnl_str(obj, HCOMM_A_LINK_REASON);

	if (want && HAS(want, HCOMM_A_LINK_PEER) &&
	    hnl_u32(obj, HCOMM_A_LINK_PEER) != want->peer)
		return 0;
	if (out_mode.json) {
		hnl_json(obj);
		return 0;
	}
	say("%s: peer %u id %u type %s state %s",
	    hnl_str(obj, HCOMM_A_LINK_NAME), hnl_u32(obj, HCOMM_A_LINK_PEER),
	    hnl_u32(obj, HCOMM_A_LINK_ID),
	    hnl_enum(obj, HCOMM_A_LINK_TRANSPORT),
	    paint(hnl_enum(obj, HCOMM_A_LINK_STATE)));
	if (*reason)
		say(" (%s)", reason);
	say(" for %s", ms_text(hnl_u64(obj, HCOMM_A_LINK_SINCE)));
	print_ends(obj);
	say_more();
	say("admin %s metric %u", hnl_enum(obj, HCOMM_A_LINK_ADMIN),
	    hnl_u32(obj, HCOMM_A_LINK_METRIC));
	if (hnl_u32(obj, HCOMM_A_LINK_LOSS_THRESHOLD))
		say(" loss-threshold %s",
		    ppm_text(hnl_u32(obj, HCOMM_A_LINK_LOSS_THRESHOLD)));
	print_gso(obj);
	say(" carries %u failovers %u failbacks %u",
	    hnl_u32(obj, HCOMM_A_LINK_CARRIES),
	    hnl_u32(obj, HCOMM_A_LINK_FAILOVERS),
	    hnl_u32(obj, HCOMM_A_LINK_FAILBACKS));
	if (hnl_u32(obj, HCOMM_A_LINK_HOLDDOWN_LEFT))
		say(" holddown %s",
		    ms_text(hnl_u32(obj, HCOMM_A_LINK_HOLDDOWN_LEFT)));
	print_path(obj);
	if (ctl_opt.details)
		print_loss(obj);
	if (ctl_opt.stats)
		say_counters(obj, HCOMM_A_LINK_COUNTERS);
	say_end();
	return 0;
}

static int link_show(struct words *w)
{
	struct link_spec spec = {};
	struct nl_msg *msg;
	bool one;
	int err;

	err = parse_which(w, &spec, true);
	if (!err)
		err = word_end(w);
	if (!err)
		err = hnl_open();
	if (err)
		return err;
	one = HAS(&spec, HCOMM_A_LINK_NAME) || HAS(&spec, HCOMM_A_LINK_ID);
	msg = hnl_request(HCOMM_CMD_LINK_GET, one ? 0 : NLM_F_DUMP);
	if (HAS(&spec, HCOMM_A_LINK_NAME))
		hnl_put_str(msg, HCOMM_A_LINK_NAME, spec.name);
	if (HAS(&spec, HCOMM_A_LINK_PEER))
		hnl_put_u32(msg, HCOMM_A_LINK_PEER, spec.peer);
	if (HAS(&spec, HCOMM_A_LINK_ID))
		hnl_put_u32(msg, HCOMM_A_LINK_ID, spec.id);
	return show_one(msg, print_link, &spec);
}

static int link_add(struct words *w)
{
	struct link_spec spec = {};
	int err;

	err = link_parse(w, &spec);
	if (!err)
		err = hnl_open();
	return err ? err : link_apply(HCOMM_CMD_LINK_NEW, &spec);
}

static int link_set(struct words *w)
{
	struct link_spec spec = {};
	uint64_t which;
	int err;

	err = parse_which(w, &spec, false);
	which = spec.has;
	if (!err)
		err = link_parse_settings(w, &spec);
	if (!err && spec.has == which)
		err = syntax("\"link set\" needs a setting");
	if (!err)
		err = hnl_open();
	return err ? err : link_apply(HCOMM_CMD_LINK_SET, &spec);
}

static int link_del(struct words *w)
{
	struct link_spec spec = {};
	int err;

	err = parse_which(w, &spec, false);
	if (!err)
		err = word_end(w);
	if (!err)
		err = hnl_open();
	return err ? err : link_apply(HCOMM_CMD_LINK_DEL, &spec);
}

int do_link(struct words *w)
{
	static const struct verb verbs[] = {
		{ "show", link_show }, { "list", link_show },
		{ "add", link_add }, { "del", link_del },
		{ "delete", link_del }, { "set", link_set }, {}
	};

	return run_verb(w, "link", verbs, usage);
}
