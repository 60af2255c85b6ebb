// SPDX-License-Identifier: LGPL-2.1 OR MIT
#include <errno.h>

#include "public.h"

HC_PUBLIC const char *hcomm_strerror(int err)
{
	switch (err < 0 ? -(unsigned int)err : (unsigned int)err) {
	case 0:			return "success";
	case E2BIG:		return "the attributes have fields that this library does not know";
	case EACCES:		return "permission denied";
	case EADDRINUSE:	return "the port is in use";
	case EADDRNOTAVAIL:	return "the address is not of this node";
	case EAFNOSUPPORT:	return "address family not supported: is the hcomm module loaded?";
	case EAGAIN:		return "the send buffer is full, or nothing has arrived";
	case EBADF:		return "no such communicator or descriptor";
	case EBUSY:		return "another thread is in a call on this communicator";
	case ECONNREFUSED:	return "nobody listens there";
	case ECONNRESET:	return "the peer has gone or restarted";
	case EHOSTUNREACH:	return "no route to the node";
	case EINTR:		return "interrupted by a signal";
	case EINVAL:		return "invalid argument";
	case EMFILE:		return "too many open files in the process";
	case EMSGSIZE:		return "the message is longer than the maximum";
	case ENFILE:		return "too many open files in the system";
	case ENOBUFS:		return "the destination is congested";
	case ENOMEM:		return "out of memory";
	case ENOTCONN:		return "not connected";
	case EOPNOTSUPP:	return "not supported";
	case EOVERFLOW:		return "the count is too large";
	case EPERM:		return "not permitted";
	case EPIPE:		return "the connection is closed";
	case EPROTO:		return "the ranks do not agree";
	case EPROTONOSUPPORT:	return "ranks with different versions or settings";
	case ESHUTDOWN:		return "the connection is shut down";
	case ETIMEDOUT:		return "timed out";
	default:		return "unknown error";
	}
}

HC_PUBLIC uint32_t hcomm_version(void)
{
	return HCOMM_VERSION_MAJOR << 16 | HCOMM_VERSION_MINOR;
}
