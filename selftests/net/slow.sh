#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# slow.sh TURNS MS: one of 16 destinations stops reading; on node 1 of the lab. See slow.c.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
slow="$here/../../build/selftests/slow -n $1 -t $2"
$slow -s 8192 -r 250
$slow -s 8192
$slow -s 64
