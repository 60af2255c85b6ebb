#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# restart_peer.sh WHAT RUN SOCKETS: what restart.c wants done to node 2, from node 1.
set -eu
what=$1 run=$2 sockets=$3
here=$(cd "$(dirname "$0")" && pwd)
build=${HCOMM_LAB_BUILD:-$here/../../build}
bin=$build/selftests/restart
log=/run/restart.$run

n2() { lab-exec 2 sh -c "$1"; }

# Nothing gets through: wires replace, wires del
wires() {
	for i in $(seq "$HCOMM_LAB_LINKS"); do
		tc qdisc "$1" dev "$(lab-dev 1 2 "$i")" root netem limit 1000 loss 100%
		n2 "tc qdisc $1 dev $(lab-dev 2 1 "$i") root netem limit 1000 loss 100%"
	done
}

# wait_for COMMAND: at most 20 s there
loop='wait_for() { i=0; until "$@" 2> /dev/null; do i=$((i + 1)); [ $i -lt 400 ] || return 1; sleep 0.05; done; }; '

case $what in
keep) n2 'hcommctl showconf > /run/restart.conf' ;;
serve)
	n2 "rm -f /run/restart.pid; setsid $bin serve $run $sockets $log < /dev/null > /run/restart.out 2>&1 &
		$loop wait_for test -s /run/restart.pid || { cat /run/restart.out >&2; exit 1; }"
	;;
report) n2 "$bin report $log" ;;
kill) n2 "$loop pid=\$(cat /run/restart.pid); kill -9 \$pid; gone() { ! kill -0 \$pid; }; wait_for gone" ;;
cut) wires replace ;;
unload) n2 "$loop wait_for rmmod hcomm || { rmmod hcomm; exit 1; }" ;;
load)
	n2 "debug=; grep -q ' ddebug_add_module\| dynamic_debug_' /proc/kallsyms && debug=dyndbg=+p
		insmod $build/module-$HCOMM_LAB_KERNEL/src/hcomm.ko \$debug"
	;;
configure) n2 'hcommctl setconf /run/restart.conf' ;;
heal) wires del ;;
esac
