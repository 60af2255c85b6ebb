#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# cycles.sh N: so many times: the module is loaded, two namespaces are configured, traffic of all types flows, namespaces are
# deleted under it, all users are killed, the module is removed. Nothing may be left.
# Runs in the lab with --transport none, which loads the module before and balances the objects that it logs afterwards.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$here/../../build/selftests/user
cycles=$1
speed=${HCOMM_LAB_SPEED:-1}
tmp=/run/cycles
pids=
traffic=0
mkdir -p $tmp

fail() {
	echo "FAIL: cycle $i: $*"
	dmesg | grep -v 'created\|destroyed' | tail -20
	exit 1
}

# until_true COMMAND [ARG...]: within 10 s of a fast kernel
until_true() {
	tries=$((200 * speed))
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.05
	done
}

load() {
	params=
	if grep -q ' ddebug_add_module\| dynamic_debug_' /proc/kallsyms; then params=dyndbg=+p; fi
	insmod "$HCOMM_LAB_KO" $params
}

unload() {
	[ ! -d /sys/module/hcomm ] || rmmod hcomm 2> $tmp/rmmod
}

# What a killed user leaves unsent keeps its socket, and that the module, until session-timeout, as orphans do in TCP.
make_nodes() {
	ip -batch - <<-END
	netns add ca
	netns add cb
	link add l1 netns ca type veth peer name l1 netns cb
	link add l2 netns ca type veth peer name l2 netns cb
	END
	for node in 1,ca,2 2,cb,1; do
		IFS=, read -r k ns p <<-END
		$node
		END
		ip -n "$ns" -batch - <<-END
		link set lo up
		addr add 10.1.0.$k/24 dev l1
		addr add 10.2.0.$k/24 dev l2
		link set l1 up
		link set l2 up
		END
		ip netns exec "$ns" hcommctl -b - <<-END
		system set node $k session-timeout 1s
		peer add $p
		link add peer $p id 1 type udp local 10.1.0.$k remote 10.1.0.$p
		link add peer $p id 2 type $second local 10.2.0.$k remote 10.2.0.$p
		END
	done
}

start() { # start NETNS PEER
	: > "$tmp/out.$1"
	"$bin" run "$1" "$2" > "$tmp/out.$1" 2>&1 &
	pids="$pids $!"
	eval "pid_$1=$!"
}

flows() {
	! grep -q FAIL $tmp/out.ca $tmp/out.cb || fail "$(cat $tmp/out.ca $tmp/out.cb)"
	grep -q ready $tmp/out.ca && grep -q ready $tmp/out.cb
}

kill_users() {
	# shellcheck disable=SC2086 # a list
	kill -9 $pids 2> /dev/null || :
	for p in $pids; do wait "$p" 2> /dev/null || :; done
	pids=
}

kill_one() { # kill_one NETNS
	eval "kill -9 \$pid_$1"
	eval "wait \$pid_$1" 2> /dev/null || :
}

# The kernel, without hcomm too, keeps the last namespaces until others come and go.
others() {
	for n in x y x y; do
		ip netns add $n
		ip netns del $n
	done
}

# Cleared caches, so that what is counted is what is in use; one line: namespaces, UDP, TCP sockets
in_use() {
	for c in net_namespace UDP UDPv6 TCP TCPv6; do
		[ ! -e /sys/kernel/slab/$c/shrink ] || echo 1 > /sys/kernel/slab/$c/shrink
	done
	awk '$1 ~ /^(net_namespace|UDP|UDPv6|TCP|TCPv6)$/ { printf "%s %s ", $1, $2 }' /proc/slabinfo
}

# What a module that has gone could have left. A leak of memory is what the lab looks for at the end.
nothing_left() {
	[ ! -d /sys/module/hcomm ] || fail "the module is still there"
	left=$(awk 'tolower($1) ~ /hcomm/ { print $1 }' /proc/slabinfo)
	[ -z "$left" ] || fail "slab caches are left: $left"
	! grep -qi '^hcomm' /proc/net/protocols || fail "the protocol is still registered"
	# A worker of all queues is named after the one that it served last.
	left=$(cat /proc/[0-9]*/comm 2> /dev/null | grep -v '^kworker/' | grep -i hcomm || :)
	[ -z "$left" ] || fail "kernel threads are left: $left"
	[ ! -e /sys/kernel/tracing/events/hcomm ] || fail "trace events are left"
	# A timer whose function has gone has no name.
	! grep -Eq '^ *#[0-9]+: .*, (0x)?[0-9a-f]{6,}, ' /proc/timer_list || fail "a timer is left: $(grep -E '^ *#[0-9]+:' /proc/timer_list)"
	if hcommctl system > /dev/null 2>&1; then fail "the netlink family is still there"; fi
	if dmesg | grep -q 'unregister_netdevice: waiting'; then fail "a device is held"; fi
}

gone() {
	others
	now=$(in_use)
	[ "$now" = "$before" ]
}

i=0
unload || fail "the module does not go: $(cat $tmp/rmmod)"
others
before=$(in_use)
echo "in use before: $before"
while [ $i -lt "$cycles" ]; do
	i=$((i + 1))
	second=udp
	[ $((i % 4)) != 3 ] || second=tcp
	load || fail "insmod"
	make_nodes || fail "the nodes could not be made"
	start ca 2
	start cb 1
	until_true flows || fail "traffic does not flow: $(cat $tmp/out.ca $tmp/out.cb)"
	traffic=$((traffic + 1))
	ip netns exec ca "$bin" refuse || fail "rmmod was not refused"
	case $((i % 5)) in
	0) # names first; the last user takes the namespace with it
		ip netns del cb
		ip netns del ca
		kill_users
		;;
	1) # a namespace goes while the other sends to it
		kill_one cb
		ip netns del cb
		kill_users
		ip netns del ca
		;;
	2) # the links go under the traffic
		ip -n ca link del l1
		ip -n cb link del l2
		kill_users
		ip netns del ca
		ip netns del cb
		;;
	3) # the module goes with all that is configured
		kill_users
		;;
	4) # a new user, killed while it connects
		kill_one cb
		start cb 1
		ip netns del ca
		kill_users
		ip netns del cb
		;;
	esac
	until_true unload || fail "the module does not go: $(cat $tmp/rmmod)"
	if [ $((i % 5)) = 3 ]; then
		ip netns del ca
		ip netns del cb
	fi
	nothing_left
	[ $((i % 10)) != 0 ] || echo "progress: $i cycles"
done
until_true gone || fail "in use before: $before; now: $now"
echo "in use after: $now"
load || fail "insmod"
unload || fail "rmmod"
nothing_left
echo "$i cycles, traffic in $traffic: nothing left"
