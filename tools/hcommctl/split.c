// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of a file into words: '#' begins a comment, a backslash at the end
 * of a line joins it with the next, quotes keep spaces.
 */
#include "ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int lines_open(struct lines *l, const char *file)
{
	memset(l, 0, sizeof(*l));
	l->file = strcmp(file, "-") ? file : "standard input";
	l->in = strcmp(file, "-") ? fopen(file, "re") : stdin;
	if (l->in)
		return 0;
	fprintf(stderr, "Cannot open file \"%s\": %s\n", file,
		strerror(errno));
	return EXIT_SYNTAX;
}

void lines_close(struct lines *l)
{
	if (l->in && l->in != stdin)
		fclose(l->in);
	free(l->buf);
	free(l->word);
}

static int say_line(struct lines *l, const char *what)
{
	fprintf(stderr, "Error: %s:%u: %s.\n", l->file, l->nr, what);
	return EXIT_SYNTAX;
}

static void *grow(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p) {
		fputs("Out of memory.\n", stderr);
		exit(EXIT_KERNEL);
	}
	return p;
}

/* Reads a line with those that continue it; 1: a line, 0: the end. */
static int read_line(struct lines *l)
{
	size_t len = 0, part;
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	l->nr = l->end + 1;
	for (;;) {
		n = getline(&line, &size, l->in);
		if (n < 0)
			break;
		l->end++;
		if (memchr(line, 0, n)) {
			free(line);
			say_line(l, "there is a zero byte in it");
			return -1;
		}
		part = n;
		if (part && line[part - 1] == '\n')
			part--;
		if (part && line[part - 1] == '\r')
			part--;
		if (len + part + 2 > l->size) {
			l->size = 2 * (len + part) + 64;
			l->buf = grow(l->buf, l->size);
		}
		memcpy(l->buf + len, line, part);
		len += part;
		l->buf[len] = 0;
		if (!len || l->buf[len - 1] != '\\') {
			free(line);
			return 1;
		}
		l->buf[len - 1] = ' ';
	}
	free(line);
	if (ferror(l->in)) {
		say_line(l, strerror(errno));
		return -1;
	}
	return len ? 1 : 0;
}

static void add_word(struct lines *l, struct words *w, char *word)
{
	if (w->nr + 1 >= l->max) {
		l->max = 2 * l->max + 32;
		l->word = grow(l->word, l->max * sizeof(*l->word));
	}
	l->word[w->nr++] = word;
	l->word[w->nr] = NULL;
}

/* Splits the line in place; false: a quote has no end. */
static bool split(struct lines *l, struct words *w)
{
	char *s = l->buf, *to, quote;

	for (;;) {
		while (*s == ' ' || *s == '\t')
			s++;
		if (!*s || *s == '#')
			return true;
		add_word(l, w, s);
		quote = 0;
		for (to = s; *s; s++) {
			if (quote && *s == quote)
				quote = 0;
			else if (!quote && (*s == '"' || *s == '\''))
				quote = *s;
			else if (!quote && (*s == ' ' || *s == '\t'))
				break;
			else
				*to++ = *s;
		}
		if (quote)
			return false;
		if (*s)
			s++;
		*to = 0;
	}
}

/**
 * lines_next - the next line that is not empty
 * @l: file
 * @w: its words, good until the next call; none at the end of the file
 *
 * Return: 0 or EXIT_SYNTAX; it said why.
 */
int lines_next(struct lines *l, struct words *w)
{
	int more;

	do {
		w->nr = 0;
		more = read_line(l);
		if (more < 0)
			return EXIT_SYNTAX;
		if (more && !split(l, w))
			return say_line(l, "a quote has no end");
	} while (more && !w->nr);
	w->word = l->word;
	return 0;
}
