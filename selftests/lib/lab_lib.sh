#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# libhcomm over AF_HCOMM; runs in the lab, on node 1:
#   lab run --nodes 3 --links 2 -- selftests/lib/lab_lib.sh [-q]
# First with all ranks on this node, then spread over the nodes.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${HCOMM_BUILD:-$here/../../build}/selftests/lib
run=${HCOMM_BUILD:-$here/../../build}/tools/hcomm_run
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

try "$build/hcomm_boot" "$@"
try "$build/hcomm_mismatch" "$@"
try "$build/hcomm_coll" "$@"
if [ "${HCOMM_LAB_NODES:-1}" -gt 1 ]; then
	for n in 3 4; do
		try "$run" -n $n --nodes "$nodes" --launch 'lab-exec %n' -t 300 "$build/hcomm_coll" -q
		try "$run" -n $n --nodes "$nodes" --launch 'lab-exec %n' -t 300 "$build/hcomm_mismatch" -q
	done
	try "$run" -n 3 --nodes "$nodes" --launch 'lab-exec %n' -t 60 -l \
		"$build/allreduce_app" -n 50
fi
exit $failed
