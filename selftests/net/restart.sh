#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# restart.sh ROUNDS SOCKETS: node 2 restarts under traffic, again and again; in the lab with guests per node, on node 1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${HCOMM_LAB_NODE:-0}" = 0 ]; then
	echo "SKIP: each node needs a guest of its own"
	exit 77
fi
"$here/../../build/selftests/restart" send "$1" "$2" "$here/restart_peer.sh" && exit
status=$?
# The module of the other guest can only go without its users.
"$here/restart_peer.sh" kill 0 0 2> /dev/null
exit $status
