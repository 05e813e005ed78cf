#!/bin/sh
# usage: run.sh    fetches both versions, shows that a hang is not recorded, and how to record it all the same
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
payload buggy
payload fixed
expect 3 runner record --quiet --payload buggy --timeout 1 --command 'PYTHONPATH=vendor python3 -B repro.py' -o report.json
aim "$here/claim.json" buggy claim.json
expect 1 runner replay --quiet --yes --payload buggy claim.json
expect 0 runner record --quiet --payload buggy --runs 2 --command 'PYTHONPATH=vendor timeout 2 python3 -B repro.py' -o report.json
expect 0 runner replay --quiet --yes --payload buggy report.json
aim report.json fixed fixed.json
expect 1 runner replay --quiet --yes --payload fixed fixed.json
