#!/bin/sh
# Compiles the driver in the tree at $1 ahead of time, as shared/compile-python.sh does it: two builds give the same bytes.
set -eu

root=$1
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 PYTHONHASHSEED=0 chroot "$root" \
    /usr/bin/python3 -I -m compileall -q --invalidation-mode unchecked-hash /opt/runner/driver/runner
