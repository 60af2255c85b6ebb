// SPDX-License-Identifier: GPL-2.0
#include "nl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/genetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include <hcomm/netlink.h>

#include "out.h"

int hnl_quiet;

static struct nl_sock *sock;
static int family;

/* The request that is waited for, to name the attribute that is at fault. */
static const struct nlmsghdr *asked;

struct call {
	hnl_fn fn;
	void *arg;
	bool done;
	bool interrupted;
	int status;
};

static void no_memory(void)
{
	fputs("Out of memory.\n", stderr);
	exit(EXIT_KERNEL);
}

static int complain(const char *what, int err)
{
	if (!hnl_quiet)
		fprintf(stderr, "%s: %s\n", what, nl_geterror(err));
	return EXIT_KERNEL;
}

/**
 * hnl_open - find the module
 *
 * Return: 0 or EXIT_KERNEL; it said why.
 */
int hnl_open(void)
{
	int err, one = 1;

	if (sock)
		return 0;
	sock = nl_socket_alloc();
	if (!sock)
		no_memory();
	err = genl_connect(sock);
	if (err < 0) {
		complain("Cannot open a netlink socket", err);
		hnl_close();
		return EXIT_KERNEL;
	}
	family = genl_ctrl_resolve(sock, HCOMM_GENL_NAME);
	if (family < 0) {
		if (!hnl_quiet)
			fputs("hcomm module not loaded? (genl family \""
			      HCOMM_GENL_NAME "\" not found)\n", stderr);
		hnl_close();
		return EXIT_KERNEL;
	}
	/* Older kernels lack some of them; the answers are only shorter. */
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_EXT_ACK, &one,
		   sizeof(one));
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_CAP_ACK, &one,
		   sizeof(one));
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_GET_STRICT_CHK,
		   &one, sizeof(one));
	nl_socket_set_buffer_size(sock, 1 << 20, 0);
	return 0;
}

void hnl_close(void)
{
	nl_socket_free(sock);
	sock = NULL;
}

struct nl_msg *hnl_request(uint8_t cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0,
				 NLM_F_REQUEST | flags, cmd,
				 HCOMM_GENL_VERSION))
		no_memory();
	return msg;
}

void hnl_put_bin(struct nl_msg *msg, int attr, const void *val, int len)
{
	if (nla_put(msg, attr, len, val))
		no_memory();
}

void hnl_put_u16(struct nl_msg *msg, int attr, uint16_t val)
{
	hnl_put_bin(msg, attr, &val, sizeof(val));
}

void hnl_put_u32(struct nl_msg *msg, int attr, uint32_t val)
{
	hnl_put_bin(msg, attr, &val, sizeof(val));
}

void hnl_put_str(struct nl_msg *msg, int attr, const char *val)
{
	hnl_put_bin(msg, attr, val, strlen(val) + 1);
}

static const char *attr_name(const struct attr_set *set, int attr)
{
	if (!set || attr < 1 || attr > set->max)
		return NULL;
	return set->attr[attr].name;
}

static const struct attr_set *asked_set(void)
{
	const struct genlmsghdr *ghdr = nlmsg_data(asked);

	return ghdr->cmd <= HCOMM_CMD_MAX ? attrs_of_cmd[ghdr->cmd] : NULL;
}

/* Name of the attribute at this offset of the request. */
static const char *attr_at(uint32_t off)
{
	const struct nlattr *nla;

	if (!asked || off + NLA_HDRLEN > asked->nlmsg_len)
		return NULL;
	nla = (const struct nlattr *)((const char *)asked + off);
	return attr_name(asked_set(), nla_type(nla));
}

/* What the kernel would have taken, if it says so. */
static void print_policy(const struct nlattr *nla)
{
	struct nlattr *tb[NL_POLICY_TYPE_ATTR_MAX + 1];

	if (nla_parse_nested(tb, NL_POLICY_TYPE_ATTR_MAX,
			     (struct nlattr *)nla, NULL))
		return;
	if (tb[NL_POLICY_TYPE_ATTR_MIN_VALUE_U] &&
	    tb[NL_POLICY_TYPE_ATTR_MAX_VALUE_U])
		fprintf(stderr, ", it must be %" PRIu64 " to %" PRIu64,
			nla_get_u64(tb[NL_POLICY_TYPE_ATTR_MIN_VALUE_U]),
			nla_get_u64(tb[NL_POLICY_TYPE_ATTR_MAX_VALUE_U]));
	else if (tb[NL_POLICY_TYPE_ATTR_MAX_LENGTH])
		fprintf(stderr, ", it has %u bytes at most",
			nla_get_u32(tb[NL_POLICY_TYPE_ATTR_MAX_LENGTH]));
}

