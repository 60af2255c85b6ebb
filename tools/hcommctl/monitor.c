// SPDX-License-Identifier: GPL-2.0
#include "ctl.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static const char usage[] =
	"Usage: hcommctl monitor [ all | link | route | peer ]\n";

enum topic {
	TOPIC_LINK = 1 << 0,
	TOPIC_ROUTE = 1 << 1,
	TOPIC_PEER = 1 << 2,
	TOPIC_SYSTEM = 1 << 3,
};

static int topic_of(uint32_t event)
{
	switch (event) {
	case HCOMM_EVENT_LINK_STATE:
	case HCOMM_EVENT_LINK_NEW:
	case HCOMM_EVENT_LINK_DEL:
	case HCOMM_EVENT_LINK_SET:
		return TOPIC_LINK;
	case HCOMM_EVENT_ROUTE_CHANGE:
	case HCOMM_EVENT_ROUTE_NEW:
	case HCOMM_EVENT_ROUTE_DEL:
		return TOPIC_ROUTE;
	case HCOMM_EVENT_PEER_NEW:
	case HCOMM_EVENT_PEER_DEL:
	case HCOMM_EVENT_PEER_UP:
	case HCOMM_EVENT_PEER_DOWN:
	case HCOMM_EVENT_SESSION_UP:
	case HCOMM_EVENT_SESSION_RESET:
		return TOPIC_PEER;
	}
	return TOPIC_SYSTEM;
}

static void say_time(uint64_t ns)
{
	time_t s = ns / 1000000000;
	char text[32];
	struct tm tm;

	if (!ctl_opt.timestamp || !localtime_r(&s, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	say("[%s.%06u] ", text, (unsigned int)(ns % 1000000000 / 1000));
}

static void say_link(const struct hnl_obj *obj)
{
	const char *name = hnl_str(obj, HCOMM_A_EVENT_NAME);

	if (*name)
		say(" %s", name);
	if (hnl_has(obj, HCOMM_A_EVENT_PEER))
		say(" peer %u", hnl_u32(obj, HCOMM_A_EVENT_PEER));
	if (hnl_u32(obj, HCOMM_A_EVENT_LINK))
		say(" id %u", hnl_u32(obj, HCOMM_A_EVENT_LINK));
}

static void say_event(const struct hnl_obj *obj)
{
	const char *reason = hnl_str(obj, HCOMM_A_EVENT_REASON);
	uint32_t event = hnl_u32(obj, HCOMM_A_EVENT_EVENT);

	say_time(hnl_u64(obj, HCOMM_A_EVENT_TIME));
	say("%s", hnl_enum(obj, HCOMM_A_EVENT_EVENT));
	if (event == HCOMM_EVENT_ROUTE_CHANGE) {
		say(" node %u:", hnl_u32(obj, HCOMM_A_EVENT_NODE));
		if (hnl_u32(obj, HCOMM_A_EVENT_LINK)) {
			say(" now over");
			say_link(obj);
		} else {
			say(" %s", paint("unreachable"));
		}
	} else if (topic_of(event) == TOPIC_LINK) {
		say_link(obj);
		if (hnl_has(obj, HCOMM_A_EVENT_NEW_STATE))
			say(": %s -> %s",
			    paint(hnl_enum(obj, HCOMM_A_EVENT_OLD_STATE)),
			    paint(hnl_enum(obj, HCOMM_A_EVENT_NEW_STATE)));
	} else if (hnl_has(obj, HCOMM_A_EVENT_NODE)) {
		say(" node %u", hnl_u32(obj, HCOMM_A_EVENT_NODE));
	}
	if (*reason)
		say(" (%s)", reason);
	say_end();
}

static int on_event(const struct hnl_obj *obj, void *arg)
{
	const int *topics = arg;

	if (!hnl_has(obj, HCOMM_A_EVENT_EVENT) ||
	    !(topic_of(hnl_u32(obj, HCOMM_A_EVENT_EVENT)) & *topics))
		return 0;
	if (out_mode.json) {
		hnl_json(obj);
		json_line();
	} else {
		say_event(obj);
	}
	return out_flush() ? EXIT_KERNEL : 0;
}

/* How things are now, for who cannot know what was missed. */
static int state_link(const struct hnl_obj *obj, void *arg)
{
	(void)arg;
	if (out_mode.json) {
		json_begin(NULL, '{');
		json_str("event", "link-now");
		json_u64("peer", hnl_u32(obj, HCOMM_A_LINK_PEER));
		json_u64("link", hnl_u32(obj, HCOMM_A_LINK_ID));
		json_str("name", hnl_str(obj, HCOMM_A_LINK_NAME));
		json_str("state", hnl_enum(obj, HCOMM_A_LINK_STATE));
		json_end('}');
		json_line();
		return 0;
	}
	say("link-now %s peer %u id %u: %s\n", hnl_str(obj, HCOMM_A_LINK_NAME),
	    hnl_u32(obj, HCOMM_A_LINK_PEER), hnl_u32(obj, HCOMM_A_LINK_ID),
	    paint(hnl_enum(obj, HCOMM_A_LINK_STATE)));
	return 0;
}

static int state_route(const struct hnl_obj *obj, void *arg)
{
	(void)arg;
	if (out_mode.json) {
		json_begin(NULL, '{');
		json_str("event", "route-now");
		json_u64("node", hnl_u32(obj, HCOMM_A_ROUTE_NODE));
		json_u64("peer", hnl_u32(obj, HCOMM_A_ROUTE_ACTIVE_PEER));
		json_u64("link", hnl_u32(obj, HCOMM_A_ROUTE_ACTIVE_LINK));
		json_end('}');
		json_line();
		return 0;
	}
	say("route-now node %u: peer %u link %u\n",
	    hnl_u32(obj, HCOMM_A_ROUTE_NODE),
	    hnl_u32(obj, HCOMM_A_ROUTE_ACTIVE_PEER),
	    hnl_u32(obj, HCOMM_A_ROUTE_ACTIVE_LINK));
	return 0;
}

static int on_lost(void *arg)
{
	const int *topics = arg;
	int err = 0;

	if (out_mode.json) {
		json_begin(NULL, '{');
		json_str("event", "events-lost");
		json_end('}');
		json_line();
	}
	say("events were lost\n");
	if (*topics & TOPIC_LINK)
		err = hnl_dump(HCOMM_CMD_LINK_GET, state_link, NULL);
	if (!err && *topics & TOPIC_ROUTE)
		err = hnl_dump(HCOMM_CMD_ROUTE_GET, state_route, NULL);
	fflush(stdout);
	return err;
}

int do_monitor(struct words *w)
{
	const char *what = word_next(w);
	int topics, err;

	if (!what || !strcmp(what, "all"))
		topics = TOPIC_LINK | TOPIC_ROUTE | TOPIC_PEER | TOPIC_SYSTEM;
	else if (!strcmp(what, "link"))
		topics = TOPIC_LINK;
	else if (!strcmp(what, "route"))
		topics = TOPIC_ROUTE;
	else if (!strcmp(what, "peer"))
		topics = TOPIC_PEER;
	else if (!strcmp(what, "help"))
		topics = 0;
	else
		return syntax("monitor: \"%s\" is none of all, link, route, peer",
			      what);
	if (!topics) {
		fputs(usage, stdout);
		return 0;
	}
	err = word_end(w);
	if (!err)
		err = hnl_open();
	if (err)
		return err;
	/* One object on each line, also with -p. */
	out_mode.pretty = false;
	return hnl_listen(on_event, on_lost, &topics);
}
