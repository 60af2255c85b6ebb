// SPDX-License-Identifier: GPL-2.0
/* hcommctl: configure hcomm and look at it. */
#include "ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ctl_opt ctl_opt;

static const char *batch;

static const char usage[] =
	"Usage: hcommctl [ OPTIONS ] OBJECT { COMMAND | help }\n"
	"       hcommctl [ -f[orce] ] -b[atch] FILE\n"
	"where  OBJECT := { system | peer | link | route | socket | monitor |\n"
	"                   ping | showconf | setconf | syncconf }\n"
	"       OPTIONS := { -V[ersion] | -h[elp] | -j[son] | -p[retty] |\n"
	"                    -s[tatistics] | -d[etails] | -o[neline] |\n"
	"                    -t[imestamp] | -n[etns] NAME | -b[atch] FILE |\n"
	"                    -f[orce] | -c[olor][={auto|always|never}] }\n";

static int do_help(struct words *w)
{
	(void)w;
	fputs(usage, stdout);
	return 0;
}

/* Their order is fixed, so that a prefix keeps its meaning. */
static const struct verb objects[] = {
	{ "system", do_system },
	{ "peer", do_peer },
	{ "link", do_link },
	{ "route", do_route },
	{ "socket", do_socket },
	{ "monitor", do_monitor },
	{ "ping", do_ping },
	{ "showconf", do_showconf },
	{ "setconf", do_setconf },
	{ "syncconf", do_syncconf },
	{ "help", do_help },
	{}
};

static int run(struct words *w)
{
	const char *name = word_next(w);
	const struct verb *o;

	for (o = objects; o->name; o++)
		if (*name && !strncmp(o->name, name, strlen(name)))
			return o->run(w);
	fprintf(stderr, "Object \"%s\" is unknown, try \"hcommctl help\".\n",
		name);
	return EXIT_SYNTAX;
}

static int run_batch(const char *file)
{
	int err, status = 0;
	struct lines l;
	struct words w;

	err = lines_open(&l, file);
	if (err)
		return err;
	for (;;) {
		err = lines_next(&l, &w);
		if (!err && !w.nr)
			break;
		if (!err)
			err = run(&w);
		fflush(stdout);
		if (!err)
			continue;
		fprintf(stderr, "Command failed %s:%u\n", l.file, l.nr);
		status = EXIT_SYNTAX;
		if (!ctl_opt.force)
			break;
	}
	lines_close(&l);
	return status;
}

static int enter_netns(const char *name)
{
	char path[4096];
	int fd;

	if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "Cannot open network namespace \"%s\": %s\n",
			name, strerror(errno));
		return EXIT_SYNTAX;
	}
	if (setns(fd, CLONE_NEWNET)) {
		fprintf(stderr, "Cannot enter network namespace \"%s\": %s\n",
			name, strerror(errno));
		close(fd);
		return EXIT_KERNEL;
	}
	close(fd);
	return 0;
}

/* Never against the user's NO_COLOR, unless it is said for this once. */
static int color(const char *when)
{
	const char *no = getenv("NO_COLOR");

	if (!strcmp(when, "always"))
		out_mode.color = true;
	else if (!strcmp(when, "never"))
		out_mode.color = false;
	else if (!strcmp(when, "auto"))
		out_mode.color = isatty(STDOUT_FILENO) && (!no || !*no);
	else
		return syntax("color: \"%s\" is none of auto, always, never",
			      when);
	return 0;
}

/* -c=WHEN, -color=WHEN. Return: -1 if it is not that. */
static int color_option(const char *word)
{
	size_t len = strcspn(word, "=");

	if (word[len] != '=' || !len || strncmp(word, "color", len))
		return -1;
	return color(word + len + 1);
}

/* Return: 0; -1: the program ends with *@status. */
static int option(char letter, struct words *w, int *status)
{
	const char *val = NULL;

	if (letter == 'n' || letter == 'b') {
		val = word_next(w);
		if (!val) {
			*status = syntax("option -%c needs a value", letter);
			return -1;
		}
	}
	switch (letter) {
	case 'V':
		printf("hcommctl, version %s\n", VERSION);
		*status = 0;
		return -1;
	case 'h':
		*status = do_help(w);
		return -1;
	case 'j':
		out_mode.json = true;
		break;
	case 'p':
		out_mode.pretty = true;
		break;
	case 's':
		ctl_opt.stats++;
		break;
	case 'd':
		ctl_opt.details = true;
		break;
	case 'o':
		out_mode.oneline = true;
		break;
	case 'c':
		color("auto");
		break;
	case 't':
		ctl_opt.timestamp = true;
		break;
	case 'f':
		ctl_opt.force = true;
		break;
	case 'b':
		batch = val;
		break;
	case 'n':
		*status = enter_netns(val);
		return *status ? -1 : 0;
	}
	return 0;
}

static char long_option(const char *name)
{
	static const char *const names[] = {
		"Version", "help", "json", "pretty", "statistics", "stats",
		"details", "oneline", "timestamp", "netns", "batch", "force",
		"color", NULL
	};
	int i;

	if (!strcmp(name, "version"))
		return 'V';
	for (i = 0; names[i]; i++)
		if (*name && !strncmp(names[i], name, strlen(name)))
			return *names[i];
	return 0;
}

/* -json, --json, -js, -j -s; "-" and "--" end them. */
static int options(struct words *w, int *status)
{
	const char *word, *s;
	char letter;

	while (w->nr && w->word[0][0] == '-' && w->word[0][1]) {
		word = word_next(w);
		if (!strcmp(word, "--"))
			break;
		*status = color_option(word + 1 + (word[1] == '-'));
		if (*status > 0)
			return -1;
		if (!*status)
			continue;
		*status = 0;
		letter = long_option(word + 1 + (word[1] == '-'));
		if (letter) {
			if (option(letter, w, status))
				return -1;
			continue;
		}
		if (strspn(word + 1, "Vhjpsdotfnbc") != strlen(word + 1)) {
			fprintf(stderr, "Option \"%s\" is unknown, try \"hcommctl -help\".\n",
				word);
			*status = EXIT_SYNTAX;
			return -1;
		}
		for (s = word + 1; *s; s++)
			if (option(*s, w, status))
				return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct words w = { argc - 1, argv + 1 };
	int status = 0;

	if (!options(&w, &status)) {
		if (batch) {
			status = word_end(&w);
			if (!status)
				status = run_batch(batch);
		} else if (w.nr) {
			status = run(&w);
		} else {
			fputs(usage, stderr);
			status = EXIT_SYNTAX;
		}
	}
	hnl_close();
	if (out_flush() && !status) {
		fprintf(stderr, "Cannot write: %s\n", strerror(errno));
		status = EXIT_KERNEL;
	}
	return status;
}
