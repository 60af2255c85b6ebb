/* SPDX-License-Identifier: GPL-2.0 */
/* Requests to the module over generic netlink. */
#ifndef NL_H
#define NL_H

#include <stdint.h>
#include <netlink/msg.h>

#include "attrs.h"

enum tool_exit {
	EXIT_OK,
	EXIT_SYNTAX,	/* the command or a file is wrong */
	EXIT_KERNEL,	/* the kernel refused */
};

#define HNL_ATTR_MAX	64

/**
 * struct hnl_obj - one object that the module sent
 * @set: what its attributes are
 * @head: the attributes as they came
 * @len: their length
 * @tb: the last of each kind
 */
struct hnl_obj {
	const struct attr_set *set;
	struct nlattr *head;
	int len;
	struct nlattr *tb[HNL_ATTR_MAX];
};

/* What is done with each object of an answer; not 0 ends with that status. */
typedef int (*hnl_fn)(const struct hnl_obj *obj, void *arg);

extern int hnl_quiet;	/* errors are not printed */

int hnl_open(void);
void hnl_close(void);
struct nl_msg *hnl_request(uint8_t cmd, int flags);
void hnl_put_u16(struct nl_msg *msg, int attr, uint16_t val);
void hnl_put_u32(struct nl_msg *msg, int attr, uint32_t val);
void hnl_put_str(struct nl_msg *msg, int attr, const char *val);
void hnl_put_bin(struct nl_msg *msg, int attr, const void *val, int len);
int hnl_call(struct nl_msg *msg, hnl_fn fn, void *arg);
int hnl_dump(uint8_t cmd, hnl_fn fn, void *arg);
int hnl_listen(hnl_fn fn, int (*lost)(void *arg), void *arg);

void hnl_parse(struct hnl_obj *obj, const struct attr_set *set,
	       struct nlattr *head, int len);
void hnl_nest(struct hnl_obj *obj, const struct attr_set *set,
	      const struct nlattr *nla);
bool hnl_has(const struct hnl_obj *obj, int attr);
uint64_t hnl_u64(const struct hnl_obj *obj, int attr);
uint32_t hnl_u32(const struct hnl_obj *obj, int attr);
const char *hnl_str(const struct hnl_obj *obj, int attr);
const char *hnl_enum(const struct hnl_obj *obj, int attr);
const char *hnl_addr(const struct hnl_obj *obj, int attr);
void hnl_json(const struct hnl_obj *obj);

/* A nested attribute that may be there several times. */
#define hnl_for_each(obj, want, nla, rem)				\
	nla_for_each_attr(nla, (obj)->head, (obj)->len, rem)		\
		if (nla_type(nla) == (want))

#endif /* NL_H */
