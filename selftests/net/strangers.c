// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams that hcomm must drop and count, in both directions of both links
 * of nodes 1 and 2, while these have a session:
 *
 *	strangers [-k] COUNT RATE
 *
 * sends COUNT datagrams, RATE in a second: of strangers, and of somebody who
 * sees all packets, takes the configured addresses, but cannot know a packet
 * number that was not used before. With -k somebody who knows the tag of the
 * link and takes new numbers: such packets are only told from the peer's by
 * what they say. Documentation/wire-protocol.md says what is made here.
 *
 * The two nodes are network namespaces hn1 and hn2 of one guest.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/ip.h>
#include <linux/udp.h>

enum {
	PORT = 4790, NR_WAYS = 4, POOL = 64, ROOM = 2048, HEAD = 20,
	BATCH = 8, MAC_HEADERS = 28, FAR = 1 << 20,
};

enum { BEAT = 1, BEAT_REPLY = 2, LINK_ACK = 3, PROBE = 4, PROBE_REPLY = 5, SESSION = 0x40,
       HELLO = 0x41, HELLO_REPLY = 0x42, DATA = 0x43, LANE_ACK = 0x44, CREDIT = 0x45, RESET = 0x46 };

struct packet {
	unsigned int len;
	uint8_t b[ROOM];
};

/**
 * struct way - one direction of one link
 * @from: node
 * @to: node
 * @link: id
 * @src: address of @from
 * @dst: address of @to
 * @raw: sends with any source address
 * @udp: of @from, another port
 * @other: of @from, bound to the address and port of this link, but on the
 *	device of the other one
 * @cap: sees what leaves @from
 * @pool: packets that were seen lately; no heartbeats
 * @seen: how many were put there
 * @tag: as seen last
 * @pn: highest packet number that was seen
 * @fresh: packet numbers of -k
 * @session: link header, SESSION frame and its header, as seen last
 * @has_session: it is there
 */
struct way {
	unsigned int from;
	unsigned int to;
	unsigned int link;
	in_addr_t src;
	in_addr_t dst;
	int raw;
	int udp;
	int other;
	int cap;
	struct packet pool[POOL];
	unsigned int seen;
	uint32_t tag;
	uint64_t pn;
	uint64_t fresh;
	uint8_t session[HEAD + 4 + 28];
	bool has_session;
};

/**
 * struct kind - what is sent
 * @name: for people
 * @make: fills a packet; false: nothing was seen yet to make it from
 * @send: how; NULL: from the configured address. Returns how many packets of
 *	hcomm it was
 * @silent: some of them are answered, or repeat what was said
 */
struct kind {
	const char *name;
	bool (*make)(struct way *w, struct packet *p);
	unsigned int (*send)(struct way *w, struct packet *p);
	bool silent;
};

static struct way ways[NR_WAYS];
static uint64_t rng = 88172645463325252ull;
static uint16_t ip_id;

__attribute__((format(printf, 1, 2), noreturn))
static void fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("FAIL: ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	exit(1);
}

