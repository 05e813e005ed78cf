#!/bin/sh
# Compiles /build/*.c of the chroot at $1 into one static program, the same bytes each time: the compiler and the C
# library are the suite's own, paths are mapped away and nothing random is linked in.
set -eu

root=$1
cd "$root/build"
set -- *.c
for source in "$@"; do
    shift
    set -- "$@" "/build/$source"
done

env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C chroot "$root" /usr/bin/gcc -std=gnu11 -static -Os -Wall -Wextra -Werror -s \
    -Wl,--build-id=none -ffile-prefix-map=/build=. -o /build/program "$@"
