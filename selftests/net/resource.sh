#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# resource.sh STEP MESSAGES [PART...]: every allocation fails once, of: the module (load), a namespace (netns), its configuration
# (config), sockets (sockets); then atomic ones at random, under MESSAGES messages (traffic). Of load and netns,
# in which the kernel allocates most, those that are ours, of load each STEP-th. Nothing may crash or leak, and all must work afterwards.
# Runs in the lab with --transport none and two nodes, on a kernel with fault injection.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$here/../../build/selftests
step=$1
messages=$2
shift 2
debug=/sys/kernel/debug
if [ ! -d $debug/failslab ] || [ ! -d $debug/fail_page_alloc ]; then
	echo "SKIP: this kernel cannot make allocations fail"
	exit 77
fi

fail() {
	echo "FAIL: $*"
	exit 1
}

# put VALUE FILE...: of both kinds of allocations
put() {
	value=$1
	shift
	for f; do
		echo "$value" > "$debug/failslab/$f"
		echo "$value" > "$debug/fail_page_alloc/$f"
	done
}

load() {
	[ -d /sys/module/hcomm ] || insmod "$HCOMM_LAB_KO" dyndbg=+p
}

unload() {
	tries=400
	while [ -d /sys/module/hcomm ] && ! rmmod hcomm 2> /dev/null; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "the module does not go"
		sleep 0.1
	done
}

# The objects of kmemleak, without the names of slab caches: sysfs_slab_add() of 6.1 leaks them when it fails.
real_leaks() {
	awk '
		function flush() { if (text != "" && !(small && name)) printf "%s", text }
		/^unreferenced object/ { flush(); text = ""; name = 0; small = $5 + 0 <= 32 }
		/^    ([0-9a-f][0-9a-f] )+ *hcomm_[a-z]*\./ || /^    48 43 4f 4d 4d 00 / { name = 1 }
		{ text = text $0 "\n" }
		END { flush() }' $debug/kmemleak
}

# Not while the module is there: kmemleak does not see all that it refers to. Younger than half a second is not looked at.
no_leak() {
	unload
	[ -w $debug/kmemleak ] || return 0
	sleep 0.6
	echo scan > $debug/kmemleak
	echo scan > $debug/kmemleak
	if real_leaks | grep .; then fail "$1 leaks"; fi
	# What was looked at here is not to be found again at the end.
	echo clear > $debug/kmemleak
}

configure() {
	for pair in 1,2 2,1; do
		k=${pair%,*}
		p=${pair#*,}
		lab-exec "$k" hcommctl -b - <<-END
		system set node $k
		peer add $p
		link add peer $p id 1 type udp local 10.1.1.$k remote 10.1.1.$p
		link add peer $p id 2 type tcp local 10.2.1.$k remote 10.2.1.$p metric 110
		END
	done
	tries=300
	until [ "$(for k in 1 2; do lab-exec $k hcommctl -j link show; done | grep -o '"state":"up"' | wc -l)" = 6 ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "the links do not come up"
		sleep 0.1
	done
	# The transports take what they need with them; the test is over when the sockets have gone.
	for k in 1 2; do lab-exec $k hcommctl system set session-timeout 3s holddown 1s; done
}

# Whatever waits, and memory of users, is not spared; none at random yet.
sure() {
	put 0 verbose probability
	put N ignore-gfp-wait task-filter
	echo 0 > $debug/fail_page_alloc/min-order
	echo N > $debug/fail_page_alloc/ignore-gfp-highmem
}

# Softirqs and timers cannot be told by their task: one atomic allocation of fifty fails, of all of them.
random() {
	put Y ignore-gfp-wait
	put -1 times
	put "$1" probability
}

[ $# -gt 0 ] || set -- load netns config sockets traffic
for part; do
	sure
	case $part in
	load)
		unload
		"$bin/resource" -s "$step" load "$HCOMM_LAB_KO"
		no_leak load
		;;
	netns)
		unload
		before=$("$bin/resource" count)
		load
		after=$("$bin/resource" count)
		echo "a namespace takes $before allocations, $after with hcomm"
		# The last ones are ours; how many pages are taken varies.
		[ "$before" -le "$after" ] || before=$after
		"$bin/resource" -f $((before > 100 ? before - 100 : 1)) netns
		no_leak netns
		;;
	config)
		load
		"$bin/resource" config
		no_leak config
		;;
	sockets)
		load
		configure
		"$bin/resource" sockets
		no_leak sockets
		;;
	traffic)
		load
		configure
		random 2
		"$bin/fire" -m "$messages" -s 2
		sure
		for k in 1 2; do
			lab-exec $k hcomm_stat -r -s '*no_memory' || :
		done
		"$bin/fire" -m $((messages / 4)) -s 2
		no_leak traffic
		;;
	*) fail "no part $part" ;;
	esac
done
