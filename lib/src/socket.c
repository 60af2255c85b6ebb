// SPDX-License-Identifier: LGPL-2.1 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "public.h"

#define FAMILY_FILE	"/sys/module/hcomm/parameters/family"

HC_PUBLIC int hcomm_family(void)
{
	char text[16];
	int fd, family = 0;
	ssize_t n, i;

	/* Read each time: a module loaded later may have another number. */
	fd = open(FAMILY_FILE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -EAFNOSUPPORT : -errno;
	n = read(fd, text, sizeof(text));
	close(fd);
	for (i = 0; i < n && text[i] >= '0' && text[i] <= '9' && family < 1000; i++)
		family = family * 10 + (text[i] - '0');
	return family > 0 && family < 1000 ? family : -EAFNOSUPPORT;
}

HC_PUBLIC int hcomm_addr(struct sockaddr_hcomm *sa, uint32_t node, uint32_t port)
{
	int family = hcomm_family();

	if (family < 0)
		return family;
	memset(sa, 0, sizeof(*sa));
	sa->shc_family = (unsigned short)family;
	sa->shc_node = node;
	sa->shc_port = port;
	return 0;
}

HC_PUBLIC int hcomm_socket(int type, int flags)
{
	int family = hcomm_family(), fd;

	if (family < 0)
		return family;
	if (flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC))
		return -EINVAL;
	fd = socket(family, type | flags, 0);
	return fd < 0 ? -errno : fd;
}

HC_PUBLIC int hcomm_node(uint32_t *node)
{
	struct sockaddr_hcomm sa;
	socklen_t len = sizeof(sa);
	int fd, ret;

	ret = hcomm_addr(&sa, HCOMM_NODE_ANY, HCOMM_PORT_ANY);
	if (ret)
		return ret;
	fd = hcomm_socket(SOCK_RDM, SOCK_CLOEXEC);
	if (fd < 0)
		return fd;
	/* A bound socket knows the node that it stands on. */
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ||
	    getsockname(fd, (struct sockaddr *)&sa, &len))
		ret = -errno;
	else
		*node = sa.shc_node;
	close(fd);
	return ret;
}