/*
 * Prints the text of the kernel with the attribute that it is about.
 * @head: the attributes that follow a message of type NLMSG_ERROR or DONE
 */
static void print_extack(int error, const struct nlattr *head, int len)
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1] = {};
	const char *text, *name = NULL;

	if (hnl_quiet)
		return;
	if (len > 0)
		nla_parse(tb, NLMSGERR_ATTR_MAX, (struct nlattr *)head, len,
			  NULL);
	text = tb[NLMSGERR_ATTR_MSG] ? nla_data(tb[NLMSGERR_ATTR_MSG]) : NULL;
	if (tb[NLMSGERR_ATTR_OFFS])
		name = attr_at(nla_get_u32(tb[NLMSGERR_ATTR_OFFS]));
	if (!error) {
		if (text)
			fprintf(stderr, "Warning: %s.\n", text);
		return;
	}
	if (tb[NLMSGERR_ATTR_MISS_TYPE] && asked) {
		name = attr_name(asked_set(),
				 nla_get_u32(tb[NLMSGERR_ATTR_MISS_TYPE]));
		if (!text)
			text = "Missing required attribute";
	}
	fprintf(stderr, "Error: %s", text ? text : strerror(error));
	if (name)
		fprintf(stderr, " (%s)", name);
	if (tb[NLMSGERR_ATTR_POLICY])
		print_policy(tb[NLMSGERR_ATTR_POLICY]);
	fputs(".\n", stderr);
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)
				     ((const char *)e - NLMSG_HDRLEN);
	int off = sizeof(*e);
	struct call *c = arg;

	(void)from;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		off += e->msg.nlmsg_len - sizeof(e->msg);
	off = NLMSG_ALIGN(off);
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) ||
	    off > (int)(nlh->nlmsg_len - NLMSG_HDRLEN))
		off = nlh->nlmsg_len - NLMSG_HDRLEN;
	print_extack(-e->error, (const struct nlattr *)((char *)e + off),
		     nlh->nlmsg_len - NLMSG_HDRLEN - off);
	c->done = true;
	c->status = EXIT_KERNEL;
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *nlh = nlmsg_hdr(msg);
	const struct nlmsgerr *e = nlmsg_data(nlh);
	int off = NLMSG_ALIGN(sizeof(*e));
	struct call *c = arg;

	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS &&
	    nlh->nlmsg_flags & NLM_F_CAPPED && nlmsg_datalen(nlh) > off)
		print_extack(0, (const struct nlattr *)((char *)e + off),
			     nlmsg_datalen(nlh) - off);
	c->done = true;
	return NL_STOP;
}

/* The end of a dump has the error of the dump in it. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct call *c = arg;
	int error = 0;

	if (nlmsg_datalen(nlh) >= (int)sizeof(error))
		memcpy(&error, nlmsg_data(nlh), sizeof(error));
	if (error < 0) {
		const char *tlv = (const char *)nlmsg_data(nlh) + sizeof(error);
		int len = nlmsg_datalen(nlh) - sizeof(error);

		print_extack(-error, (const struct nlattr *)tlv,
			     nlh->nlmsg_flags & NLM_F_ACK_TLVS ? len : 0);
		c->status = EXIT_KERNEL;
	}
	c->done = true;
	return NL_STOP;
}

static int on_interrupted(struct nl_msg *msg, void *arg)
{
	struct call *c = arg;

	(void)msg;
	c->interrupted = true;
	return NL_OK;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	const struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct genlmsghdr *ghdr = nlmsg_data(nlh);
	struct call *c = arg;
	struct hnl_obj obj;

	if (nlh->nlmsg_type != family || !genlmsg_valid_hdr(nlmsg_hdr(msg), 0) ||
	    ghdr->cmd > HCOMM_CMD_MAX || !attrs_of_cmd[ghdr->cmd])
		return NL_SKIP;
	hnl_parse(&obj, attrs_of_cmd[ghdr->cmd], genlmsg_attrdata(ghdr, 0),
		  genlmsg_attrlen(ghdr, 0));
	if (c->fn && !c->status)
		c->status = c->fn(&obj, c->arg);
	return NL_OK;
}

/* Events are no answers: they have no sequence number. */
static int any_seq(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

static struct nl_cb *callbacks(struct call *c)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);

	if (!cb)
		no_memory();
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, c);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, c);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, c);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupted, c);
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, c);
	return cb;
}

