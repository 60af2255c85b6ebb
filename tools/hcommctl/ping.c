// SPDX-License-Identifier: GPL-2.0
#include "ctl.h"

#include <signal.h>
#include <string.h>
#include <time.h>

static const char usage[] =
	"Usage: hcommctl ping NODE [ link ID ] [ count N ] [ interval TIME ]\n"
	"                [ size BYTES ] [ timeout TIME ]\n"
	"where  TIME := N[ms|s|m]\n";

struct ping {
	uint32_t node, link, count, interval, size, timeout;
	uint32_t seq, answers;
	double min, max, sum;
};

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static int parse(struct words *w, struct ping *p)
{
	const char *key, *text;
	int err;

	err = get_node(w, "ping", &p->node);
	while (!err && (key = word_next(w))) {
		err = word_value(w, key, &text);
		if (err)
			break;
		if (!strcmp(key, "link"))
			err = get_u32(key, text, 1, 65535, &p->link);
		else if (!strcmp(key, "count"))
			err = get_u32(key, text, 1, UINT32_MAX, &p->count);
		else if (!strcmp(key, "interval"))
			err = get_ms(key, text, &p->interval);
		else if (!strcmp(key, "size"))
			err = get_bytes(key, text, &p->size);
		else if (!strcmp(key, "timeout"))
			err = get_ms(key, text, &p->timeout);
		else
			err = syntax("\"%s\" is not known here", key);
	}
	return err;
}

static int answer(const struct hnl_obj *obj, void *arg)
{
	double ms = hnl_u32(obj, HCOMM_A_PING_RTT_US) / 1000.0;
	struct ping *p = arg;

	if (!p->answers || ms < p->min)
		p->min = ms;
	if (!p->answers || ms > p->max)
		p->max = ms;
	p->sum += ms;
	p->answers++;
	if (out_mode.json) {
		hnl_json(obj);
		return 0;
	}
	say("answer from node %u over link %u: seq=%u time=%.3f ms\n",
	    hnl_u32(obj, HCOMM_A_PING_NODE), hnl_u32(obj, HCOMM_A_PING_LINK),
	    p->seq, ms);
	fflush(stdout);
	return 0;
}

static int ask(struct ping *p)
{
	struct nl_msg *msg = hnl_request(HCOMM_CMD_PING, 0);

	hnl_put_u32(msg, HCOMM_A_PING_NODE, p->node);
	if (p->link)
		hnl_put_u32(msg, HCOMM_A_PING_LINK, p->link);
	if (p->size != UINT32_MAX)
		hnl_put_u32(msg, HCOMM_A_PING_SIZE, p->size);
	if (p->timeout)
		hnl_put_u32(msg, HCOMM_A_PING_TIMEOUT, p->timeout);
	return hnl_call(msg, answer, p);
}

static void pause_ms(uint32_t ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	if (!stop)
		nanosleep(&t, NULL);
}

int do_ping(struct words *w)
{
	struct ping p = { .count = 4, .interval = 250, .size = UINT32_MAX };
	struct sigaction sa = { .sa_handler = on_signal }, old;
	int err;

	if (word_take(w, "help")) {
		fputs(usage, stdout);
		return 0;
	}
	err = parse(w, &p);
	if (!err)
		err = hnl_open();
	if (err)
		return err;
	stop = 0;
	sigaction(SIGINT, &sa, &old);
	json_begin(NULL, '[');
	for (p.seq = 1; p.seq <= p.count && !stop; p.seq++) {
		if (p.seq > 1)
			pause_ms(p.interval);
		ask(&p);
	}
	json_end(']');
	json_line();
	sigaction(SIGINT, &old, NULL);
	say("%u asked, %u answered", p.seq - 1, p.answers);
	if (p.answers)
		say(", min/avg/max %.3f/%.3f/%.3f ms", p.min,
		    p.sum / p.answers, p.max);
	say_end();
	return p.answers ? 0 : EXIT_KERNEL;
}
