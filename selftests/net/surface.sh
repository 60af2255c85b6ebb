#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# surface.sh [OPTION...]: every call on every type of socket in every state, on node 1 of the lab; see surface/main.c.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# Answers take some time, as they do between machines: otherwise nothing is ever seen to be under way.
for i in $(seq "${HCOMM_LAB_LINKS:-1}"); do
	tc qdisc replace dev "$(lab-dev 1 2 "$i")" root netem limit 100000 delay "${HCOMM_LAB_SPEED:-1}ms"
done
exec "$here/../../build/selftests/surface" "$@" "$here/surface/table"