static uint64_t random64(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

static unsigned int below(unsigned int n)
{
	return random64() % n;
}

static void put(uint8_t *p, uint64_t v, int bytes)
{
	while (bytes--) {
		*p++ = v;
		v >>= 8;
	}
}

static uint64_t get(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static void add(struct packet *p, uint64_t v, int bytes)
{
	put(p->b + p->len, v, bytes);
	p->len += bytes;
}

static void add_frame(struct packet *p, uint8_t type, uint8_t flags,
		      uint16_t len)
{
	add(p, type, 1);
	add(p, flags, 1);
	add(p, len, 2);
}

static void set_tag(struct packet *p, uint32_t tag)
{
	put(p->b + 4, tag, 4);
}

static void set_pn(struct packet *p, uint64_t pn)
{
	put(p->b + 8, pn, 8);
}

static uint64_t new_pn(struct way *w)
{
	if (!w->fresh)
		w->fresh = w->pn + FAR;
	return w->fresh++;
}

/* --- What is seen --- */

/* A train is seen as one packet: the second header of it tells where it ends. */
static unsigned int first_len(const uint8_t *b, unsigned int len)
{
	unsigned int i;

	if (len <= 1500 - MAC_HEADERS)
		return len;
	for (i = 400; i + HEAD <= len && i < ROOM; i++)
		if (!memcmp(b + i, b, 8) &&
		    get(b + i + 8, 8) == get(b + 8, 8) + 1 &&
		    !memcmp(b + i + 16, b + 16, 4))
			return i;
	return 1500 - MAC_HEADERS;
}

static void see(struct way *w, const uint8_t *b, unsigned int len)
{
	struct packet *p;
	unsigned int at = HEAD;

	if (len < HEAD + 4 || b[0] != 1)
		return;
	if (b[HEAD] == BEAT || b[HEAD] == BEAT_REPLY)
		return;
	w->tag = get(b + 4, 4);
	if (get(b + 8, 8) > w->pn)
		w->pn = get(b + 8, 8);
	len = first_len(b, len);
	p = &w->pool[w->seen++ % POOL];
	p->len = len;
	memcpy(p->b, b, len);
	while (at + 4 + 28 <= len && b[at] != SESSION && b[at])
		at += 4 + get(b + at + 2, 2);
	if (at + 4 + 28 <= len && b[at] == SESSION) {
		memcpy(w->session, b, HEAD);
		memcpy(w->session + HEAD, b + at, 4 + 28);
		w->has_session = true;
	}
}

static void look(struct way *w)
{
	uint8_t b[ROOM + MAC_HEADERS];
	struct sockaddr_ll from;
	socklen_t size;
	int len, n = 0;

	/* Some are enough, and trains are long: only their begin is copied. */
	while (n++ < 8) {
		size = sizeof(from);
		len = recvfrom(w->cap, b, sizeof(b), MSG_DONTWAIT,
			       (void *)&from, &size);
		if (len < 0)
			break;
		if (from.sll_pkttype != PACKET_OUTGOING || len < MAC_HEADERS ||
		    b[9] != IPPROTO_UDP)
			continue;
		/* Not what this program sends itself. */
		if (b[8] != 64 || memcmp(b + 12, &w->src, 4) ||
		    b[20] << 8 != (PORT & 0xff00) || b[21] != (PORT & 0xff))
			continue;
		see(w, b + MAC_HEADERS, len - MAC_HEADERS);
	}
}

static bool any_seen(struct way *w, struct packet *p)
{
	unsigned int n = w->seen < POOL ? w->seen : POOL;

	if (!n)
		return false;
	*p = w->pool[below(n)];
	return true;
}

/* --- How it is sent --- */

/* A whole datagram, or with @more or @off a fragment of one. */
static void send_ip(struct way *w, in_addr_t src, uint16_t id, bool more,
		    unsigned int off, const void *data, unsigned int len)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = w->dst };
	uint8_t b[ROOM + 64] = {};
	struct iphdr *ip = (void *)b;

	ip->version = 4;
	ip->ihl = 5;
	ip->tot_len = htons(sizeof(*ip) + len);
	ip->id = htons(id);
	ip->frag_off = htons((more ? 0x2000 : 0) | off / 8);
	ip->ttl = 63;
	ip->protocol = IPPROTO_UDP;
	ip->saddr = src;
	ip->daddr = w->dst;
	memcpy(b + sizeof(*ip), data, len);
	while (sendto(w->raw, b, sizeof(*ip) + len, 0, (void *)&to,
		      sizeof(to)) < 0) {
		if (errno != ENOBUFS && errno != EAGAIN)
			fail("raw socket: %s", strerror(errno));
		usleep(1000);
	}
}

