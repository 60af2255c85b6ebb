// SPDX-License-Identifier: GPL-2.0
#include "out.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct out_mode out_mode;

static unsigned int depth;
static bool first = true;	/* nothing stands before at this depth */

void say(const char *fmt, ...)
{
	va_list ap;

	if (out_mode.json)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
}

void say_more(void)
{
	say(out_mode.oneline ? "\\    " : "\n    ");
}

void say_end(void)
{
	say("\n");
}

const char *paint(const char *state)
{
	static const struct {
		const char *state;
		const char *code;
	} colors[] = {
		{ "up", "32" }, { "down", "31" }, { "unreachable", "31" },
		{ "degraded", "33" }, { "probing", "33" },
	};
	static char buf[4][32];
	static unsigned int which;
	unsigned int i;

	for (i = 0; out_mode.color && i < sizeof(colors) / sizeof(colors[0]); i++) {
		if (strcmp(colors[i].state, state))
			continue;
		which = (which + 1) % 4;
		snprintf(buf[which], sizeof(buf[which]), "\033[%sm%s\033[0m",
			 colors[i].code, state);
		return buf[which];
	}
	return state;
}

static void indent(void)
{
	unsigned int i;

	if (!out_mode.pretty)
		return;
	putchar('\n');
	for (i = 0; i < depth; i++)
		fputs("    ", stdout);
}

/* Length of a character, 0 if it is not UTF-8. */
static unsigned int utf8_len(const unsigned char *s)
{
	unsigned int i, n = *s < 0x80 ? 1 : *s >= 0xf0 && *s < 0xf5 ? 4 :
			    *s >= 0xe0 && *s < 0xf0 ? 3 :
			    *s >= 0xc2 && *s < 0xe0 ? 2 : 0;

	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static void quoted(const char *str, char dash)
{
	const unsigned char *s = (const unsigned char *)str;
	unsigned int n;

	putchar('"');
	for (; *s; s += n ? n : 1) {
		n = utf8_len(s);
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			printf("\\u%04x", *s);
		else if (*s == '-')
			putchar(dash);
		else if (n)
			fwrite(s, 1, n, stdout);
		else
			fputs("\\ufffd", stdout);
	}
	putchar('"');
}

static void start(const char *key)
{
	if (!first)
		putchar(',');
	if (depth)
		indent();
	first = false;
	if (key) {
		quoted(key, '_');
		fputs(out_mode.pretty ? ": " : ":", stdout);
	}
}

void json_begin(const char *key, char bracket)
{
	if (!out_mode.json)
		return;
	start(key);
	putchar(bracket);
	depth++;
	first = true;
}

void json_end(char bracket)
{
	if (!out_mode.json)
		return;
	depth--;
	if (!first)
		indent();
	putchar(bracket);
	first = false;
}

void json_str(const char *key, const char *val)
{
	if (!out_mode.json)
		return;
	start(key);
	quoted(val, '-');
}

void json_u64(const char *key, uint64_t val)
{
	if (!out_mode.json)
		return;
	start(key);
	printf("%" PRIu64, val);
}

void json_f64(const char *key, double val)
{
	if (!out_mode.json)
		return;
	start(key);
	if (isfinite(val))
		printf("%.6g", val);
	else
		fputs("null", stdout);
}

void json_bool(const char *key, bool val)
{
	if (!out_mode.json)
		return;
	start(key);
	fputs(val ? "true" : "false", stdout);
}

void json_line(void)
{
	if (!out_mode.json)
		return;
	putchar('\n');
	fflush(stdout);
	first = true;
}

/* Return: 0, or -1 when not everything could be written. */
int out_flush(void)
{
	return fflush(stdout) || ferror(stdout) ? -1 : 0;
}
