// SPDX-License-Identifier: GPL-2.0
/* hcomm_stat: counters of hcomm, as what they grew by. */
#include "stat.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <hcomm/netlink.h>

#include "nl.h"
#include "out.h"

static struct {
	bool absolute, zeros, reset, keep, links;
	double interval;
	unsigned long count;
	char **pattern;
} opt;

static double seconds;		/* since the last look, 0: not known */
static bool silent;		/* the first look of several */

static const char usage[] =
	"Usage: hcomm_stat [ OPTIONS ] [ PATTERN... ]\n"
	"  -l, --links         counters of each link instead of those of the node\n"
	"  -a, --absolute      values, not what they grew by since the last time\n"
	"  -z, --zeros         also those that are 0\n"
	"  -r, --reset         forget the last time first\n"
	"  -s, --noupdate      do not remember this time\n"
	"  -i, --interval SEC  look again and again, with rates\n"
	"  -c, --count N       that often\n"
	"  -j, --json          JSON\n"
	"  -p, --pretty        JSON on many lines\n"
	"  -n, --netns NAME    in this network namespace\n"
	"  -V, --version  -h, --help\n"
	"PATTERN chooses counters by name; * and ? have their usual meaning.\n";

static bool wanted(const char *name)
{
	char **p;

	for (p = opt.pattern; *p; p++)
		if (!fnmatch(*p, name, 0))
			return true;
	return !*opt.pattern;
}

static unsigned long netns(void)
{
	struct stat st;

	return stat("/proc/self/ns/net", &st) ? 0 : st.st_ino;
}

static void print_counter(const struct counter *c)
{
	uint64_t val = opt.absolute ? c->value : counter_delta(c);

	if (!wanted(c->name) || (!val && !opt.zeros))
		return;
	json_u64(c->name, val);
	if (seconds)
		say("%-24s %20" PRIu64 " %16.1f/s\n", c->name, val,
		    counter_delta(c) / seconds);
	else
		say("%-24s %20" PRIu64 "\n", c->name, val);
}

static void print_rate(const struct counter *c)
{
	if (wanted(c->name) && (counter_delta(c) || opt.zeros))
		json_f64(c->name, counter_delta(c) / seconds);
}

/* Each of the counters in a nest; in the order of the kernel. */
static void for_nest(const struct nlattr *nest, const char *object,
		     void (*fn)(const struct counter *c))
{
	struct hnl_obj one;
	struct nlattr *nla;
	struct counter *c;
	int rem;

	if (!nest)
		return;
	nla_for_each_nested(nla, nest, rem) {
		if (nla_type(nla) != HCOMM_A_COUNTERS_COUNTER)
			continue;
		hnl_nest(&one, &attrs_counter, nla);
		c = counter_get(object, hnl_str(&one, HCOMM_A_COUNTER_NAME));
		c->value = hnl_u64(&one, HCOMM_A_COUNTER_VALUE);
		c->seen = true;
		if (!silent)
			fn(c);
	}
}

static void print_counters(const struct nlattr *nest, const char *object)
{
	json_begin("counters", '{');
	for_nest(nest, object, print_counter);
	json_end('}');
	if (!seconds || !out_mode.json)
		return;
	json_begin("rates", '{');
	for_nest(nest, object, print_rate);
	json_end('}');
}

static int print_node(const struct hnl_obj *obj, void *arg)
{
	char object[256];

	(void)arg;
	snprintf(object, sizeof(object), "%lu:node:%" PRIx64, netns(),
		 hnl_u64(obj, HCOMM_A_SYSTEM_INCARNATION));
	if (silent) {
		for_nest(obj->tb[HCOMM_A_SYSTEM_COUNTERS], object, NULL);
		return 0;
	}
	say("#node %u\n", hnl_u32(obj, HCOMM_A_SYSTEM_NODE));
	json_begin(NULL, '{');
	json_u64("node", hnl_u32(obj, HCOMM_A_SYSTEM_NODE));
	print_counters(obj->tb[HCOMM_A_SYSTEM_COUNTERS], object);
	json_end('}');
	return 0;
}

/* The longest window says most. A loss of few packets says little: *@sent. */
static double loss_percent(const struct hnl_obj *obj, uint32_t *sent)
{
	double percent = 0;
	struct hnl_obj l;
	struct nlattr *nla;
	int rem;

	*sent = 0;
	hnl_for_each(obj, HCOMM_A_LINK_LOSS, nla, rem) {
		hnl_nest(&l, &attrs_loss, nla);
		*sent = hnl_u32(&l, HCOMM_A_LOSS_SENT);
		if (*sent)
			percent = 100.0 * hnl_u32(&l, HCOMM_A_LOSS_LOST) /
				  *sent;
	}
	return percent;
}

/* What was sent to each peer, over all its links. */
static struct peer_bytes {
	uint32_t peer;
	uint64_t bytes;
} *peers;
static int nr_peers;