static unsigned int datagram(uint8_t *b, uint16_t sport, struct packet *p)
{
	struct udphdr *u = (void *)b;

	u->source = htons(sport);
	u->dest = htons(PORT);
	u->len = htons(sizeof(*u) + p->len);
	u->check = 0;
	memcpy(b + sizeof(*u), p->b, p->len);
	return sizeof(*u) + p->len;
}

static unsigned int send_as(struct way *w, in_addr_t src, uint16_t sport,
			    struct packet *p)
{
	uint8_t b[ROOM + 64];

	send_ip(w, src, ++ip_id, false, 0, b, datagram(b, sport, p));
	return 1;
}

static unsigned int send_peer(struct way *w, struct packet *p)
{
	return send_as(w, w->src, PORT, p);
}

static unsigned int send_stranger(struct way *w, struct packet *p)
{
	in_addr_t src = htonl((ntohl(w->src) & ~0xffu) | (16 + below(200)));

	return send_as(w, src, PORT, p);
}

static unsigned int send_port(struct way *w, struct packet *p)
{
	return send_as(w, w->src, 5000 + below(50000), p);
}

/* In three parts, the first or the last of them first; some never whole. */
static unsigned int send_fragments(struct way *w, struct packet *p)
{
	unsigned int len, part, i, nr = 3;
	bool whole = below(4);
	uint8_t b[ROOM + 64];

	len = datagram(b, PORT, p);
	part = (len / nr + 7) & ~7u;
	ip_id++;
	for (i = 0; i < nr; i++) {
		unsigned int k = ip_id & 1 ? i : nr - 1 - i, off = k * part;

		if (off >= len || (!whole && k == 1))
			continue;
		send_ip(w, w->src, ip_id, off + part < len, off, b + off,
			off + part < len ? part : len - off);
	}
	return whole || part >= len;
}

static unsigned int send_batch(int fd, struct sockaddr_in *to, struct packet *p)
{
	union {
		char buf[CMSG_SPACE(sizeof(uint16_t))];
		struct cmsghdr align;
	} c = {};
	struct iovec iov[BATCH];
	struct msghdr msg = {
		.msg_name = to, .msg_namelen = sizeof(*to),
		.msg_iov = iov, .msg_iovlen = BATCH,
		.msg_control = &c, .msg_controllen = sizeof(c),
	};
	uint16_t seg = p->len;
	int i;

	if (!seg)
		return 0;
	for (i = 0; i < BATCH; i++)
		iov[i] = (struct iovec){ p->b, p->len };
	c.align.cmsg_level = IPPROTO_UDP;
	c.align.cmsg_type = 103;	/* UDP_SEGMENT */
	c.align.cmsg_len = CMSG_LEN(sizeof(seg));
	memcpy(CMSG_DATA(&c.align), &seg, sizeof(seg));
	while (sendmsg(fd, &msg, 0) < 0) {
		if (errno != ENOBUFS && errno != EAGAIN)
			fail("batch of %u bytes: %s", seg, strerror(errno));
		usleep(1000);
	}
	return BATCH;
}

static unsigned int send_batch_stranger(struct way *w, struct packet *p)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(PORT),
				  .sin_addr.s_addr = w->dst };

	return send_batch(w->udp, &to, p);
}

/* From the address of this link to that of the other one. */
static unsigned int send_batch_peer(struct way *w, struct packet *p)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(PORT) };
	unsigned int i;

	for (i = 0; i < NR_WAYS; i++)
		if (ways[i].from == w->from && ways[i].link != w->link)
			to.sin_addr.s_addr = ways[i].dst;
	return send_batch(w->other, &to, p);
}

/* --- What is sent --- */

static bool make_random(struct way *w, struct packet *p)
{
	unsigned int i;

	(void)w;
	p->len = 1 + below(1400);
	for (i = 0; i < p->len; i++)
		p->b[i] = random64();
	return true;
}

static bool make_empty(struct way *w, struct packet *p)
{
	(void)w;
	p->len = 0;
	return true;
}

