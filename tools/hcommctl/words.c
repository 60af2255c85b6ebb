// SPDX-License-Identifier: GPL-2.0
/* Words of a command, and what values they stand for. */
#include "ctl.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int syntax(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("Error: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputs(".\n", stderr);
	va_end(ap);
	return EXIT_SYNTAX;
}

const char *word_peek(const struct words *w)
{
	return w->nr ? w->word[0] : NULL;
}

const char *word_next(struct words *w)
{
	if (!w->nr)
		return NULL;
	w->nr--;
	return *w->word++;
}

bool word_take(struct words *w, const char *key)
{
	if (!w->nr || strcmp(w->word[0], key))
		return false;
	word_next(w);
	return true;
}

/* The value that follows @key. */
int word_value(struct words *w, const char *key, const char **val)
{
	*val = word_next(w);
	return *val ? 0 : syntax("\"%s\" needs a value", key);
}

int word_end(const struct words *w)
{
	return w->nr ? syntax("\"%s\" is not expected here", w->word[0]) : 0;
}

/**
 * run_verb - run what the next word says
 * @w: words; with none the first verb is meant
 * @object: for messages
 * @verbs: ends with a name that is NULL; a prefix means the first that fits
 * @usage: text
 */
int run_verb(struct words *w, const char *object, const struct verb *verbs,
	     const char *usage)
{
	const char *name = word_next(w);
	const struct verb *v;

	if (!name)
		return verbs->run(w);
	if (!strcmp(name, "help")) {
		fputs(usage, stdout);
		return 0;
	}
	for (v = verbs; v->name; v++)
		if (*name && !strncmp(v->name, name, strlen(name)))
			return v->run(w);
	fprintf(stderr,
		"Command \"%s\" is unknown, try \"hcommctl %s help\".\n", name,
		object);
	return EXIT_SYNTAX;
}

int get_u32(const char *key, const char *text, uint32_t low, uint32_t high,
	    uint32_t *val)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (*text < '0' || *text > '9' || *end)
		return syntax("%s: \"%s\" is not a number", key, text);
	if (errno || v < low || v > high)
		return syntax("%s: %s is not in the range %u to %u", key, text,
			      low, high);
	*val = v;
	return 0;
}

/*
 * A number with one of the units; the first is meant when there is none,
 * unless its name is empty and a unit is needed.
 */
struct unit {
	const char *name;
	double factor;
};

static int get_unit(const char *key, const char *text, const struct unit *unit,
		    double *val)
{
	const struct unit *u;
	char *end;

	if (*text < '0' || *text > '9')
		return syntax("%s: \"%s\" is not a number", key, text);
	*val = strtod(text, &end);
	for (u = unit; u->name; u++)
		if (!strcasecmp(end, u->name)) {
			*val *= u->factor;
			return 0;
		}
	return syntax("%s: \"%s\" has an unknown unit", key, text);
}

static int get_scaled(const char *key, const char *text,
		      const struct unit *unit, uint32_t *val)
{
	double v;
	int err = get_unit(key, text, unit, &v);

	if (err)
		return err;
	if (!(v <= UINT32_MAX))
		return syntax("%s: %s is too large", key, text);
	/* 15.541 s is a bit more or less than 15541 ms, as doubles go. */
	if (fabs(v - round(v)) > 1e-6)
		return syntax("%s: %s is not a whole number of %s", key, text,
			      unit[1].name);
	*val = round(v);
	return 0;
}

/* Time in ms: 250, 250ms, 2.5s, 1m. */
int get_ms(const char *key, const char *text, uint32_t *val)
{
	static const struct unit units[] = {
		{ "", 1 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 },
		{ "min", 60000 }, {}
	};

	return get_scaled(key, text, units, val);
}

int get_bytes(const char *key, const char *text, uint32_t *val)
{
	static const struct unit units[] = {
		{ "", 1 }, { "B", 1 }, { "K", 1 << 10 }, { "KiB", 1 << 10 },
		{ "M", 1 << 20 }, { "MiB", 1 << 20 }, { "G", 1 << 30 },
		{ "GiB", 1 << 30 }, {}
	};

	return get_scaled(key, text, units, val);
}

/* Loss: 1%, 0.05%, 500ppm. */
int get_ppm(const char *key, const char *text, uint32_t *val)
{
	static const struct unit units[] = {
		{ "%", 10000 }, { "ppm", 1 }, {}
	};
	double v;
	int err;

	err = get_unit(key, text, units, &v);
	if (err)
		return err;
	v = round(v);
	if (!(v >= 1 && v <= 1000000))
		return syntax("%s: %s is not in the range 0.0001%% to 100%%",
			      key, text);
	*val = v;
	return 0;
}

int get_name(const char *key, const char *text, char val[HCOMM_NAME_LEN])
{
	const char *s;

	if (!*text || strlen(text) >= HCOMM_NAME_LEN)
		return syntax("%s: \"%s\" has not 1 to %d characters", key,
			      text, HCOMM_NAME_LEN - 1);
	for (s = text; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f ||
		    strchr("\"'\\#", *s))
			return syntax("%s: \"%s\" has a space, quote, backslash, # or control character in it",
				      key, text);
	strcpy(val, text);
	return 0;
}

int get_enum(const char *key, const char *text, const struct attr_names *names,
	     uint32_t *val)
{
	unsigned int i;

	for (i = 0; i < names->nr; i++)
		if (!strcmp(text, names->name[i])) {
			*val = i;
			return 0;
		}
	fprintf(stderr, "Error: %s: \"%s\" is none of", key, text);
	for (i = 0; i < names->nr; i++)
		fprintf(stderr, "%s %s", i ? "," : "", names->name[i]);
	fputs(".\n", stderr);
	return EXIT_SYNTAX;
}

/* The number of a node, as the next word. */
int get_node(struct words *w, const char *key, uint32_t *node)
{
	const char *text;
	int err;

	err = word_value(w, key, &text);
	if (err)
		return err;
	return get_u32(key, text, 1, UINT32_MAX, node);
}

static char *buffer(void)
{
	static char buf[4][32];
	static int which;

	which = (which + 1) % 4;
	return buf[which];
}

/* As get_ms() reads it; good for four calls. */
const char *ms_text(uint64_t ms)
{
	char *buf = buffer();

	if (ms < 1000)
		snprintf(buf, 32, "%ums", (unsigned int)ms);
	else
		snprintf(buf, 32, "%.15gs", ms / 1000.0);
	return buf;
}

const char *ppm_text(uint32_t ppm)
{
	char *buf = buffer();

	snprintf(buf, 32, "%.10g%%", ppm / 10000.0);
	return buf;
}
