#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The netlink code is that of the specification, and --check sees when not.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
gen=$root/selftests/ynl_gen.py
spec=Documentation/netlink/specs/hcomm.yaml
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

# check STATUS WHAT: of --check on the copy
check()
{
	"$gen" --check --root "$tmp" >"$tmp/out" 2>&1
	got=$?
	if [ "$got" = "$1" ]; then
		passed=$((passed + 1))
	else
		echo "spec.sh: $2: status $got, not $1" >&2
		sed 's/^/  | /' "$tmp/out" >&2
		failed=$((failed + 1))
	fi
}

copy()
{
	mkdir -p "$tmp/Documentation/netlink/specs" "$tmp/kmod" \
		"$tmp/uapi/hcomm" "$tmp/tools/common"
	for f in $spec $files; do
		cp "$root/$f" "$tmp/$f"
	done
}

files="uapi/hcomm/netlink.h kmod/netlink_gen.h kmod/netlink_gen.c
	tools/common/attrs_gen.c"
copy
check 0 "the tree"
for f in $files; do
	echo "/* changed */" >>"$tmp/$f"
	check 1 "$f changed"
	rm "$tmp/$f"
	check 1 "$f missing"
	copy
done
sed -i 's/max: 60000/max: 60001/' "$tmp/$spec"
check 1 "a limit changed"
copy
sed -i 's/nested-attributes: loss/nested-attributes: nonsense/' "$tmp/$spec"
check 1 "a nest of nothing"

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
