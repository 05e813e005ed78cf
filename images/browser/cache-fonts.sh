#!/bin/sh
# Makes the font cache of the tree at $1, so that no start of a browser looks into every font. The cache is believed while
# folders have the time stamp that it was made for: the one that everything in our images gets.
set -eu

root=$1
find "$root/usr/share/fonts" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 FONTCONFIG_FILE=/etc/fonts/fonts.conf chroot "$root" \
    /usr/bin/fc-cache --really-force --system-only
find "$root/usr/lib/fontconfig" -name CACHEDIR.TAG -delete
