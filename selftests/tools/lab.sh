#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tools against the module; runs in the lab, on node 1:
#   lab run --nodes 2 --links 2 -- selftests/tools/lab.sh [PART...]
set -u
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d /run/tools.XXXXXX) || exit 1
trap 'rm -rf "$tmp"; [ -z "$server" ] || kill "$server" 2>/dev/null' EXIT
export HCOMM_STAT_HISTORY="$tmp/history"
passed=0
failed=0
server=
nr_json=0

ok()
{
	passed=$((passed + 1))
}

bad()
{
	echo "lab.sh: FAILED: $*" >&2
	[ -s "$tmp/out" ] && sed 's/^/  | /' "$tmp/out" >&2
	[ -s "$tmp/err" ] && sed 's/^/  ! /' "$tmp/err" >&2
	failed=$((failed + 1))
}

# want STATUS TEXT COMMAND...: TEXT must be on stdout (status 0) or stderr
want()
{
	local status=$1 text=$2 got stream=$tmp/err
	shift 2
	timeout 60 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	got=$?
	[ "$status" = 0 ] && stream=$tmp/out
	if [ "$got" != "$status" ]; then
		bad "status $got, not $status: $*"
	elif [ -n "$text" ] && ! grep -qF -- "$text" "$stream"; then
		bad "no \"$text\": $*"
	else
		ok
	fi
}

# json EXPRESSION COMMAND...: the output is one JSON document "d" for which the
# expression of Python holds; check_json looks at all of them
json()
{
	local expr=$1 status

	shift
	timeout 60 "$@" >"$tmp/json.$nr_json" 2>"$tmp/err" </dev/null
	status=$?
	if [ $status != 0 ]; then
		cp "$tmp/json.$nr_json" "$tmp/out"
		bad "status $status: $*"
		return
	fi
	printf '%s\t%s\t%s\n' "$tmp/json.$nr_json" "$expr" "$*" >>"$tmp/jobs"
	nr_json=$((nr_json + 1))
}

check_json()
{
	local wrong

	[ -s "$tmp/jobs" ] || return
	python3 - "$tmp/jobs" >"$tmp/wrong" 2>&1 <<-'END'
	import json, sys
	for line in open(sys.argv[1]):
	    path, expr, command = line.rstrip("\n").split("\t")
	    try:
	        d = json.load(open(path))
	        if not eval(expr):
	            print(f"not so: {expr}: {command}: {open(path).read()[:2000]!r}")
	    except Exception as e:
	        print(f"{type(e).__name__}: {e}: {expr}: {command}: {open(path).read()[:2000]!r}")
	END
	wrong=$(wc -l <"$tmp/wrong")
	passed=$((passed + $(wc -l <"$tmp/jobs") - wrong))
	failed=$((failed + wrong))
	sed 's/^/lab.sh: FAILED: /' "$tmp/wrong" >&2
	: >"$tmp/jobs"
}

