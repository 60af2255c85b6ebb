#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# fire.sh MESSAGES SOCKETS SCALE: delivery under fire, on node 1 of the lab. Stalls may be SCALE times their bounds.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$here/../../build/selftests/fire
for k in 1 2; do lab-exec "$k" hcommctl system set holddown 1s; done
exec "$bin" -m "$1" -s "$2" -x "$3" -e "$here/fire_event.sh"