static bool make_truncated(struct way *w, struct packet *p)
{
	if (!any_seen(w, p))
		return false;
	p->len = 1 + below(p->len - 1);
	return true;
}

/* The packet number stays. */
static bool make_flipped(struct way *w, struct packet *p)
{
	unsigned int n = 1 + below(8), at;

	if (!any_seen(w, p))
		return false;
	while (n--) {
		do
			at = below(p->len);
		while (at >= 8 && at < 16);
		p->b[at] ^= 1 << below(8);
	}
	return true;
}

static bool make_wrong_tag(struct way *w, struct packet *p)
{
	uint32_t tag;

	if (!any_seen(w, p))
		return false;
	do
		tag = random64();
	while (tag == w->tag);
	set_tag(p, below(8) ? tag : 0);
	set_pn(p, below(2) ? w->pn + 1 + below(100) : random64());
	return true;
}

static bool make_wrong_head(struct way *w, struct packet *p)
{
	unsigned int i = below(4);

	if (!any_seen(w, p))
		return false;
	set_pn(p, w->pn + 1 + below(100));
	p->b[i] = i == 1 ? 0x40 : 2 + below(250);
	return true;
}

static bool make_wrong_link(struct way *w, struct packet *p)
{
	if (!any_seen(w, p))
		return false;
	set_pn(p, w->pn + 1 + below(100));
	put(p->b + 16, 3 + random64() % 100000, 4);
	return true;
}

/* Without a tag only these are looked at: of another life of the peer. */
static bool make_beat(struct way *w, struct packet *p)
{
	bool reply = below(2);

	memset(p->b, 0, HEAD);
	p->b[0] = 1;
	put(p->b + 16, w->link, 4);
	p->len = HEAD;
	set_pn(p, random64());
	add_frame(p, reply ? BEAT_REPLY : BEAT, 0, 40);
	add(p, w->from, 4);
	add(p, w->to, 4);
	add(p, random64(), 8);
	add(p, random64(), 4);
	add(p, below(2) ? random64() : w->tag, 4);
	add(p, random64() >> below(64), 8);
	add(p, random64(), 4);
	add(p, below(2) ? 200 : random64(), 4);
	return true;
}

/* -- of somebody who knows the tag -- */

static void begin(struct way *w, struct packet *p)
{
	memset(p->b, 0, HEAD);
	p->b[0] = 1;
	p->len = HEAD;
	set_tag(p, w->tag);
	set_pn(p, new_pn(w));
	put(p->b + 16, w->link, 4);
}

static bool begin_session(struct way *w, struct packet *p)
{
	if (!w->has_session)
		return false;
	memcpy(p->b, w->session, sizeof(w->session));
	p->len = sizeof(w->session);
	p->b[1] = 2;
	set_tag(p, w->tag);
	set_pn(p, new_pn(w));
	return true;
}

static void end_session(struct packet *p)
{
	put(p->b + HEAD + 2, p->len - HEAD - 4, 2);
}

/* A number that nobody used: everything of it was there before. */
static bool make_new_number(struct way *w, struct packet *p)
{
	if (!any_seen(w, p))
		return false;
	set_pn(p, below(2) ? new_pn(w) : get(p->b + 8, 8) ^ 1ull << below(64));
	return true;
}

static bool make_wrong_inc(struct way *w, struct packet *p)
{
	if (!begin_session(w, p))
		return false;
	put(p->b + HEAD + 4 + 12 + 8 * below(2), random64(), 8);
	add_frame(p, LANE_ACK, 0, 16);
	add(p, 1, 4);
	add(p, 0, 4);
	add(p, 1, 8);
	end_session(p);
	return true;
}

static bool make_wrong_node(struct way *w, struct packet *p)
{
	if (!begin_session(w, p))
		return false;
	put(p->b + HEAD + 4 + 4 * below(2), 3 + below(1000), 4);
	add_frame(p, CREDIT, 0, 24);
	p->len += 24;
	end_session(p);
	return true;
}

