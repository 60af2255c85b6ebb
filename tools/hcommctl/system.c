// SPDX-License-Identifier: GPL-2.0
#include "ctl.h"

#include <inttypes.h>
#include <string.h>

static const char usage[] =
	"Usage: hcommctl system [ show ]\n"
	"       hcommctl system set [ node NODE ] [ heartbeat-intv TIME ]\n"
	"                [ retry-timeout TIME ] [ session-timeout TIME ]\n"
	"                [ sndbuf SIZE ] [ rcvbuf SIZE ] [ tx-queue-size PACKETS ]\n"
	"                [ loss-threshold LOSS ] [ holddown TIME ]\n"
	"                [ max-links N ] [ max-sessions N ] [ max-lanes N ]\n"
	"                [ port PORT ]\n"
	"where  TIME := N[ms|s|m]   SIZE := N[K|M|G]   LOSS := N{%|ppm}\n";

/* What can be set, in the order in which it is shown. */
const int system_settings[] = {
	HCOMM_A_SYSTEM_NODE, HCOMM_A_SYSTEM_HEARTBEAT_INTV,
	HCOMM_A_SYSTEM_RETRY_TIMEOUT, HCOMM_A_SYSTEM_SESSION_TIMEOUT,
	HCOMM_A_SYSTEM_SNDBUF, HCOMM_A_SYSTEM_RCVBUF,
	HCOMM_A_SYSTEM_TX_QUEUE_SIZE, HCOMM_A_SYSTEM_LOSS_THRESHOLD,
	HCOMM_A_SYSTEM_HOLDDOWN, HCOMM_A_SYSTEM_MAX_LINKS,
	HCOMM_A_SYSTEM_MAX_SESSIONS, HCOMM_A_SYSTEM_MAX_LANES,
	HCOMM_A_SYSTEM_PORT, 0
};

static const char *key_of(int attr)
{
	return attrs_system.attr[attr].name;
}

static int get_setting(int attr, const char *text, uint32_t *val)
{
	const char *key = key_of(attr);

	switch (attr) {
	case HCOMM_A_SYSTEM_HEARTBEAT_INTV:
	case HCOMM_A_SYSTEM_RETRY_TIMEOUT:
	case HCOMM_A_SYSTEM_SESSION_TIMEOUT:
	case HCOMM_A_SYSTEM_HOLDDOWN:
		return get_ms(key, text, val);
	case HCOMM_A_SYSTEM_SNDBUF:
	case HCOMM_A_SYSTEM_RCVBUF:
		return get_bytes(key, text, val);
	case HCOMM_A_SYSTEM_LOSS_THRESHOLD:
		return get_ppm(key, text, val);
	case HCOMM_A_SYSTEM_NODE:
		return get_u32(key, text, 1, UINT32_MAX, val);
	case HCOMM_A_SYSTEM_PORT:
		return get_u32(key, text, 1, 65535, val);
	}
	return get_u32(key, text, 0, UINT32_MAX, val);
}

static const char *setting_text(int attr, uint32_t val)
{
	static char buf[16];

	switch (attr) {
	case HCOMM_A_SYSTEM_HEARTBEAT_INTV:
	case HCOMM_A_SYSTEM_RETRY_TIMEOUT:
	case HCOMM_A_SYSTEM_SESSION_TIMEOUT:
	case HCOMM_A_SYSTEM_HOLDDOWN:
		return ms_text(val);
	case HCOMM_A_SYSTEM_LOSS_THRESHOLD:
		return ppm_text(val);
	}
	snprintf(buf, sizeof(buf), "%u", val);
	return buf;
}

/* The words after "system set". */
int system_parse(struct words *w, struct system_spec *spec)
{
	const char *key, *text;
	const int *attr;
	int err;

	if (!w->nr)
		return syntax("\"system set\" needs a setting");
	while ((key = word_next(w))) {
		for (attr = system_settings; *attr; attr++)
			if (!strcmp(key, key_of(*attr)))
				break;
		if (!*attr)
			return syntax("\"%s\" is not a setting", key);
		if (HAS(spec, *attr))
			return syntax("%s is given twice", key);
		err = word_value(w, key, &text);
		if (!err)
			err = get_setting(*attr, text, &spec->val[*attr]);
		if (err)
			return err;
		SET_HAS(spec, *attr);
	}
	return 0;
}

int system_apply(const struct system_spec *spec)
{
	struct nl_msg *msg = hnl_request(HCOMM_CMD_SYSTEM_SET, 0);
	const int *attr;

	for (attr = system_settings; *attr; attr++)
		if (HAS(spec, *attr))
			hnl_put_u32(msg, *attr, spec->val[*attr]);
	return hnl_call(msg, NULL, NULL);
}

/* As system_parse() reads it. */
void system_print(const struct system_spec *spec, FILE *out)
{
	const int *attr;

	fputs("system set", out);
	for (attr = system_settings; *attr; attr++)
		if (HAS(spec, *attr))
			fprintf(out, " %s %s", key_of(*attr),
				setting_text(*attr, spec->val[*attr]));
}

static int print_system(const struct hnl_obj *obj, void *arg)
{
	const int *attr;
	int col = 0;

	(void)arg;
	if (out_mode.json) {
		hnl_json(obj);
		return 0;
	}
	say("node %u version %s family %u incarnation %016" PRIx64,
	    hnl_u32(obj, HCOMM_A_SYSTEM_NODE),
	    hnl_str(obj, HCOMM_A_SYSTEM_VERSION),
	    hnl_u32(obj, HCOMM_A_SYSTEM_FAMILY),
	    hnl_u64(obj, HCOMM_A_SYSTEM_INCARNATION));
	for (attr = system_settings + 1; *attr; attr++) {
		if (col++ % 3 == 0)
			say_more();
		else
			say(" ");
		say("%s %s", key_of(*attr),
		    setting_text(*attr, hnl_u32(obj, *attr)));
	}
	say(" max-msg %u", hnl_u32(obj, HCOMM_A_SYSTEM_MAX_MSG));
	if (ctl_opt.stats)
		say_counters(obj, HCOMM_A_SYSTEM_COUNTERS);
	say_end();
	return 0;
}

static int system_show(struct words *w)
{
	int err = word_end(w);

	if (!err)
		err = hnl_open();
	if (err)
		return err;
	return show_one(hnl_request(HCOMM_CMD_SYSTEM_GET, 0), print_system,
			NULL);
}

static int system_set(struct words *w)
{
	struct system_spec spec = {};
	int err;

	err = system_parse(w, &spec);
	if (!err)
		err = hnl_open();
	return err ? err : system_apply(&spec);
}

int do_system(struct words *w)
{
	static const struct verb verbs[] = {
		{ "show", system_show }, { "list", system_show },
		{ "set", system_set }, {}
	};

	return run_verb(w, "system", verbs, usage);
}
