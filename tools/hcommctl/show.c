// SPDX-License-Identifier: GPL-2.0
/* What showing has in common. */
#include "ctl.h"

#include <inttypes.h>

/* Counters under an object, several on a line. */
void say_counters(const struct hnl_obj *obj, int attr)
{
	struct hnl_obj counter;
	struct nlattr *nla;
	int rem, col = 0;

	if (!hnl_has(obj, attr))
		return;
	nla_for_each_nested(nla, obj->tb[attr], rem) {
		if (nla_type(nla) != HCOMM_A_COUNTERS_COUNTER)
			continue;
		hnl_nest(&counter, &attrs_counter, nla);
		if (col++ % 4 == 0)
			say_more();
		else
			say(" ");
		say("%s %" PRIu64, hnl_str(&counter, HCOMM_A_COUNTER_NAME),
		    hnl_u64(&counter, HCOMM_A_COUNTER_VALUE));
	}
}

/* All objects of a dump as one document. */
int show(uint8_t cmd, hnl_fn fn, void *arg)
{
	return show_one(hnl_request(cmd, NLM_F_DUMP), fn, arg);
}

int show_one(struct nl_msg *msg, hnl_fn fn, void *arg)
{
	int err;

	json_begin(NULL, '[');
	err = hnl_call(msg, fn, arg);
	json_end(']');
	json_line();
	return err;
}
