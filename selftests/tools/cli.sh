#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Arguments of the tools; needs no module: cli.sh [DIRECTORY OF THE TOOLS]
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=${1:-$here/../../build/tools}
ctl=$bin/hcommctl
stat=$bin/hcomm_stat
perf=$bin/hcomm_perf
passed=0
failed=0
tmp=$(mktemp -d) || exit 1
server=
trap 'rm -rf "$tmp"; [ -z "$server" ] || kill "$server" 2>/dev/null' EXIT
export HCOMM_STAT_HISTORY="$tmp/history"

bad()
{
	echo "cli.sh: $*" >&2
	sed 's/^/  | /' "$tmp/out" "$tmp/err" >&2
	failed=$((failed + 1))
}

# want STATUS TEXT COMMAND...: TEXT must be on stderr, or on stdout if the
# status is 0. Standard input comes from $tmp/in.
want()
{
	status=$1 text=$2
	shift 2
	timeout 20 "$@" <"$tmp/in" >"$tmp/out" 2>"$tmp/err"
	got=$?
	stream=$tmp/err
	[ "$status" = 0 ] && stream=$tmp/out
	if [ "$got" != "$status" ]; then
		bad "status $got, not $status: $*"
	elif ! grep -qF -- "$text" "$stream"; then
		bad "no \"$text\": $*"
	elif [ "$status" = 1 ] && [ -s "$tmp/out" ]; then
		bad "output in spite of an error: $*"
	else
		passed=$((passed + 1))
	fi
}

# The module may be there or not: what matters is that it is not asked.
syntax()
{
	want 1 "$@"
}

# conf TEXT LINE...: setconf and syncconf refuse the lines with TEXT
conf()
{
	text=$1
	shift
	printf '%s\n' "$@" >"$tmp/in"
	syntax "$text" "$ctl" setconf -
	syntax "$text" "$ctl" syncconf -
	: >"$tmp/in"
}

: >"$tmp/in"
link="link add peer 2 local 127.0.0.1 remote 192.0.2.1"

echo "help and usage"
want 0 "Usage: hcommctl [ OPTIONS ]" "$ctl" help
want 0 "Usage: hcommctl [ OPTIONS ]" "$ctl" -h
want 0 "Usage: hcommctl [ OPTIONS ]" "$ctl" --help
want 0 "version" "$ctl" -V
want 0 "version" "$ctl" --version
syntax "Usage: hcommctl" "$ctl"
for o in system peer link route socket monitor ping showconf setconf syncconf
do
	want 0 "Usage: hcommctl" "$ctl" $o help
done
want 0 "Usage: hcommctl link" "$ctl" l help
want 0 "Usage: hcommctl peer" "$ctl" p help
want 0 "Usage: hcommctl system" "$ctl" s help
syntax 'Object "nonsense" is unknown' "$ctl" nonsense
syntax 'Object "" is unknown' "$ctl" ""
for o in system peer link route socket; do
	syntax 'Command "nonsense" is unknown' "$ctl" $o nonsense
	syntax 'Command "" is unknown' "$ctl" $o ""
done
syntax 'Option "-q" is unknown' "$ctl" -q peer
syntax 'Option "--nonsense" is unknown' "$ctl" --nonsense peer
syntax 'needs a value' "$ctl" -n
syntax 'needs a value' "$ctl" -b
syntax 'Cannot open network namespace "cli-no-such"' "$ctl" -n cli-no-such peer
want 0 "Usage" "$ctl" -j -p -s -s -d -o -t -f help
want 0 "Usage" "$ctl" -jps -do help
want 0 "Usage" "$ctl" -json --pretty -stat --details help
want 0 "Usage" "$ctl" -- help

echo "system"
syntax "needs a setting" "$ctl" system set
syntax '"nonsense" is not a setting' "$ctl" system set nonsense 1
syntax '"heart" is not a setting' "$ctl" system set heart 100ms
syntax '"node" needs a value' "$ctl" system set node
syntax "node: 0 is not in the range" "$ctl" system set node 0
syntax "node: 4294967296 is not in the range" "$ctl" system set node 4294967296
syntax 'node: "-1" is not a number' "$ctl" system set node -1
syntax 'node: "1x" is not a number' "$ctl" system set node 1x
syntax "node is given twice" "$ctl" system set node 1 node 2
syntax "heartbeat-intv: 4294967296 is too large" \
	"$ctl" system set heartbeat-intv 4294967296
