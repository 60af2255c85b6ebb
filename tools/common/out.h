/* SPDX-License-Identifier: GPL-2.0 */
/* What goes to standard output: text for people, or one JSON document. */
#ifndef OUT_H
#define OUT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct out_mode - options of printing
 * @json: JSON instead of text
 * @pretty: JSON on many lines
 * @oneline: each object of the text on one line
 * @color: states in the text are coloured
 */
struct out_mode {
	bool json;
	bool pretty;
	bool oneline;
	bool color;
};

extern struct out_mode out_mode;

/* Text. Nothing is printed in JSON mode. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_more(void);	/* the object goes on in the next line */
void say_end(void);	/* and ends */

/* The name of a state, coloured if that is wanted; good for 3 more calls. */
const char *paint(const char *state);

/*
 * JSON. @key is NULL in an array; '-' in it becomes '_'. Names that are
 * values stay as the commands have them.
 */
void json_begin(const char *key, char bracket);	/* '{' or '[' */
void json_end(char bracket);			/* '}' or ']' */
void json_str(const char *key, const char *val);
void json_u64(const char *key, uint64_t val);
void json_f64(const char *key, double val);
void json_bool(const char *key, bool val);
void json_line(void);	/* a document is complete */

int out_flush(void);

#endif /* OUT_H */
