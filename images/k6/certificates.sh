#!/bin/sh
# Writes the bundle of certificates of the tree at $1, as the package's own maintainer script would: k6 and Python look
# for it when an application outside of the sandbox is asked by https.
set -eu

root=$1
mkdir -p "$root/etc/ssl/certs"
LC_ALL=C find "$root/usr/share/ca-certificates/mozilla" -name '*.crt' | LC_ALL=C sort | xargs cat \
    >"$root/etc/ssl/certs/ca-certificates.crt"
chmod 0644 "$root/etc/ssl/certs/ca-certificates.crt"
