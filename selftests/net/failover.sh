#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# failover.sh ROUNDS SECONDS SCALE: how long messages wait for another link. Bounds may be SCALE times what they are.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for k in 1 2; do lab-exec "$k" hcommctl system set holddown 1s; done
exec "$here/../../build/selftests/failover" -n "$1" -t "$2" -x "$3" -e "$here/fire_event.sh"