syntax "unknown unit" "$ctl" system set heartbeat-intv 10parsec
syntax "not a whole number of ms" "$ctl" system set heartbeat-intv 1.5ms
syntax 'is not a number' "$ctl" system set heartbeat-intv ""
syntax "sndbuf: 5G is too large" "$ctl" system set sndbuf 5G
syntax "port: 65536 is not in the range" "$ctl" system set port 65536
for loss in 0% 0ppm 100.1% 1000001ppm 0.00001%; do
	syntax "loss-threshold: $loss is not in the range" \
		"$ctl" system set loss-threshold $loss
done
for loss in 1 nan -1% inf; do
	syntax 'loss-threshold: "' "$ctl" system set loss-threshold $loss
done
syntax '"more" is not expected here' "$ctl" system show more

echo "peer"
syntax '"peer" needs a value' "$ctl" peer add
syntax "peer: 0 is not in the range" "$ctl" peer add 0
syntax 'peer: "two" is not a number' "$ctl" peer del two
syntax '"name" needs a value' "$ctl" peer add 2 name
syntax "has not 1 to 15 characters" "$ctl" peer add 2 name ""
syntax "has not 1 to 15 characters" "$ctl" peer add 2 name 1234567890123456
syntax "has a space" "$ctl" peer add 2 name "a b"
syntax "needs a name" "$ctl" peer set 2
syntax '"more" is not expected here' "$ctl" peer add 2 name a more
syntax '"more" is not expected here' "$ctl" peer show 2 more

echo "link"
syntax "peer is missing" "$ctl" link add local 127.0.0.1 remote 192.0.2.1
syntax "local is missing" "$ctl" link add peer 2 remote 192.0.2.1
syntax "remote is missing" "$ctl" link add peer 2 local 127.0.0.1
syntax "addresses of two families" \
	"$ctl" link add peer 2 local 127.0.0.1 remote 2001:db8::1
syntax 'local: "127.1" is not an IP address' \
	"$ctl" link add peer 2 local 127.1 remote 192.0.2.1
syntax 'remote: "example.org" is not an IP address' \
	"$ctl" link add peer 2 local 127.0.0.1 remote example.org
syntax 'is not an IP address' \
	"$ctl" link add peer 2 local 127.0.0.1%lo remote 192.0.2.1
syntax "local: 192.0.2.77 is not an address of this node" \
	"$ctl" link add peer 2 local 192.0.2.77 remote 192.0.2.1
syntax 'dev: there is no device "cli-no-such"' \
	"$ctl" link add peer 2 local 127.0.0.1 remote 192.0.2.1 dev cli-no-such
syntax 'there is no device "cli-no-such"' \
	"$ctl" link add peer 2 local fe80::1%cli-no-such remote fe80::2
syntax "is a link-local address" \
	"$ctl" link add peer 2 local fe80::1 remote fe80::2
for more in "id 0" "id 65536" "port 0" "remote-port 65536" "metric 4294967296"
do
	# shellcheck disable=SC2086 # words
	syntax "is not in the range" "$ctl" $link $more
done
# shellcheck disable=SC2086 # words, to the end of this part
{
	syntax 'type: "sctp" is none of udp, tcp' "$ctl" $link type sctp
	syntax 'gso: "maybe" is none of auto, on, off' "$ctl" $link gso maybe
	syntax "is not in the range" "$ctl" $link loss-threshold 0%
	syntax "is not in the range" "$ctl" $link loss-threshold 101%
	syntax "peer is given twice" "$ctl" $link peer 3
	syntax "local is given twice" "$ctl" $link local 127.0.0.1
	syntax "down is given twice" "$ctl" $link up down
	syntax '"nonsense" is not known here' "$ctl" $link nonsense 1
	syntax '"met" is not known here' "$ctl" $link met 1
	syntax '"metric" needs a value' "$ctl" $link metric
}
syntax "needs a setting" "$ctl" link set a
syntax "the id of the link is missing" "$ctl" link set peer 2 up
syntax "the id of the link is missing" "$ctl" link del peer 2
syntax '"link" needs a value' "$ctl" link del
syntax '"name" is not a setting of a link' "$ctl" link set a name b
syntax '"more" is not expected here' "$ctl" link del a more
syntax "id: 0 is not in the range" "$ctl" link show peer 2 id 0

