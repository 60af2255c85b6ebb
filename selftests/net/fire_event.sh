#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# fire_event.sh EVENT begin|end [LINK]: makes link LINK from node 1 to node 2, or the one in use, bad, and good again.
set -eu
event=$1 what=$2 link=${3-}
if [ -z "$link" ] && [ "$what" = begin ]; then
	link=$(lab-exec 1 hcommctl route show | sed -n 's/^2: via peer 2 link \([0-9]*\).*/\1/p')
	echo "${link:=1}" > /run/fire.link
elif [ -z "$link" ]; then
	link=$(cat /run/fire.link)
fi
dev=$(lab-dev 1 2 "$link")
other=$(lab-dev 1 2 $((3 - link)))
state=/run/fire.$link
updown=up
[ "$what" = end ] || updown=down

n1() { lab-exec 1 "$@"; }

netem() {
	if [ "$what" = begin ]; then
		n1 tc qdisc replace dev "$dev" root netem limit 100000 "$@"
	else
		n1 tc qdisc del dev "$dev" root
	fi
}

case $event in
none) ;;
carrier)
	n1 ip link set "$dev" "$updown"
	;;
address)
	if [ "$what" = begin ]; then
		n1 ip -o -4 addr show dev "$dev" | awk '{print $4}' > "$state"
		n1 ip addr del "$(cat "$state")" dev "$dev"
	else
		n1 ip addr add "$(cat "$state")" dev "$dev"
	fi
	;;
silence) netem loss 100% ;;
loss) netem loss 5% ;;
tenth) netem loss 0.1% ;;
reorder) netem delay 2ms reorder 70% duplicate 5% ;;
delay) netem delay 200ms ;;
both)
	for d in "$dev" "$other"; do
		n1 ip link set "$d" "$updown"
	done
	;;
*) echo "fire_event.sh: no event $event" >&2; exit 1 ;;
esac
