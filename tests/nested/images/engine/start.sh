#!/bin/sh
# start-engine ARGUMENT...: dockerd, in a container that has all capabilities but is not privileged.
set -eu
# The engine sets kernel parameters of its network, and makes cgroups; both are mounted read-only at first.
mount -o remount,bind,rw /proc/sys
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mount -o remount,bind,rw /sys/fs/cgroup
    # Version 2: a group with processes of its own cannot hand controllers down.
    mkdir -p /sys/fs/cgroup/engine
    echo 0 >/sys/fs/cgroup/engine/cgroup.procs
    sed 's/^/+/;s/ / +/g' /sys/fs/cgroup/cgroup.controllers >/sys/fs/cgroup/cgroup.subtree_control
else
    for group in /sys/fs/cgroup/*; do
        mount -o remount,bind,rw "$group"
    done
fi
exec dockerd "$@"