/**
 * hnl_call - ask and wait for the whole answer
 * @msg: request; it is freed
 * @fn: for each object of the answer, may be NULL
 * @arg: for @fn
 *
 * Return: 0, what @fn returned, or EXIT_KERNEL; it said why.
 */
int hnl_call(struct nl_msg *msg, hnl_fn fn, void *arg)
{
	struct call c = { .fn = fn, .arg = arg };
	struct nl_cb *cb = callbacks(&c);
	int err;

	if (!(nlmsg_hdr(msg)->nlmsg_flags & NLM_F_DUMP))
		nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_ACK;
	asked = nlmsg_hdr(msg);
	err = nl_send_auto(sock, msg);
	while (err >= 0 && !c.done)
		err = nl_recvmsgs(sock, cb);
	/* Said already, or told by the callbacks above. */
	if (err < 0 && !c.done && err != -NLE_DUMP_INTR)
		c.status = complain("Cannot talk to the kernel", err);
	if (c.interrupted && !hnl_quiet)
		fputs("Dump was interrupted and may be inconsistent.\n",
		      stderr);
	asked = NULL;
	nl_cb_put(cb);
	nlmsg_free(msg);
	return c.status;
}

int hnl_dump(uint8_t cmd, hnl_fn fn, void *arg)
{
	return hnl_call(hnl_request(cmd, NLM_F_DUMP), fn, arg);
}

/**
 * hnl_listen - hand out events until @fn or @lost wants no more
 * @fn: for each event
 * @lost: events were lost
 * @arg: for both
 *
 * It has a socket of its own, so that the functions can ask in between.
 */
int hnl_listen(hnl_fn fn, int (*lost)(void *arg), void *arg)
{
	struct call c = { .fn = fn, .arg = arg };
	struct nl_sock *ev = nl_socket_alloc();
	struct nl_cb *cb = callbacks(&c);
	int err;

	if (!ev)
		no_memory();
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, any_seq, NULL);
	err = genl_connect(ev);
	if (!err)
		err = genl_ctrl_resolve_grp(ev, HCOMM_GENL_NAME,
					    HCOMM_GENL_EVENTS);
	if (err >= 0)
		err = nl_socket_add_membership(ev, err);
	if (err < 0) {
		c.status = complain("Cannot listen to events", err);
		goto out;
	}
	nl_socket_set_buffer_size(ev, 4 << 20, 0);
	while (!c.status) {
		err = nl_recvmsgs(ev, cb);
		/* ENOBUFS; libnl has one code for both. */
		if (err == -NLE_NOMEM || err == -NLE_MSG_OVERFLOW)
			c.status = lost(arg);
		else if (err < 0 && err != -NLE_INTR && err != -NLE_AGAIN)
			c.status = complain("Cannot receive events", err);
	}
out:
	nl_cb_put(cb);
	nl_socket_free(ev);
	return c.status;
}

void hnl_parse(struct hnl_obj *obj, const struct attr_set *set,
	       struct nlattr *head, int len)
{
	struct nlattr *nla;
	int rem;

	memset(obj, 0, sizeof(*obj));
	obj->set = set;
	obj->head = head;
	obj->len = len;
	nla_for_each_attr(nla, head, len, rem)
		if (nla_type(nla) <= set->max && nla_type(nla) < HNL_ATTR_MAX)
			obj->tb[nla_type(nla)] = nla;
}

void hnl_nest(struct hnl_obj *obj, const struct attr_set *set,
	      const struct nlattr *nla)
{
	hnl_parse(obj, set, nla_data(nla), nla_len(nla));
}

bool hnl_has(const struct hnl_obj *obj, int attr)
{
	return obj->tb[attr];
}

static uint64_t number(const struct nlattr *nla)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;
	uint8_t v8;

	switch (nla ? nla_len(nla) : 0) {
	case sizeof(v8):
		memcpy(&v8, nla_data(nla), sizeof(v8));
		return v8;
	case sizeof(v16):
		memcpy(&v16, nla_data(nla), sizeof(v16));
		return v16;
	case sizeof(v32):
		memcpy(&v32, nla_data(nla), sizeof(v32));
		return v32;
	case sizeof(v64):
		memcpy(&v64, nla_data(nla), sizeof(v64));
		return v64;
	}
	return 0;
}