# until COMMAND...: within 10 s
until_true()
{
	local end=$((SECONDS + 10 * ${HCOMM_LAB_SPEED:-1}))

	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# same WHAT: the configuration is that of $tmp/before
same()
{
	hcommctl showconf >"$tmp/after" 2>&1
	if diff -u "$tmp/before" "$tmp/after" >"$tmp/out"; then
		ok
	else
		: >"$tmp/err"
		bad "the configuration is another: $1"
	fi
}

link_is()
{
	hcommctl -j link show "$1" | grep -q "\"state\":\"$2\""
}

nobody="setpriv --reuid 65534 --regid 65534 --clear-groups --"

part_json()
{
	local o

	json 'd[0]["node"] == 1 and d[0]["counters"]["tx_packets"] >= 0' hcommctl -j system
	json 'sorted(p["node"] for p in d)[:2] == [1, 2]' hcommctl -j peer
	json 'd[0]["node"] == 2 and len(d) == 1' hcommctl -j peer show 2
	json '{l["name"] for l in d} >= {"2.1", "2.2"}' hcommctl -j link
	json 'len(d) == 2 and all(l["peer"] == 2 for l in d)' hcommctl -j link show peer 2
	json 'len(d) == 1 and d[0]["id"] == 2' hcommctl -j link show peer 2 id 2
	json 'isinstance(d[0]["gso_state"], bool) and isinstance(d[0]["mtu"], int)' hcommctl -j link show 2.1
	json 'len(d[0]["loss"]) == 3 and d[0]["counters"]["beats_sent"] > 0' hcommctl -j link show 2.1
	json '[r for r in d if r["node"] == 2][0]["candidates"][0]["peer"] == 2' hcommctl -j route
	json 'len(d) == 1' hcommctl -j route get 2
	json 'len(d) == 2 and d[1]["rtt_us"] > 0' hcommctl -j ping 2 count 2 interval 10
	json 'any(c["command"].startswith("peer add 2") for c in d)' hcommctl -j showconf
	json 'isinstance(d, list)' hcommctl -j socket
	for o in system peer link route socket showconf; do
		json 'isinstance(d, list)' hcommctl -j -p $o
		json 'isinstance(d, list)' hcommctl -j -s -d $o
	done
	json 'd[0]["counters"]["tx_packets"] > 0' hcomm_stat -j -a
	json 'len(d) >= 3 and {"state", "reason", "rtt_us", "loss_percent", "share_percent", "failovers"} <= set(d[1])' \
		hcomm_stat -j -l
	json 'd[0]["rates"] is not None' hcomm_stat -j -p -z -i 0.05 -c 1
}

part_text()
{
	want 0 "state up" hcommctl link show 2.1
	want 0 "lost_packets" hcommctl -s link show 2.1
	want 0 "loss in 30s" hcommctl -d link show 2.1
	want 0 "via peer 2" hcommctl route show 2
	want 0 "auto" hcommctl route get 2
	want 0 "2 answered" hcommctl ping 2 count 2 interval 10
	want 0 "over link 2" hcommctl ping 2 link 2 count 1
	want 0 $'\033[32mup' hcommctl -c=always link show 2.1
	if [ "$(hcommctl -o link | wc -l)" != "$(hcommctl -j link | grep -o '"peer":' | wc -l)" ]; then
		bad "-o has not a line for each link"
	else
		ok
	fi
	if [ "$(hcommctl -c link show 2.1 | grep -c $'\033')" = 0 ]; then ok; else bad "colours in a pipe"; fi
	want 0 "#link 2.1" hcomm_stat -l
	want 0 "share" hcomm_stat -l -a
}

part_exit()
{
	want 2 "(node)" hcommctl peer del 4000000000
	want 2 "(node)" hcommctl route get 4000000000
	want 2 "(name)" hcommctl link del nobody
	want 2 "Error: " hcommctl ping 4000000000 count 1
	want 2 "heartbeat-intv" hcommctl system set heartbeat-intv 0
	want 2 "heartbeat-intv" hcommctl system set heartbeat-intv 9
	want 2 "it must be 10 to 60000" hcommctl system set heartbeat-intv 60001
	want 1 "too large" hcommctl system set heartbeat-intv 4294967296
	want 1 "not in the range" hcommctl system set loss-threshold 0%
	want 1 "not in the range" hcommctl system set loss-threshold 100.1%
	want 1 "not in the range" hcommctl peer add 0
	want 1 "is not an address of this node" hcommctl link add peer 2 local 192.0.2.77 remote 192.0.2.78
	want 2 "Error: " hcommctl link add peer 2 local 192.0.2.77 remote 192.0.2.78 dev lo
	want 2 "(" hcommctl peer add 2
	want 2 "(" hcommctl peer add 1
	printf 'link show 2.1\npeer del 4000000000\nlink show 2.2\n' >"$tmp/batch"
	want 1 "Command failed $tmp/batch:2" hcommctl -b "$tmp/batch"
	if grep -q "^2.2" "$tmp/out"; then bad "batch went on"; else ok; fi
	want 1 "Command failed $tmp/batch:2" hcommctl -f -b "$tmp/batch"
	if grep -q "^2.2" "$tmp/out"; then ok; else bad "batch -f did not go on"; fi
	same "after what was refused"
}

# shellcheck disable=SC2086 # words
part_user()
{
	local o

	for o in system peer link route socket showconf; do
		json 'isinstance(d, list)' $nobody hcommctl -j $o
	done
	want 0 "1 answered" $nobody hcommctl ping 2 count 1
	want 2 "Operation not permitted" $nobody hcommctl system set heartbeat-intv 250
	want 2 "Operation not permitted" $nobody hcommctl peer add 77
	want 2 "Operation not permitted" $nobody hcommctl peer set 2 name x
	want 2 "Operation not permitted" $nobody hcommctl peer del 2
	want 2 "Operation not permitted" $nobody hcommctl link set 2.1 down
	want 2 "Operation not permitted" $nobody hcommctl link del 2.1
	want 2 "Operation not permitted" $nobody hcommctl route set 2 pin-link 2
	want 2 "Operation not permitted" $nobody hcommctl route add 2
	want 2 "Operation not permitted" $nobody hcommctl route del 2
	same "after an ordinary user"
}

since()
{
	hcommctl -j link show 2.1 | grep -o '"since":[0-9]*' | cut -d: -f2
}

part_conf()
{
	local age

	age=$(since)
	want 0 "" hcommctl syncconf "$tmp/before"
	same "syncconf of the same"
	if [ "$(since)" -ge "$age" ]; then ok; else bad "syncconf made the link again"; fi
	until_true link_is 2.1 up || bad "link 2.1 is not up"

	hcommctl showconf | hcommctl setconf - >"$tmp/out" 2>"$tmp/err" || bad "showconf | setconf -"
	same "showconf | setconf -"
	until_true link_is 2.1 up || bad "link 2.1 does not come back after setconf"

	# What every setting becomes of it.
	hcommctl peer set 2 name zwei
	hcommctl system set heartbeat-intv 150ms holddown 5s loss-threshold 2% port 4791
	hcommctl link set 2.2 metric 7 gso off loss-threshold 0.5%
	hcommctl link set 2.1 down
	hcommctl route set 2 pin-link 2
	hcommctl showconf >"$tmp/changed"
	for age in 'name zwei' 'heartbeat-intv 150' 'metric 7' 'gso off' 'loss-threshold 0.5%' down 'pin-link 2'; do
		grep -q -- "$age" "$tmp/changed" || bad "showconf has no $age"
	done
	hcommctl showconf | hcommctl setconf - >"$tmp/out" 2>"$tmp/err" || bad "showconf | setconf - of all settings"
	hcommctl showconf | diff "$tmp/changed" - >"$tmp/out" || bad "all settings: not the same after setconf"
	want 0 "" hcommctl syncconf "$tmp/before"
	same "syncconf to what was before"
	want 0 "" hcommctl syncconf "$tmp/changed"
	hcommctl showconf | diff "$tmp/changed" - >"$tmp/out" || bad "all settings: not the same after syncconf"
	want 0 "" hcommctl setconf "$tmp/before"
	same "setconf to what was before"

	# A wrong last line: nothing is applied.
	{ echo "peer add 55"; echo "system set heartbeat-intv 333"; cat "$tmp/before"; echo "link add peer 2 nonsense"; } >"$tmp/wrong"
	want 1 "nothing was changed" hcommctl setconf "$tmp/wrong"
	same "setconf with a wrong last line"
	want 1 "nothing was changed" hcommctl syncconf "$tmp/wrong"
	same "syncconf with a wrong last line"
	printf 'peer add 2 name "open' >"$tmp/wrong"
	want 1 "a quote has no end" hcommctl setconf "$tmp/wrong"
	same "setconf with an open quote"
	want 1 "there is no command" hcommctl setconf /dev/null
	same "setconf of nothing"
	# What only the kernel refuses is taken back.
	{ cat "$tmp/before"; echo "peer add 55"; echo "link add peer 55 local 192.0.2.9 remote 192.0.2.8 dev lo"; } >"$tmp/wrong"
	want 2 "as it was before" hcommctl setconf "$tmp/wrong"
	same "setconf that the kernel refuses"
	want 2 "as it was before" hcommctl syncconf "$tmp/wrong"
	same "syncconf that the kernel refuses"
	until_true link_is 2.1 up || bad "2.1 is not up at the end"
	until_true link_is 2.2 up || bad "2.2 is not up at the end"
}

part_monitor()
{
	local pid pidj

	hcommctl -t monitor >"$tmp/mon" 2>&1 &
	pid=$!
	hcommctl -j monitor link >"$tmp/monj" 2>&1 &
	pidj=$!
	# It listens when it sees something.
	until_true listening || bad "monitor shows nothing"
	hcommctl link set 2.2 down
	until_true grep -q 'link-state 2.2 .*-> down' "$tmp/mon" || bad "monitor does not show that 2.2 is down"
	hcommctl link set 2.2 up
	until_true grep -q 'link-state 2.2 .*-> up' "$tmp/mon" || bad "monitor does not show that 2.2 is up"
	until_true grep -q '"new_state":"up"' "$tmp/monj" || bad "monitor -j"
	kill $pid $pidj
	wait $pid $pidj 2>/dev/null
	if python3 -c '
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    assert e["event"].startswith("link"), e' "$tmp/monj" 2>"$tmp/err"; then
		ok
	else
		cp "$tmp/monj" "$tmp/out"
		bad "monitor -j link: not a line of JSON for each event of a link"
	fi
	if grep -qv '^\[2[0-9-]*T[0-9:.]*\] ' "$tmp/mon"; then
		cp "$tmp/mon" "$tmp/out"
		bad "monitor -t: a line without its time"
	else
		ok
	fi
	until_true link_is 2.2 up || bad "2.2 is not up"
	same "after monitor"
}

listening()
{
	hcommctl link set 2.2 down
	sleep 0.1
	hcommctl link set 2.2 up
	sleep 0.1
	[ -s "$tmp/mon" ] && [ -s "$tmp/monj" ]
}

part_stat()
{
	hcomm_stat >/dev/null
	hcommctl ping 2 count 3 interval 10 >/dev/null
	want 0 "tx_packets" hcomm_stat 'tx_*'
	want 0 "rx_malformed" hcomm_stat -s -z
	json 'd[0]["counters"]["tx_packets"] > 10 * 0' hcomm_stat -j -r
	hcomm_stat -l >/dev/null
	json 'all("beats_sent" in l["counters"] for l in d if l["peer"] == 2)' hcomm_stat -j -l -z
	echo garbage >"$HCOMM_STAT_HISTORY"
	want 0 "tx_packets" hcomm_stat
}

address_of_2()
{
	hcommctl -j link show 2.1 | grep -o '"remote_addr":"[^"]*' | cut -d'"' -f4
}

part_perf()
{
	local ip socks

	ip=$(address_of_2)
	lab-exec 2 hcomm_perf server >"$tmp/server" 2>&1 &
	server=$!
	until_true grep -q ready "$tmp/server" || { bad "server: $(cat "$tmp/server")"; return; }
	set -- -n 1 -t 0.2 -w 0.05 -j
	for k in seqpacket stream rdm; do
		json 'd["type"] == "'$k'" and d["unit"] == "us" and 0 < d["median"] <= d["p99"]' \
			hcomm_perf lat 2 -k $k "$@"
		json 'd["type"] == "'$k'" and d["unit"] == "MB/s" and d["median"] > 0 and d["lost"] == 0' \
			hcomm_perf bw 2 -k $k "$@"
	done
	json 'd["vs"] == "tcp" and d["ratio"] > 0 and d["peer_median"] > 0' hcomm_perf lat 2 -v tcp -P "$ip" "$@"
	json 'd["vs"] == "udp" and d["ratio"] > 0 and d["peer_size"] == 65507' hcomm_perf bw 2 -v udp -P "$ip" "$@"
	json 'd["type"] == "hcomm" and d["messages"] >= 3 and d["ratio"] > 0' \
		hcomm_perf allreduce 2 -s 64K -v tcp -P "$ip" "$@"
	want 0 "ratio" hcomm_perf lat 2 -v tcp -P "$ip" -n 2 -c 100
	json 'd["messages"] == 2 * 100' hcomm_perf lat 2 -n 2 -c 100 -j
	# Sockets are listed while they are there.
	json 'any(s["state"] == "listening" and s["local_port"] == 5300 for s in d)' lab-exec 2 hcommctl -j socket
	json 'any(s["comm"].startswith("hcomm_perf") for s in d)' lab-exec 2 hcommctl -j socket
	want 2 "Error: " hcomm_perf lat 4000000000 -n 1 -t 0.1
	want 2 "Error: " hcomm_perf lat 2 -p 5399 -n 1 -t 0.1
	kill "$server"
	wait "$server" 2>/dev/null
	server=
	socks=$(hcommctl -j socket)
	if [ "$socks" = "[]" ]; then ok; else echo "$socks" >"$tmp/out"; bad "sockets are left"; fi
}

# offers TEXT WORDS...: TEXT is among what bash offers for the last word
offers()
{
	local text=$1

	shift
	# shellcheck disable=SC2016 # for the other shell
	want 0 "$text" bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_$1"; echo "${COMPREPLY[*]}"' \
		"$here/../../tools/bash-completion/$1" "$@"
}

part_completion()
{
	offers "2.1" hcommctl link set ""
	offers "2" hcommctl peer show ""
	offers "1 2" hcommctl link show peer 2 id ""
	offers "pin-link" hcommctl route set 2 ""
	offers "2" hcomm_perf lat ""
	offers "--links" hcomm_stat --l
}

part_badnl()
{
	if python3 "$here/badnl.py" hcommctl >"$tmp/out" 2>"$tmp/err"; then
		ok
		tail -1 "$tmp/out"
	else
		bad "badnl.py"
	fi
	same "after badnl.py"
}

hcommctl showconf >"$tmp/before" || exit 1
[ $# -gt 0 ] || set -- json text exit user conf monitor stat perf completion badnl
for part; do
	echo "lab.sh: $part (after $SECONDS s)"
	"part_$part" || bad "$part"
	check_json
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
