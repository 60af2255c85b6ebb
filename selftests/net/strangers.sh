#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# strangers.sh COUNT RATE MESSAGES PERCENT [knows]: COUNT datagrams that must be dropped, RATE in a second, while checked traffic flows in
# runs of MESSAGES messages: nothing of it may be lost, doubled or changed, and its rate may not fall below PERCENT of what it is
# alone. With "knows", then a tenth of COUNT from somebody who knows the tags: the traffic may suffer, but nothing of it may be lost.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$here/../../build/selftests
count=$1 rate=$2 messages=$3 percent=$4 knows=${5:-}
out=/run/strangers.out
kilobytes=0
milliseconds=0

# One run of traffic; adds to kilobytes and milliseconds.
traffic() {
	"$bin/fire" -m "$messages" -s 2 -r "$1" > $out.fire || {
		cat $out.fire
		exit 1
	}
	# "N messages, X.X MB in Y.Y s: ..."
	# shellcheck disable=SC2046 # words
	set -- $(sed -n 's/.* messages, \([0-9]*\)\.\([0-9]\) MB in \([0-9]*\)\.\([0-9]\) s: .*/\1\2 \3\4/p' $out.fire)
	kilobytes=$((kilobytes + $1 * 100))
	milliseconds=$((milliseconds + $2 * 100))
}

# As long as the others send: strangers ARGUMENTS
beside() {
	kilobytes=0
	milliseconds=0
	"$bin/strangers" "$@" > $out 2>&1 &
	pid=$!
	run=0
	while kill -0 $pid 2> /dev/null; do
		run=$((run + 1))
		traffic $run
	done
	wait $pid || {
		cat $out
		exit 1
	}
	cat $out
}

speed() { echo $((kilobytes / (milliseconds > 0 ? milliseconds : 1))); }

link_downs() { lab-exec "$1" hcommctl -s system | grep -o 'links_down [0-9]*' | cut -d' ' -f2; }

# What a full queue of the network drops, hcomm cannot count.
nsenter --net=/proc/1/ns/net sysctl -q -w net.core.netdev_max_backlog=100000

# The first run is slower.
traffic 1
kilobytes=0 milliseconds=0
traffic 2
traffic 3
alone=$(speed)
downs=$(($(link_downs 1) + $(link_downs 2)))
beside "$count" "$rate"
beside=$(speed)
echo "$alone MB/s alone, $beside MB/s beside $rate datagrams/s of strangers"
[ "$((beside * 100))" -ge $((alone * percent)) ] || {
	echo "FAIL: less than $percent %"
	exit 1
}
now=$(($(link_downs 1) + $(link_downs 2)))
[ "$now" = "$downs" ] || {
	echo "FAIL: strangers took links down, $((now - downs)) times"
	exit 1
}
[ -n "$knows" ] || exit 0
beside -k $((count / 10)) "$rate"
echo "$(speed) MB/s beside $rate datagrams/s of somebody who knows the tags"
kilobytes=0 milliseconds=0
traffic 4
echo "$(speed) MB/s afterwards"