uint64_t hnl_u64(const struct hnl_obj *obj, int attr)
{
	return number(obj->tb[attr]);
}

uint32_t hnl_u32(const struct hnl_obj *obj, int attr)
{
	return number(obj->tb[attr]);
}

static const char *string(const struct nlattr *nla)
{
	if (!nla || !nla_len(nla) || !memchr(nla_data(nla), 0, nla_len(nla)))
		return "";
	return nla_data(nla);
}

const char *hnl_str(const struct hnl_obj *obj, int attr)
{
	return string(obj->tb[attr]);
}

static const char *enum_name(const struct attr_names *names, uint64_t val)
{
	return val < names->nr ? names->name[val] : "unknown";
}

const char *hnl_enum(const struct hnl_obj *obj, int attr)
{
	return enum_name(obj->set->attr[attr].values, hnl_u64(obj, attr));
}

static const char *address(const struct nlattr *nla)
{
	static char buf[2][INET6_ADDRSTRLEN];
	static int which;
	int af = nla && nla_len(nla) == 16 ? AF_INET6 : AF_INET;

	if (!nla || (nla_len(nla) != 4 && nla_len(nla) != 16))
		return "";
	which = !which;
	return inet_ntop(af, nla_data(nla), buf[which], sizeof(buf[which]));
}

/* Return: text of an address, good until the call after the next. */
const char *hnl_addr(const struct hnl_obj *obj, int attr)
{
	return address(obj->tb[attr]);
}

static void json_value(const char *key, const struct attr_info *info,
		       const struct nlattr *nla);

/* A list of names and values is an object in JSON. */
static void json_counters(const char *key, const struct nlattr *nest)
{
	struct hnl_obj counter;
	struct nlattr *nla;
	int rem;

	json_begin(key, '{');
	nla_for_each_nested(nla, nest, rem) {
		if (nla_type(nla) != HCOMM_A_COUNTERS_COUNTER)
			continue;
		hnl_nest(&counter, &attrs_counter, nla);
		json_u64(hnl_str(&counter, HCOMM_A_COUNTER_NAME),
			 hnl_u64(&counter, HCOMM_A_COUNTER_VALUE));
	}
	json_end('}');
}

static void json_several(const struct hnl_obj *obj, int attr)
{
	const struct attr_info *info = &obj->set->attr[attr];
	struct nlattr *nla;
	int rem;

	json_begin(info->name, '[');
	hnl_for_each(obj, attr, nla, rem)
		json_value(NULL, info, nla);
	json_end(']');
}

static void json_attrs(const struct hnl_obj *obj)
{
	const struct attr_info *info;
	int i;

	for (i = 1; i <= obj->set->max; i++) {
		info = &obj->set->attr[i];
		if (!obj->tb[i])
			continue;
		if (info->multi)
			json_several(obj, i);
		else
			json_value(info->name, info, obj->tb[i]);
	}
}

static void json_value(const char *key, const struct attr_info *info,
		       const struct nlattr *nla)
{
	struct hnl_obj nest;

	switch (info->kind) {
	case ATTR_FLAG:
		json_bool(key, true);
		break;
	case ATTR_U8:
		json_bool(key, number(nla));
		break;
	case ATTR_U16:
	case ATTR_U32:
	case ATTR_U64:
		if (info->values)
			json_str(key, enum_name(info->values, number(nla)));
		else
			json_u64(key, number(nla));
		break;
	case ATTR_STRING:
		json_str(key, string(nla));
		break;
	case ATTR_BINARY:
		json_str(key, address(nla));
		break;
	case ATTR_NEST:
		if (info->nest == &attrs_counters) {
			json_counters(key, nla);
			break;
		}
		hnl_nest(&nest, info->nest, nla);
		json_begin(key, '{');
		json_attrs(&nest);
		json_end('}');
		break;
	case ATTR_UNUSED:
	case ATTR_PAD:
		break;
	}
}

/* All attributes that came, in the order of the specification. */
void hnl_json(const struct hnl_obj *obj)
{
	json_begin(NULL, '{');
	json_attrs(obj);
	json_end('}');
}