/* Packets that were never sent, ranges that are larger than the space. */
static bool make_link_ack(struct way *w, struct packet *p)
{
	uint64_t ends[] = { UINT64_MAX, 1ull << 63, w->pn + FAR * 4ull, 0, 1 };
	unsigned int nr = below(4) ? 1 + below(16) : below(65536), i;

	begin(w, p);
	add_frame(p, LINK_ACK, 0, 16 + 8 * (nr > 16 ? 16 : nr));
	add(p, ends[below(5)], 8);
	add(p, random64(), 4);
	add(p, nr, 2);
	add(p, 0, 2);
	for (i = 0; i < nr && i < 16; i++) {
		add(p, below(2) ? random64() : 0, 4);
		add(p, below(2) ? random64() : UINT32_MAX, 4);
	}
	return true;
}

static bool make_lane_ack(struct way *w, struct packet *p)
{
	unsigned int nr = below(17), i;

	if (!begin_session(w, p))
		return false;
	add_frame(p, LANE_ACK, below(2), 16 + 8 * nr);
	add(p, below(2) ? 0xfffffff0 : 1000000 + below(1000), 4);
	add(p, nr, 1);
	add(p, 0, 3);
	add(p, random64() >> below(64), 8);
	for (i = 0; i < nr; i++) {
		add(p, random64(), 4);
		add(p, random64(), 4);
	}
	end_session(p);
	return true;
}

static bool make_control(struct way *w, struct packet *p)
{
	if (!begin_session(w, p))
		return false;
	switch (below(3)) {
	case 0:
		add_frame(p, CREDIT, 0, 24);
		add(p, 1000000 + below(1000), 4);
		add(p, 0, 4);
		add(p, random64(), 8);
		add(p, random64(), 8);
		break;
	case 1:
		add_frame(p, RESET, below(2), 16);
		add(p, 1000000 + below(1000), 4);
		add(p, below(65536), 2);
		add(p, 0, 2);
		add(p, random64(), 8);
		break;
	default:
		add_frame(p, HELLO_REPLY, 0, 24);
		add(p, random64(), 8);
		add(p, random64(), 4);
		add(p, random64(), 4);
		add(p, 0, 4);
		add(p, 0, 4);
	}
	end_session(p);
	return true;
}

/* Of lanes that are not open, at places that are not allowed. */
static bool make_data(struct way *w, struct packet *p)
{
	unsigned int len = below(1000), i;

	if (!begin_session(w, p))
		return false;
	add_frame(p, DATA, below(4) << 1, 20 + len);
	add(p, 1000000 + below(1000), 4);
	add(p, below(2) ? len : random64(), 4);
	add(p, random64() >> below(64), 8);
	add(p, below(2) ? 0 : random64(), 4);
	for (i = 0; i < len; i++)
		add(p, random64(), 1);
	end_session(p);
	return true;
}

static bool make_random_frames(struct way *w, struct packet *p)
{
	unsigned int n = 4 + below(600);

	begin(w, p);
	if (below(2) && !begin_session(w, p))
		return false;
	while (n--)
		add(p, random64(), 1);
	if (p->b[HEAD] == SESSION)
		end_session(p);
	return true;
}

/* What the victim said itself. */
static bool make_reflected(struct way *w, struct packet *p)
{
	unsigned int i;

	for (i = 0; i < NR_WAYS; i++)
		if (ways[i].to == w->from && ways[i].link == w->link)
			return any_seen(&ways[i], p);
	return false;
}

