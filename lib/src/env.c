// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* A communicator from environment variables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "public.h"

/* Decimal digits up to @end, no sign, no spaces, not above @max. */
static bool number(const char *s, const char *end, uint64_t max, uint64_t *value)
{
	uint64_t v = 0;

	if (s == end)
		return false;
	for (; s < end; s++) {
		unsigned int digit = (unsigned int)(*s - '0');

		if (digit > 9 || v > (max - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*value = v;
	return true;
}

static int env_number(const char *name, bool needed, uint64_t max, uint64_t *value)
{
	const char *s = getenv(name);

	if (!s || !*s) {
		*value = 0;
		return needed ? hc_create_error(EINVAL, "%s is not set", name) : 0;
	}
	if (!number(s, s + strlen(s), max, value))
		return hc_create_error(EINVAL, "%s: \"%.40s\" is not a number from 0 to %llu",
				       name, s, (unsigned long long)max);
	return 0;
}

/* "node:port,node:port,..." for exactly @n ranks. */
static int parse_addrs(const char *s, struct sockaddr_hcomm *addrs, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		const char *end = s + strcspn(s, ","), *colon = memchr(s, ':', (size_t)(end - s));
		uint64_t node, port;

		if (!colon || !number(s, colon, UINT32_MAX, &node) ||
		    !number(colon + 1, end, UINT32_MAX, &port))
			return hc_create_error(EINVAL, "HCOMM_ADDRS: \"%.*s\" for rank %u is not NODE:PORT",
					       end - s > 40 ? 40 : (int)(end - s), s, i);
		memset(&addrs[i], 0, sizeof(addrs[i]));
		addrs[i].shc_node = (uint32_t)node;
		addrs[i].shc_port = (uint32_t)port;
		s = end;
		if (*s == ',')
			s++;
		else if (i + 1 < n)
			return hc_create_error(EINVAL, "HCOMM_ADDRS has %u addresses, HCOMM_SIZE is %u",
					       i + 1, n);
	}
	if (*s)
		return hc_create_error(EINVAL, "HCOMM_ADDRS has more than HCOMM_SIZE=%u addresses", n);
	return 0;
}

HC_PUBLIC int hcomm_comm_create_env(struct hcomm_comm **comm)
{
	struct hcomm_comm_attr attr = HCOMM_COMM_ATTR_INIT;
	struct sockaddr_hcomm *addrs = NULL;
	uint64_t rank, size, timeout, piece, ordered;
	const char *list;
	int ret;

	if (!comm)
		return hc_create_error(EINVAL, "comm is NULL");
	*comm = NULL;
	ret = env_number("HCOMM_RANK", true, HC_RANKS_MAX - 1, &rank);
	if (!ret)
		ret = env_number("HCOMM_SIZE", true, HC_RANKS_MAX, &size);
	if (!ret)
		ret = env_number("HCOMM_TIMEOUT_MS", false, INT32_MAX, &timeout);
	if (!ret)
		ret = env_number("HCOMM_PIECE", false, INT32_MAX, &piece);
	if (!ret)
		ret = env_number("HCOMM_JOB", false, UINT64_MAX, &attr.job);
	if (!ret)
		ret = env_number("HCOMM_ORDERED", false, 1, &ordered);
	if (ret)
		return ret;
	attr.rank = (uint32_t)rank;
	attr.nranks = (uint32_t)size;
	attr.timeout_ms = (uint32_t)timeout;
	attr.piece = (uint32_t)piece;
	attr.flags = ordered ? HCOMM_COMM_ORDERED : 0;
	if (size > 1) {
		list = getenv("HCOMM_ADDRS");
		if (!list || !*list)
			return hc_create_error(EINVAL, "HCOMM_ADDRS is not set");
		addrs = calloc(size, sizeof(*addrs));
		if (!addrs)
			return hc_create_error(ENOMEM, "no memory for %u ranks", attr.nranks);
		ret = parse_addrs(list, addrs, attr.nranks);
		attr.addrs = addrs;
	}
	if (!ret)
		ret = hcomm_comm_create(&attr, comm);
	free(addrs);
	return ret;
}
