// SPDX-License-Identifier: GPL-2.0
#include "ctl.h"

#include <string.h>

static const char usage[] =
	"Usage: hcommctl route [ show [ NODE ] ]\n"
	"       hcommctl route get NODE\n"
	"       hcommctl route set NODE { pin-link ID | pin-link none }\n"
	"       hcommctl route add NODE [ pin-link ID ]\n"
	"       hcommctl route del NODE\n"
	"Routes to peers with links are made and deleted with the links.\n";

/* The words after "route set" and "route add". */
int route_parse(struct words *w, struct route_spec *spec)
{
	const char *text;
	int err;

	err = get_node(w, "route", &spec->node);
	if (err || !w->nr)
		return err;
	if (!word_take(w, "pin-link"))
		return word_end(w);
	err = word_value(w, "pin-link", &text);
	if (err)
		return err;
	if (strcmp(text, "none"))
		err = get_u32("pin-link", text, 0, 65535, &spec->pin);
	return err ? err : word_end(w);
}

int route_apply(uint8_t cmd, const struct route_spec *spec)
{
	struct nl_msg *msg = hnl_request(cmd, 0);

	hnl_put_u32(msg, HCOMM_A_ROUTE_NODE, spec->node);
	if (cmd == HCOMM_CMD_ROUTE_SET ||
	    (cmd == HCOMM_CMD_ROUTE_NEW && spec->pin))
		hnl_put_u32(msg, HCOMM_A_ROUTE_PINNED_LINK, spec->pin);
	return hnl_call(msg, NULL, NULL);
}

static void print_candidate(const struct hnl_obj *c)
{
	const char *reason = hnl_str(c, HCOMM_A_CANDIDATE_REASON);

	say_more();
	say("%s peer %u link %u",
	    hnl_u32(c, HCOMM_A_CANDIDATE_ACTIVE) ? "*" : "-",
	    hnl_u32(c, HCOMM_A_CANDIDATE_PEER),
	    hnl_u32(c, HCOMM_A_CANDIDATE_LINK));
	if (hnl_has(c, HCOMM_A_CANDIDATE_NAME))
		say(" name %s", hnl_str(c, HCOMM_A_CANDIDATE_NAME));
	say(" metric %u state %s", hnl_u32(c, HCOMM_A_CANDIDATE_METRIC),
	    paint(hnl_enum(c, HCOMM_A_CANDIDATE_STATE)));
	if (*reason)
		say(" (%s)", reason);
}

static int print_route(const struct hnl_obj *obj, void *arg)
{
	struct hnl_obj c;
	struct nlattr *nla;
	int rem;

	(void)arg;
	if (out_mode.json) {
		hnl_json(obj);
		return 0;
	}
	say("%u:", hnl_u32(obj, HCOMM_A_ROUTE_NODE));
	if (hnl_u32(obj, HCOMM_A_ROUTE_ACTIVE_LINK))
		say(" via peer %u link %u",
		    hnl_u32(obj, HCOMM_A_ROUTE_ACTIVE_PEER),
		    hnl_u32(obj, HCOMM_A_ROUTE_ACTIVE_LINK));
	else
		say(" %s", paint("unreachable"));
	if (hnl_has(obj, HCOMM_A_ROUTE_SINCE))
		say(" for %s", ms_text(hnl_u64(obj, HCOMM_A_ROUTE_SINCE)));
	if (hnl_u32(obj, HCOMM_A_ROUTE_PINNED_LINK))
		say(" pin-link %u", hnl_u32(obj, HCOMM_A_ROUTE_PINNED_LINK));
	say(" failovers %u failbacks %u",
	    hnl_u32(obj, HCOMM_A_ROUTE_FAILOVERS),
	    hnl_u32(obj, HCOMM_A_ROUTE_FAILBACKS));
	if (hnl_u32(obj, HCOMM_A_ROUTE_AUTO))
		say(" auto");
	hnl_for_each(obj, HCOMM_A_ROUTE_CANDIDATES, nla, rem) {
		hnl_nest(&c, &attrs_candidate, nla);
		print_candidate(&c);
	}
	say_end();
	return 0;
}

static int route_get(struct words *w)
{
	struct nl_msg *msg;
	uint32_t node;
	int err;

	err = get_node(w, "route", &node);
	if (!err)
		err = word_end(w);
	if (!err)
		err = hnl_open();
	if (err)
		return err;
	msg = hnl_request(HCOMM_CMD_ROUTE_GET, 0);
	hnl_put_u32(msg, HCOMM_A_ROUTE_NODE, node);
	return show_one(msg, print_route, NULL);
}

static int route_show(struct words *w)
{
	int err;

	if (w->nr)
		return route_get(w);
	err = hnl_open();
	return err ? err : show(HCOMM_CMD_ROUTE_GET, print_route, NULL);
}

static int change(struct words *w, uint8_t cmd, bool pin)
{
	struct route_spec spec = {};
	int err;

	if (pin && w->nr == 1)
		return syntax("\"route set\" needs \"pin-link\"");
	err = route_parse(w, &spec);
	if (!err)
		err = hnl_open();
	return err ? err : route_apply(cmd, &spec);
}

static int route_set(struct words *w)
{
	return change(w, HCOMM_CMD_ROUTE_SET, true);
}

static int route_add(struct words *w)
{
	return change(w, HCOMM_CMD_ROUTE_NEW, false);
}

static int route_del(struct words *w)
{
	struct route_spec spec = {};
	int err;

	err = get_node(w, "route", &spec.node);
	if (!err)
		err = word_end(w);
	if (!err)
		err = hnl_open();
	return err ? err : route_apply(HCOMM_CMD_ROUTE_DEL, &spec);
}

int do_route(struct words *w)
{
	static const struct verb verbs[] = {
		{ "show", route_show }, { "list", route_show },
		{ "get", route_get }, { "set", route_set },
		{ "add", route_add }, { "del", route_del },
		{ "delete", route_del }, {}
	};

	return run_verb(w, "route", verbs, usage);
}