static const struct kind strangers[] = {
	{ "from a strange address", any_seen, send_stranger, false },
	{ "from a strange port", any_seen, send_port, false },
	{ "random, strange address", make_random, send_stranger, false },
	{ "random bytes", make_random, NULL, false },
	{ "empty", make_empty, NULL, false },
	{ "truncated", make_truncated, NULL, false },
	{ "1 to 8 bits flipped", make_flipped, NULL, false },
	{ "sent again", any_seen, NULL, false },
	{ "another tag, or none", make_wrong_tag, NULL, false },
	{ "version, flags, key", make_wrong_head, NULL, false },
	{ "a link that is not there", make_wrong_link, NULL, false },
	{ "in fragments", any_seen, send_fragments, false },
	{ "bits flipped, fragments", make_flipped, send_fragments, false },
	{ "batches of a stranger", make_flipped, send_batch_stranger, false },
	{ "batches, sent again", any_seen, send_batch_peer, false },
	{ "batches, bits flipped", make_flipped, send_batch_peer, false },
	{ "heartbeats", make_beat, NULL, true },
};

static const struct kind knowing[] = {
	{ "a new number", make_new_number, NULL, true },
	{ "another incarnation", make_wrong_inc, NULL, false },
	{ "another node", make_wrong_node, NULL, false },
	{ "huge acknowledgements", make_link_ack, NULL, true },
	{ "acknowledged lanes", make_lane_ack, NULL, true },
	{ "credit, reset, hello", make_control, NULL, true },
	{ "data of no lane", make_data, NULL, false },
	{ "random frames", make_random_frames, NULL, true },
	{ "said by the victim", make_reflected, NULL, true },
};

/* --- Counters --- */

/* Sum of all counters of what was dropped, on both nodes. */
static uint64_t dropped(void)
{
	static const char *const names[] = {
		"rx_unknown", "rx_malformed", "rx_version", "rx_key",
		"rx_bad_tag", "rx_duplicate", "rx_wrong_node", "rx_not_mine",
		"rx_incarnation", "rx_no_lane", "rx_over_credit",
	};
	uint64_t sum = 0;
	unsigned int i;
	char word[80];
	FILE *f;

	f = popen("for k in 1 2; do nsenter --net=/run/netns/hn$k hcommctl -s system; done",
		  "r");
	if (!f)
		fail("hcommctl: %s", strerror(errno));
	while (fscanf(f, "%79s", word) == 1)
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			unsigned long long n;

			if (!strcmp(word, names[i]) && fscanf(f, "%llu", &n))
				sum += n;
		}
	if (pclose(f))
		fail("hcommctl does not work");
	return sum;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* --- */

static int check(int fd, const char *what)
{
	if (fd < 0)
		fail("%s: %s", what, strerror(errno));
	return fd;
}

static void open_way(struct way *w, unsigned int from, unsigned int to,
		     unsigned int link)
{
	struct sockaddr_in me = { .sin_family = AF_INET,
				  .sin_port = htons(PORT) };
	struct sockaddr_ll ll = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ALL) };
	char text[64], dev[IFNAMSIZ];
	int ns, size = 64 << 10;

	snprintf(text, sizeof(text), "/run/netns/hn%u", from);
	ns = check(open(text, O_RDONLY), text);
	check(setns(ns, CLONE_NEWNET), "setns");
	close(ns);
	w->from = from;
	w->to = to;
	w->link = link;
	snprintf(text, sizeof(text), "10.%u.1.%u", link, from);
	w->src = inet_addr(text);
	snprintf(text, sizeof(text), "10.%u.1.%u", link, to);
	w->dst = inet_addr(text);
	snprintf(dev, sizeof(dev), "p%ul%u", to, link);
	w->raw = check(socket(AF_INET, SOCK_RAW, IPPROTO_RAW), "raw socket");
	w->udp = check(socket(AF_INET, SOCK_DGRAM, 0), "socket");
	w->cap = check(socket(AF_PACKET, SOCK_DGRAM, 0), "packet socket");
	ll.sll_ifindex = if_nametoindex(dev);
	check(bind(w->cap, (void *)&ll, sizeof(ll)), dev);
	setsockopt(w->cap, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	snprintf(dev, sizeof(dev), "p%ul%u", to, 3 - link);
	w->other = check(socket(AF_INET, SOCK_DGRAM, 0), "socket");
	check(setsockopt(w->other, SOL_SOCKET, SO_BINDTODEVICE, dev,
			 strlen(dev)), dev);
	me.sin_addr.s_addr = w->src;
	check(bind(w->other, (void *)&me, sizeof(me)), "bind");
}