echo "route, socket, monitor, ping"
syntax '"route" needs a value' "$ctl" route get
syntax 'needs "pin-link"' "$ctl" route set 2
syntax "pin-link: 65536 is not in the range" "$ctl" route set 2 pin-link 65536
syntax '"nonsense" is not expected here' "$ctl" route set 2 nonsense 1
syntax "route: 0 is not in the range" "$ctl" route add 0
syntax '"more" is not expected here' "$ctl" socket show more
syntax 'monitor: "nonsense" is none of' "$ctl" monitor nonsense
syntax '"more" is not expected here' "$ctl" monitor all more
syntax '"ping" needs a value' "$ctl" ping
syntax "count: 0 is not in the range" "$ctl" ping 2 count 0
syntax '"nonsense" is not known here' "$ctl" ping 2 nonsense 1

echo "batch"
syntax 'Cannot open file "/nonexistent/x"' "$ctl" -b /nonexistent/x
want 0 "Usage: hcommctl link" "$ctl" -b "$here/cli.batch"
printf 'link help\nlink set a\nlink help\n' >"$tmp/in"
timeout 20 "$ctl" -b - <"$tmp/in" >"$tmp/out" 2>"$tmp/err"
if [ $? != 1 ] || [ "$(grep -c Usage: "$tmp/out")" != 1 ] ||
   ! grep -q "Command failed standard input:2" "$tmp/err"; then
	bad "batch does not end at the first failure"
fi
timeout 20 "$ctl" -f -b - <"$tmp/in" >"$tmp/out" 2>"$tmp/err"
if [ $? != 1 ] || [ "$(grep -c Usage: "$tmp/out")" != 2 ]; then
	bad "batch with -f does not go on, or forgets the failure"
fi
: >"$tmp/in"
syntax '"more" is not expected here' "$ctl" -b - more

echo "configuration files"
syntax '"setconf" needs a value' "$ctl" setconf
syntax "Cannot open file" "$ctl" syncconf /nonexistent/x
syntax '"more" is not expected here' "$ctl" setconf - more
syntax '"more" is not expected here' "$ctl" showconf more
conf "there is no command in the file" "# nothing"
conf "standard input:4: nothing was changed" \
	"system set node 1" "peer add 2" "$link" "link add peer 2 nonsense"
conf "a configuration has" "system set node 1" "peer del 2"
conf "a configuration has" "link show"
conf "a configuration has" "sys set node 1"
conf "peer 2 is there twice" "peer add 2" "peer add 2"
conf "peers 2 and 3 have the same name" "peer add 2 name a" "peer add 3 name a"
conf 'there is no "peer add 2" before it' "$link"
conf "peer 2 has two links with id 4" "peer add 2" "$link id 4" "$link id 4"
conf "two links have the name a" "peer add 2" "$link name a" "$link name a"
conf "route 2 is there twice" "peer add 2" "route set 2 pin-link 1" \
	"route add 2"
conf "standard input:2: a quote has no end" "peer add 2" "peer add 3 name \"a"
conf "standard input:1: nothing was changed" "peer add 2 \\" " nonsense"
conf "node is given twice" "system set node 1" "system set node 2"
printf 'peer add 2\0\n' >"$tmp/in"
syntax "there is a zero byte in it" "$ctl" setconf -
: >"$tmp/in"

echo "hcomm_stat"
want 0 "Usage: hcomm_stat" "$stat" -h
want 0 "version" "$stat" -V
syntax "Usage: hcomm_stat" "$stat" -q
syntax "interval" "$stat" -i 0
syntax "interval" "$stat" -i nan
syntax "interval" "$stat" -i 1x
syntax "count" "$stat" -i 1 -c 0
syntax "count" "$stat" -i 1 -c -1
syntax "-c needs -i" "$stat" -c 1
syntax "Cannot enter network namespace" "$stat" -n cli-no-such

