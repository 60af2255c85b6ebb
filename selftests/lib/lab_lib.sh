#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# libhcomm over AF_HCOMM; runs in the lab, on node 1:
#   lab run --nodes 3 --links 2 -- selftests/lib/lab_lib.sh PART...
# PART: boot, mismatch, coll (all ranks on this node), spread3, spread4 (that
# many ranks over the nodes), app; none: all of them.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${HCOMM_BUILD:-$here/../../build}
tests=$build/selftests/lib
nodes=$(seq -s, "${HCOMM_LAB_NODES:-1}")
failed=0

try()
{
	echo "lab_lib: $*"
	"$@"
	case $? in
	0) ;;
	77) echo "lab_lib: skipped: $*" ;;
	*) echo "lab_lib: FAILED: $*"; failed=1 ;;
	esac
}

# spread RANKS PROGRAM...
spread()
{
	ranks=$1
	shift
	try "$build/tools/hcomm_run" -n "$ranks" --nodes "$nodes" \
		--launch 'lab-exec %n' -t 300 -l "$@"
}

[ $# -gt 0 ] || set -- boot mismatch coll spread3 spread4 app
for part; do
	case $part in
	boot | mismatch | coll)
		try "$tests/hcomm_$part" -q ;;
	spread*)
		spread "${part#spread}" "$tests/hcomm_coll" -q
		spread "${part#spread}" "$tests/hcomm_mismatch" -q ;;
	app)
		spread "${HCOMM_LAB_NODES:-1}" "$tests/allreduce_app" -n 50 ;;
	*)
		echo "lab_lib: unknown part $part" >&2
		exit 1 ;;
	esac
done
exit $failed
