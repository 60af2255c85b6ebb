/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CTL_H
#define CTL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <hcomm/netlink.h>

#include "nl.h"
#include "out.h"

/**
 * struct ctl_opt - options before the object, but for those of printing
 * @stats: -s, how often
 * @details: -d
 * @timestamp: -t
 * @force: -f
 */
struct ctl_opt {
	int stats;
	bool details;
	bool timestamp;
	bool force;
};

extern struct ctl_opt ctl_opt;

/* words.c: the words of a command. What a function refuses it explains. */

struct words {
	int nr;
	char **word;
};

struct verb {
	const char *name;
	int (*run)(struct words *w);
};

int syntax(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *word_peek(const struct words *w);
const char *word_next(struct words *w);
bool word_take(struct words *w, const char *key);
int word_value(struct words *w, const char *key, const char **val);
int word_end(const struct words *w);
int run_verb(struct words *w, const char *object, const struct verb *verbs,
	     const char *usage);

int get_u32(const char *key, const char *text, uint32_t low, uint32_t high,
	    uint32_t *val);
int get_ms(const char *key, const char *text, uint32_t *val);
int get_bytes(const char *key, const char *text, uint32_t *val);
int get_ppm(const char *key, const char *text, uint32_t *val);
int get_name(const char *key, const char *text, char val[HCOMM_NAME_LEN]);
int get_enum(const char *key, const char *text, const struct attr_names *names,
	     uint32_t *val);
int get_node(struct words *w, const char *key, uint32_t *node);

const char *ms_text(uint64_t ms);
const char *ppm_text(uint32_t ppm);

/* split.c: lines of files into words */

/**
 * struct lines - a file that is read a command at a time
 * @in: file
 * @file: its name
 * @nr: number of the line where the command begins
 * @end: number of the line read last
 */
struct lines {
	FILE *in;
	const char *file;
	unsigned int nr;
	unsigned int end;
	char *buf;
	size_t size;
	char **word;
	int max;
};

int lines_open(struct lines *l, const char *file);
int lines_next(struct lines *l, struct words *w);
void lines_close(struct lines *l);

/* Counters and lists that several objects have. */
void say_counters(const struct hnl_obj *obj, int attr);
int show(uint8_t cmd, hnl_fn fn, void *arg);
int show_one(struct nl_msg *msg, hnl_fn fn, void *arg);

/* Objects and their specifications, as commands and files have them. */

/**
 * struct system_spec - settings
 * @has: bit of each attribute that is given
 * @val: by attribute
 */
struct system_spec {
	uint32_t has;
	uint32_t val[HCOMM_A_SYSTEM_MAX + 1];
};

struct peer_spec {
	uint32_t node;
	char name[HCOMM_NAME_LEN];
};

struct ip {
	int len;	/* 0, 4 or 16 */
	uint8_t addr[16];
};

/**
 * struct link_spec - a link that is wanted, or what of it is to change
 * @has: bit of each attribute that is given
 */
struct link_spec {
	uint64_t has;
	uint32_t peer;
	uint32_t id;
	char name[HCOMM_NAME_LEN];
	uint32_t transport;
	struct ip local;
	struct ip remote;
	uint32_t local_port;
	uint32_t remote_port;
	uint32_t ifindex;
	uint32_t metric;
	uint32_t admin;
	uint32_t gso;
	uint32_t loss_ppm;
};

struct route_spec {
	uint32_t node;
	uint32_t pin;
	bool manual;	/* made by "route add" */
};

#define HAS(spec, attr)		((spec)->has >> (attr) & 1)
#define SET_HAS(spec, attr)	((spec)->has |= 1ULL << (attr))

int do_system(struct words *w);
int system_parse(struct words *w, struct system_spec *spec);
int system_apply(const struct system_spec *spec);
void system_print(const struct system_spec *spec, FILE *out);
extern const int system_settings[];	/* ends with 0 */

int do_peer(struct words *w);
int peer_parse(struct words *w, struct peer_spec *spec);
int peer_apply(uint8_t cmd, const struct peer_spec *spec);

int do_link(struct words *w);
int link_parse(struct words *w, struct link_spec *spec);
int link_apply(uint8_t cmd, const struct link_spec *spec);
int link_parse_settings(struct words *w, struct link_spec *spec);
void link_print(const struct link_spec *spec, FILE *out);

int do_route(struct words *w);
int route_parse(struct words *w, struct route_spec *spec);
int route_apply(uint8_t cmd, const struct route_spec *spec);

int do_socket(struct words *w);
int do_monitor(struct words *w);
int do_ping(struct words *w);
int do_showconf(struct words *w);
int do_setconf(struct words *w);
int do_syncconf(struct words *w);

#endif /* CTL_H */