echo "hcomm_perf"
want 0 "Usage: hcomm_perf" "$perf" -h
want 0 "version" "$perf" -V
syntax "Usage: hcomm_perf" "$perf"
syntax "Usage: hcomm_perf" "$perf" -q
syntax '"nonsense" is none of' "$perf" nonsense
syntax "NODE is missing" "$perf" lat
syntax "is not a number" "$perf" lat two
syntax "is not in the range" "$perf" lat 0
syntax "is more than one node" "$perf" bw 2,3
syntax "is not in the range" "$perf" allreduce 2,4294967296
syntax "is not a number" "$perf" allreduce 2,,3
syntax "is not expected here" "$perf" lat 2 more
syntax "is not expected here" "$perf" server 2
syntax "is none of seqpacket" "$perf" lat 2 -k sctp
syntax "is neither tcp nor udp" "$perf" lat 2 -v rdm
syntax "needs --peer" "$perf" lat 2 -v tcp
syntax "is not an IP address" "$perf" lat 2 -v tcp -P example.org
syntax "is more than one address" "$perf" lat 2 -v tcp -P 127.0.0.1,127.0.0.1
syntax "says nothing" "$perf" lat -k tcp -v tcp -P 127.0.0.1
syntax "has no nodes" "$perf" lat 2 -k tcp -P 127.0.0.1
syntax "allreduce is not there over udp" "$perf" allreduce 2 -v udp -P 127.0.0.1
syntax "allreduce is not there over rdm" "$perf" allreduce 2 -k rdm
syntax "multiple of 4" "$perf" allreduce 2 -s 6
syntax "not in the range" "$perf" lat 2 -s 0
syntax "not in the range" "$perf" allreduce 2 -s 2G
syntax "16M at most" "$perf" bw 2 -s 17M
syntax "unknown unit" "$perf" bw 2 -s 1X
syntax "not in the range" "$perf" bw 2 -n 0
syntax "not in the range" "$perf" bw 2 -p 65001
syntax "time" "$perf" bw 2 -t 0
syntax "time" "$perf" bw 2 -t nan
syntax "is not an IP address" "$perf" server -B nowhere
want 2 "127.0.0.1, port 9: " "$perf" lat -k tcp -P 127.0.0.1 -p 9

# TCP and UDP need no module. Any free port will do.
port=$((20000 + $$ % 20000))
"$perf" server -B 127.0.0.1 -p $port >"$tmp/server" 2>&1 &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	grep -q ready "$tmp/server" && break
	sleep 0.1
done
over="-P 127.0.0.1 -p $port -n 2 -t 0.1 -w 0.02"
# shellcheck disable=SC2086 # words, to the end of this part
{
	want 0 "ratio" "$perf" lat -k tcp -v udp $over
	want 0 "ratio" "$perf" bw -k tcp -v udp $over -s 1K
	want 0 '"peer_size":65507' "$perf" bw -k tcp -v udp $over -j -s 64K
	want 0 '"messages":200,' "$perf" lat -k udp $over -j -c 100
	want 0 '"messages":200,' "$perf" bw -k tcp $over -j -c 100
	want 0 '"type":"tcp"' "$perf" allreduce -k tcp $over -j -s 1M
	want 0 '"type":"tcp"' "$perf" allreduce -k tcp $over -j -s 4
	want 0 '"type":"tcp"' "$perf" allreduce -k tcp $over -P 127.0.0.1,127.0.0.1 -j -s 4004
	# A client that talks nonsense ends its own process only.
	head -c 4096 /dev/urandom | timeout 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; cat >&3" 2>/dev/null
	want 0 "lat\"" "$perf" lat -k tcp $over -j
}
kill $server
wait $server 2>/dev/null
server=

# Without the module the kernel is what is at fault, and JSON stays away.
if [ ! -d /sys/module/hcomm ]; then
	echo "no module"
	for o in system peer link route socket monitor showconf "ping 2"; do
		# shellcheck disable=SC2086 # words
		want 2 "hcomm module not loaded?" "$ctl" -j $o
	done
	want 2 "hcomm module not loaded?" "$stat"
	want 2 "hcomm module not loaded?" "$perf" lat 2
	want 2 "hcomm module not loaded?" "$perf" allreduce 2
fi

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