/* One turn of one kind; returns how many packets of hcomm were sent. */
static uint64_t turn(const struct kind *k, unsigned int n, uint64_t ns_each)
{
	uint64_t sent = 0, at = now_ns();
	struct packet p = {};
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct way *w = &ways[i % NR_WAYS];
		uint64_t now = now_ns();

		if (below(16) == 0)
			look(w);
		/* In bursts of some milliseconds. */
		at += ns_each;
		if (at > now + 3000000)
			usleep((at - now) / 1000);
		if (k->make(w, &p))
			sent += k->send ? k->send(w, &p) : send_peer(w, &p);
	}
	return sent;
}

static void run(const struct kind *kinds, unsigned int nr, uint64_t count,
		uint64_t rate)
{
	uint64_t sent[32] = {}, counted[32] = {}, total = 0, t0 = now_ns();
	uint64_t before = dropped();
	unsigned int i, n, tries, bad = 0;

	while (total < count) {
		for (i = 0; i < nr; i++) {
			const struct kind *k = &kinds[i];
			bool batch = k->send == send_batch_stranger ||
				     k->send == send_batch_peer;
			uint64_t s, now = 0;

			n = count / nr / (batch ? BATCH : 1) + 1;
			s = turn(k, n, 1000000000ull / rate * (batch ? BATCH : 1));
			/* Some may wait for softirqs still. */
			for (tries = 0; tries < (k->silent ? 1 : 5); tries++) {
				usleep(20000);
				now = dropped();
				if (now - before >= s)
					break;
			}
			sent[i] += s;
			counted[i] += now - before;
			before = now;
			total += s;
		}
		printf("progress: %llu datagrams\n",
		       (unsigned long long)total);
		fflush(stdout);
	}
	for (i = 0; i < nr; i++) {
		/* Of fragments IP may drop some when it is busy. */
		uint64_t some = kinds[i].send == send_fragments ? 50 : 0;
		bool less = !kinds[i].silent &&
			    counted[i] + (some ? sent[i] / some : 0) < sent[i];

		printf("%-26s %8llu sent %8llu counted%s\n", kinds[i].name,
		       (unsigned long long)sent[i],
		       (unsigned long long)counted[i],
		       less ? "  FAIL" : "");
		bad += less || (!sent[i]);
	}
	printf("%llu datagrams in %.1f s\n", (unsigned long long)total,
	       (now_ns() - t0) / 1e9);
	if (bad)
		fail("%u kinds were not sent, or not counted", bad);
}

int main(int argc, char **argv)
{
	bool knows = argc == 4 && !strcmp(argv[1], "-k");
	uint64_t count, rate;
	unsigned int i;

	if (argc != 3 && !knows) {
		fprintf(stderr, "Usage: strangers [-k] COUNT RATE\n");
		return 1;
	}
	count = strtoull(argv[argc - 2], NULL, 0);
	rate = strtoull(argv[argc - 1], NULL, 0);
	if (!count || !rate)
		return 1;
	for (i = 0; i < NR_WAYS; i++)
		open_way(&ways[i], 1 + i % 2, 2 - i % 2, 1 + i / 2);
	/* Both links must have been seen: the idle one has probes only. */
	for (i = 0; i < 200 && !(ways[0].seen && ways[1].seen); i++) {
		usleep(10000);
		look(&ways[0]);
		look(&ways[1]);
	}
	/* The traffic has more threads than this. */
	setpriority(PRIO_PROCESS, 0, -15);
	if (knows)
		run(knowing, sizeof(knowing) / sizeof(knowing[0]), count, rate);
	else
		run(strangers, sizeof(strangers) / sizeof(strangers[0]), count,
		    rate);
	return 0;
}
