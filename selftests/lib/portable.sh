#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The library compiles for arm64, and its pure files run big-endian.
set -eu
cd "$(dirname "$0")"
for c in aarch64-linux-gnu-gcc s390x-linux-gnu-gcc qemu-s390x-static; do
	if ! command -v "$c" >/dev/null; then
		echo "SKIP: $c is missing (gcc-aarch64-linux-gnu, gcc-s390x-linux-gnu, qemu-user-static)"
		exit 77
	fi
done
out=$(pwd)/../../build/selftests/lib
make -s -C ../../lib CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar CFLAGS="-O2 -Werror" \
	O="$out/arm64" TOOLS_O="$out/arm64/tools"
make -s CC=s390x-linux-gnu-gcc CFLAGS="-O2 -static -Werror" O="$out/s390x" "$out/s390x/unit"
qemu-s390x-static "$out/s390x/unit"