static struct peer_bytes *find_peer(uint32_t peer)
{
	struct peer_bytes *p;
	int i;

	for (i = 0; i < nr_peers; i++)
		if (peers[i].peer == peer)
			return &peers[i];
	p = realloc(peers, (nr_peers + 1) * sizeof(*p));
	if (!p) {
		fputs("Out of memory.\n", stderr);
		exit(EXIT_KERNEL);
	}
	peers = p;
	p = &peers[nr_peers++];
	p->peer = peer;
	p->bytes = 0;
	return p;
}

static void link_object(const struct hnl_obj *obj, char object[256])
{
	snprintf(object, 256, "%lu:link:%u:%u", netns(),
		 hnl_u32(obj, HCOMM_A_LINK_PEER),
		 hnl_u32(obj, HCOMM_A_LINK_ID));
}

/* Bytes that went over a link since the last look, or ever. */
static uint64_t link_bytes(const struct hnl_obj *obj)
{
	const struct nlattr *nest = obj->tb[HCOMM_A_LINK_COUNTERS];
	struct hnl_obj one;
	struct nlattr *nla;
	struct counter *c;
	char object[256];
	int rem;

	if (!nest)
		return 0;
	nla_for_each_nested(nla, nest, rem) {
		if (nla_type(nla) != HCOMM_A_COUNTERS_COUNTER)
			continue;
		hnl_nest(&one, &attrs_counter, nla);
		if (strcmp(hnl_str(&one, HCOMM_A_COUNTER_NAME), "tx_bytes"))
			continue;
		link_object(obj, object);
		c = counter_get(object, "tx_bytes");
		c->value = hnl_u64(&one, HCOMM_A_COUNTER_VALUE);
		return opt.absolute ? c->value : counter_delta(c);
	}
	return 0;
}

static int add_bytes(const struct hnl_obj *obj, void *arg)
{
	(void)arg;
	find_peer(hnl_u32(obj, HCOMM_A_LINK_PEER))->bytes += link_bytes(obj);
	return 0;
}

/* The sum is of a moment earlier. */
static double share_percent(const struct hnl_obj *obj)
{
	uint64_t all = find_peer(hnl_u32(obj, HCOMM_A_LINK_PEER))->bytes;
	uint64_t own = link_bytes(obj);

	if (!own)
		return 0;
	return own >= all ? 100 : 100.0 * own / all;
}

static void print_link_head(const struct hnl_obj *obj)
{
	const char *reason = hnl_str(obj, HCOMM_A_LINK_REASON);
	double loss, share = share_percent(obj);
	uint32_t sent;

	loss = loss_percent(obj, &sent);
	say("#link %s peer %u id %u type %s state %s",
	    hnl_str(obj, HCOMM_A_LINK_NAME), hnl_u32(obj, HCOMM_A_LINK_PEER),
	    hnl_u32(obj, HCOMM_A_LINK_ID),
	    hnl_enum(obj, HCOMM_A_LINK_TRANSPORT),
	    hnl_enum(obj, HCOMM_A_LINK_STATE));
	if (*reason)
		say(" (%s)", reason);
	say(" for %.1fs rtt %.3fms loss %.3f%% of %u share %.1f%% carries %u failovers %u failbacks %u\n",
	    hnl_u64(obj, HCOMM_A_LINK_SINCE) / 1000.0,
	    hnl_u32(obj, HCOMM_A_LINK_RTT_SMOOTHED) / 1000.0,
	    loss, sent, share,
	    hnl_u32(obj, HCOMM_A_LINK_CARRIES),
	    hnl_u32(obj, HCOMM_A_LINK_FAILOVERS),
	    hnl_u32(obj, HCOMM_A_LINK_FAILBACKS));
	json_str("link", hnl_str(obj, HCOMM_A_LINK_NAME));
	json_u64("peer", hnl_u32(obj, HCOMM_A_LINK_PEER));
	json_u64("id", hnl_u32(obj, HCOMM_A_LINK_ID));
	json_str("type", hnl_enum(obj, HCOMM_A_LINK_TRANSPORT));
	json_str("state", hnl_enum(obj, HCOMM_A_LINK_STATE));
	json_str("reason", reason);
	json_u64("since_ms", hnl_u64(obj, HCOMM_A_LINK_SINCE));
	json_u64("rtt_us", hnl_u32(obj, HCOMM_A_LINK_RTT_SMOOTHED));
	json_f64("loss_percent", loss);
	json_u64("loss_packets", sent);
	json_f64("share_percent", share);
	json_u64("carries", hnl_u32(obj, HCOMM_A_LINK_CARRIES));
	json_u64("failovers", hnl_u32(obj, HCOMM_A_LINK_FAILOVERS));
	json_u64("failbacks", hnl_u32(obj, HCOMM_A_LINK_FAILBACKS));
}

