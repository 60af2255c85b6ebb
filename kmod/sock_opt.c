// SPDX-License-Identifier: GPL-2.0
#include "sock.h"

#include "session.h"
#include "txlane.h"

static void update_lane(struct hcomm_sock *hs, struct hcomm_txlane **p)
{
	struct hcomm_txlane *lane;

	spin_lock_bh(&hs->lock);
	lane = *p;
	if (lane)
		refcount_inc(&lane->ref);
	spin_unlock_bh(&hs->lock);
	if (!lane)
		return;
	spin_lock_bh(&lane->session->lock);
	lane->timeout_ms = READ_ONCE(hs->timeout_ms);
	lane->class = READ_ONCE(hs->class);
	spin_unlock_bh(&lane->session->lock);
	/* Something may be waiting already: the clock is looked at again. */
	hcomm_session_look(lane->session);
	hcomm_txlane_put(lane);
}

/* What was set holds for the lanes that there are, too. */
static void update_lanes(struct hcomm_sock *hs)
{
	struct hcomm_dest *d;
	int i;

	/* No destination is added meanwhile. */
	mutex_lock(&hs->tx_mutex);
	update_lane(hs, &hs->tx);
	for (i = 0; hs->dests && i < HCOMM_DEST_BUCKETS; i++)
		hlist_for_each_entry(d, &hs->dests[i], node_list)
			update_lane(hs, &d->lane);
	mutex_unlock(&hs->tx_mutex);
}

static int set_timeout(struct hcomm_sock *hs, u32 val)
{
	if (!val || val > 3600000)
		return -EINVAL;
	WRITE_ONCE(hs->timeout_ms, val);
	update_lanes(hs);
	return 0;
}

static int set_class(struct hcomm_sock *hs, u32 val)
{
	if (val <= HCOMM_CLASS_CONTROL || val >= __HCOMM_CLASS_MAX)
		return -EINVAL;
	WRITE_ONCE(hs->class, val);
	update_lanes(hs);
	return 0;
}

static int set_recverr(struct hcomm_sock *hs, u32 val)
{
	if (hs->sk.sk_type != SOCK_RDM)
		return -EOPNOTSUPP;
	if (val > 1)
		return -EINVAL;
	WRITE_ONCE(hs->recverr, val);
	return 0;
}

int hcomm_sock_setsockopt(struct socket *sock, int level, int name,
			  sockptr_t optval, unsigned int len)
{
	struct hcomm_sock *hs = hcomm_sk(sock->sk);
	u32 val;

	if (level != SOL_HCOMM)
		return -ENOPROTOOPT;
	if (name == HCOMM_MAX_MSG || name == HCOMM_LAST_ERROR)
		return -ENOPROTOOPT;
	if (len != sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	switch (name) {
	case HCOMM_SESSION_TIMEOUT:
		return set_timeout(hs, val);
	case HCOMM_CLASS:
		return set_class(hs, val);
	case HCOMM_RECVERR:
		return set_recverr(hs, val);
	default:
		return -ENOPROTOOPT;
	}
}

static int get_text(struct hcomm_sock *hs, char __user *val, int __user *optlen,
		    int len)
{
	char text[HCOMM_ERR_TEXT];
	int n;

	spin_lock_bh(&hs->lock);
	memcpy(text, hs->err_text, sizeof(text));
	spin_unlock_bh(&hs->lock);
	n = strnlen(text, sizeof(text) - 1) + 1;
	if (len < n)
		return -EINVAL;
	if (copy_to_user(val, text, n) || put_user(n, optlen))
		return -EFAULT;
	return 0;
}

int hcomm_sock_getsockopt(struct socket *sock, int level, int name,
			  char __user *optval, int __user *optlen)
{
	struct hcomm_sock *hs = hcomm_sk(sock->sk);
	u32 val;
	int len;

	if (level != SOL_HCOMM)
		return -ENOPROTOOPT;
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	switch (name) {
	case HCOMM_MAX_MSG:
		val = sock->type == SOCK_STREAM ? HCOMM_STREAM_PIECE :
						  HCOMM_MAX_MSG_LEN;
		break;
	case HCOMM_SESSION_TIMEOUT:
		val = READ_ONCE(hs->timeout_ms);
		break;
	case HCOMM_LAST_ERROR:
		return get_text(hs, optval, optlen, len);
	case HCOMM_CLASS:
		val = READ_ONCE(hs->class);
		break;
	case HCOMM_RECVERR:
		if (sock->type != SOCK_RDM)
			return -EOPNOTSUPP;
		val = READ_ONCE(hs->recverr);
		break;
	default:
		return -ENOPROTOOPT;
	}
	if (len < (int)sizeof(val))
		return -EINVAL;
	if (copy_to_user(optval, &val, sizeof(val)) ||
	    put_user(sizeof(val), optlen))
		return -EFAULT;
	return 0;
}
