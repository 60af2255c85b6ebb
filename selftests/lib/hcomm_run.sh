#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tests of hcomm_run that need no module: hcomm_run.sh HCOMM_RUN RUN_HELPER
# shellcheck disable=SC2016 # dollars and quotes must reach the program
set -u
run=$1
helper=$2
failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

fail()
{
	echo "hcomm_run.sh: $*" >&2
	sed 's/^/  | /' "$tmp/out" >&2
	failed=1
}

# want STATUS COMMAND...: run it, output to $tmp/out
want()
{
	status=$1
	shift
	timeout 30 "$@" >"$tmp/out" 2>&1 3>"$tmp/fd3"
	got=$?
	[ "$got" = "$status" ] || fail "status $got, not $status: $*"
}

has()
{
	grep -qF -- "$1" "$tmp/out" || fail "no \"$1\" in the output"
}

# On nodes 1 and 2, with env as the launcher: all in fact run here.
want 0 "$run" -n 3 --hosts=1:2,2 --launch=env -l "$helper" env "an arg"
for r in 0 1 2; do
	has "[$r] rank=$r size=3 addrs=1:20000,1:20001,2:20002"
	has "[$r] arg=an arg"
done
want 0 "$run" -n 3 --nodes 7,9 --port 99 --launch env "$helper" env
has "addrs=7:99,9:100,7:101"
want 0 "$run" -n 1 "$helper" env
has "rank=0 size=1 addrs=1:20000"

# One quoted word, as ssh needs it; the node's number in a word.
want 0 "$run" -n 2 --nodes 5,6 --launch 'sh -c %c node%n' "$helper" env "it's" 'a "b" $c'
has "arg=it's"
has 'arg=a "b" $c'
want 0 "$run" -n 2 --nodes 5,6 --launch 'env X=%n-%r-%%' sh -c 'echo "x=$X"'
has "x=5-0-%"
has "x=6-1-%"

# Only 0, 1 and 2 are open, whatever was open here.
want 0 "$run" -n 2 --hosts=1:2,2 --launch=env "$helper" fds
[ "$(grep -cx 'fds=3' "$tmp/out")" = 2 ] || fail "descriptors are inherited"

# The first failure ends the others and is the status.
want 7 "$run" -n 3 --hosts=1:2,2 --launch=env "$helper" exit=1:7 sleep
has "rank 1 on node 1: exit status 7"
want 139 "$run" -n 3 --hosts=1:2,2 --launch=env "$helper" kill=2:11 sleep
has "rank 2 on node 2: killed by signal 11"
want 3 "$run" -n 3 --hosts=1:2,2 --launch=env -k "$helper" exit=0:3 env
has "rank=2"
# One that ignores SIGTERM is killed.
begin=$(date +%s)
want 7 "$run" -n 2 --hosts=1:2,2 --launch=env "$helper" exit=1:7 stubborn
[ $(($(date +%s) - begin)) -lt 10 ] || fail "a stubborn rank is not killed"
want 127 "$run" -n 2 --hosts=1:2,2 --launch=env "$tmp/nothing"

# Timeout, and signals to hcomm_run.
want 124 "$run" -n 2 --hosts=1:2,2 --launch=env -t 1 "$helper" sleep
has "timeout after 1 s"
for sig in INT TERM HUP; do
	"$run" -n 2 --hosts=1:2,2 --launch=env "$helper" env sleep >"$tmp/out" 2>&1 &
	pid=$!
	until [ "$(grep -c rank= "$tmp/out")" = 2 ]; do sleep 0.05; done
	# a background job of a shell without job control ignores SIGINT
	kill -"$sig" "$pid"
	wait "$pid"
	got=$?
	case $sig in INT) num=130 ;; TERM) num=143 ;; *) num=129 ;; esac
	[ "$got" = "$num" ] || fail "SIG$sig: status $got, not $num"
done
# Killed outright, it takes the ranks along.
"$run" -n 2 --hosts=1:2,2 --launch=env -v "$helper" env sleep >"$tmp/out" 2>&1 &
pid=$!
until [ "$(grep -c rank= "$tmp/out")" = 2 ]; do sleep 0.05; done
kill -KILL "$pid"
wait "$pid" 2>/dev/null
pids=$(sed -n 's/.*is process //p' "$tmp/out")
for _ in 1 2 3 4 5 6 7 8 9 10; do
	left=0
	for p in $pids; do
		grep -qs '^State:.*[^ZX]$' "/proc/$p/status" && [ -e "/proc/$p/exe" ] &&
			readlink "/proc/$p/exe" | grep -q run_helper && left=1
	done
	[ "$left" = 0 ] && break
	sleep 0.1
done
[ "$left" = 0 ] || fail "ranks live on after SIGKILL"

# Lines stay whole.
want 0 "$run" -n 3 --hosts=1:2,2 --launch=env -l "$helper" lines
for r in 0 1 2; do
	[ "$(grep -cE "^\[$r\] line [0-9]+ of rank $r\$" "$tmp/out")" = 1000 ] || fail "lines of rank $r"
	has "[$r] no end"
done

# What it refuses.
want 1 "$run" "$helper"
has "-n is missing"
want 1 "$run" -n 2
has "program is missing"
for bad in 0 -1 x 99999999999 1x ''; do
	want 1 "$run" -n "$bad" "$helper"
	has "is not a number"
done
for bad in 0 1: 1:0 a 1,,2 '1,' :2 1:2:3 4294967296; do
	want 1 "$run" -n 2 --hosts "$bad" "$helper"
	has "is not NODE[:COUNT]"
done
want 1 "$run" -n 2 --nodes 1:2 "$helper"
has "is not NODE"
want 1 "$run" -n 2 --nodes 1 --hosts 1 "$helper"
has "exclude each other"
want 1 "$run" -n 2 --nodes 1 --launch '%x' -t 5 "$helper"
has "%x is unknown"
want 1 "$run" -n 2 --frob "$helper"
want 0 "$run" --help
has "Usage: hcomm_run"
want 0 "$run" --version

[ $failed = 0 ] && echo "hcomm_run.sh: passed" || echo "hcomm_run.sh: failed"
exit $failed
