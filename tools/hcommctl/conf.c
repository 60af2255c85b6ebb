// SPDX-License-Identifier: GPL-2.0
#include "conf.h"

#include <stdlib.h>

static const char usage[] =
	"Usage: hcommctl showconf\n"
	"       hcommctl setconf FILE\n"
	"       hcommctl syncconf FILE\n"
	"FILE, or - for standard input, has lines as showconf prints them:\n"
	"       system set ...   peer add ...   link add ...\n"
	"       route set ...    route add ...\n"
	"setconf deletes all peers and makes those of the file; syncconf changes\n"
	"only what differs.\n";

/* A line that is put together. */
struct line {
	FILE *out;
	char *buf;
	size_t size;
};

static FILE *begin(struct line *l)
{
	l->out = open_memstream(&l->buf, &l->size);
	if (!l->out) {
		fputs("Out of memory.\n", stderr);
		exit(EXIT_KERNEL);
	}
	return l->out;
}

/* In JSON a command is a string in an object. */
static void end(struct line *l)
{
	fclose(l->out);
	if (out_mode.json) {
		json_begin(NULL, '{');
		json_str("command", l->buf);
		json_end('}');
	} else {
		puts(l->buf);
	}
	free(l->buf);
}

static void print_routes(const struct conf *c, bool manual)
{
	struct line l;
	FILE *out;
	int i;

	for (i = 0; i < c->nr_routes; i++) {
		if (c->route[i].manual != manual ||
		    (!manual && !c->route[i].pin))
			continue;
		out = begin(&l);
		fprintf(out, "route %s %u", manual ? "add" : "set",
			c->route[i].node);
		if (c->route[i].pin)
			fprintf(out, " pin-link %u", c->route[i].pin);
		end(&l);
	}
}

static void print(const struct conf *c)
{
	struct line l;
	FILE *out;
	int i;

	system_print(&c->system, begin(&l));
	end(&l);
	for (i = 0; i < c->nr_peers; i++) {
		out = begin(&l);
		fprintf(out, "peer add %u", c->peer[i].node);
		if (c->peer[i].name[0])
			fprintf(out, " name %s", c->peer[i].name);
		end(&l);
	}
	print_routes(c, true);
	for (i = 0; i < c->nr_links; i++) {
		link_print(&c->link[i], begin(&l));
		end(&l);
	}
	print_routes(c, false);
}

int do_showconf(struct words *w)
{
	struct conf now = {};
	int err;

	if (word_take(w, "help")) {
		fputs(usage, stdout);
		return 0;
	}
	err = word_end(w);
	if (!err)
		err = hnl_open();
	if (!err)
		err = conf_read(&now);
	if (!err) {
		json_begin(NULL, '[');
		print(&now);
		json_end(']');
		json_line();
	}
	conf_free(&now);
	return err;
}

static int change(struct words *w, const char *verb, bool sync)
{
	struct conf now = {}, want = {};
	const char *file;
	int err;

	if (word_take(w, "help")) {
		fputs(usage, stdout);
		return 0;
	}
	err = word_value(w, verb, &file);
	if (!err)
		err = word_end(w);
	/* What is wrong with the file is found without the module, too. */
	if (!err)
		err = conf_parse(&want, file, NULL);
	if (!err)
		err = hnl_open();
	if (!err)
		err = conf_read(&now);
	if (!err)
		err = conf_parse(&want, NULL, &now);
	if (!err)
		err = conf_apply(&now, &want, sync);
	conf_free(&now);
	conf_free(&want);
	return err;
}

int do_setconf(struct words *w)
{
	return change(w, "setconf", false);
}

int do_syncconf(struct words *w)
{
	return change(w, "syncconf", true);
}