static int print_link(const struct hnl_obj *obj, void *arg)
{
	char object[256];

	(void)arg;
	link_object(obj, object);
	if (silent) {
		for_nest(obj->tb[HCOMM_A_LINK_COUNTERS], object, NULL);
		return 0;
	}
	json_begin(NULL, '{');
	print_link_head(obj);
	print_counters(obj->tb[HCOMM_A_LINK_COUNTERS], object);
	json_end('}');
	return 0;
}

static int look(void)
{
	int err = 0;

	nr_peers = 0;
	if (opt.links && !silent)
		err = hnl_dump(HCOMM_CMD_LINK_GET, add_bytes, NULL);
	if (!silent)
		json_begin(NULL, '[');
	if (!err && opt.links)
		err = hnl_dump(HCOMM_CMD_LINK_GET, print_link, NULL);
	else if (!err)
		err = hnl_call(hnl_request(HCOMM_CMD_SYSTEM_GET, 0),
			       print_node, NULL);
	if (!silent) {
		json_end(']');
		json_line();
	}
	return err;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int repeat(void)
{
	struct timespec pause = {
		(time_t)opt.interval,
		(opt.interval - (time_t)opt.interval) * 1e9
	};
	unsigned long i;
	double last, t;
	int err;

	silent = true;
	err = look();
	silent = false;
	last = now();
	for (i = 0; !err && (!opt.count || i < opt.count); i++) {
		counters_next();
		nanosleep(&pause, NULL);
		t = now();
		seconds = t - last;
		last = t;
		err = look();
		if (fflush(stdout))
			return EXIT_KERNEL;
	}
	return err;
}

static int once(void)
{
	int err;

	if (opt.absolute && !opt.reset)
		return look();
	if (history_open())
		return EXIT_SYNTAX;
	history_read();
	if (opt.reset)
		counters_forget();
	err = look();
	if (!err && !opt.keep && history_write())
		err = EXIT_SYNTAX;
	history_close();
	return err;
}

static int enter_netns(const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s%s",
		 strchr(name, '/') ? "" : "/run/netns/", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		fprintf(stderr, "Cannot enter network namespace \"%s\": %s\n",
			name, strerror(errno));
		return EXIT_SYNTAX;
	}
	close(fd);
	return 0;
}

static int wrong(void)
{
	fputs(usage, stderr);
	return EXIT_SYNTAX;
}

/* Return: -1 to go on, else the status to end with. */
static int options(int argc, char **argv)
{
	static const struct option names[] = {
		{ "links", 0, NULL, 'l' }, { "absolute", 0, NULL, 'a' },
		{ "zeros", 0, NULL, 'z' }, { "reset", 0, NULL, 'r' },
		{ "noupdate", 0, NULL, 's' }, { "interval", 1, NULL, 'i' },
		{ "count", 1, NULL, 'c' }, { "json", 0, NULL, 'j' },
		{ "pretty", 0, NULL, 'p' }, { "netns", 1, NULL, 'n' },
		{ "version", 0, NULL, 'V' }, { "help", 0, NULL, 'h' }, {}
	};
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "lazrsi:c:jpn:Vh", names,
				NULL)) != -1) {
		switch (c) {
		case 'l':
			opt.links = true;
			break;
		case 'a':
			opt.absolute = true;
			break;
		case 'z':
			opt.zeros = true;
			break;
		case 'r':
			opt.reset = true;
			break;
		case 's':
			opt.keep = true;
			break;
		case 'j':
			out_mode.json = true;
			break;
		case 'p':
			out_mode.pretty = true;
			break;
		case 'i':
			opt.interval = strtod(optarg, &end);
			if (*end || !(opt.interval >= 0.01 &&
				      opt.interval <= 86400)) {
				fprintf(stderr, "Error: interval: \"%s\" is not 0.01 to 86400 seconds.\n",
					optarg);
				return EXIT_SYNTAX;
			}
			break;
		case 'c':
			errno = 0;
			opt.count = strtoul(optarg, &end, 10);
			if (*optarg < '0' || *optarg > '9' || *end || errno ||
			    !opt.count) {
				fprintf(stderr, "Error: count: \"%s\" is not a number above 0.\n",
					optarg);
				return EXIT_SYNTAX;
			}
			break;
		case 'n':
			if (enter_netns(optarg))
				return EXIT_SYNTAX;
			break;
		case 'V':
			printf("hcomm_stat, version %s\n", VERSION);
			return 0;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			return wrong();
		}
	}
	if (opt.count && !opt.interval) {
		fputs("Error: -c needs -i.\n", stderr);
		return EXIT_SYNTAX;
	}
	opt.pattern = argv + optind;
	return -1;
}

int main(int argc, char **argv)
{
	int err = options(argc, argv);

	if (err >= 0)
		return err;
	err = hnl_open();
	if (!err)
		err = opt.interval ? repeat() : once();
	hnl_close();
	if (out_flush() && !err) {
		fprintf(stderr, "Cannot write: %s\n", strerror(errno));
		err = EXIT_KERNEL;
	}
	return err;
}
