#!/bin/sh
# usage: run.sh    fetches both versions, records the failure, replays it on either side
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
payload buggy
payload fixed
expect 0 runner record --quiet --payload buggy --command 'PYTHONPATH=vendor python3 -B repro.py' -o report.json
expect 0 runner replay --quiet --yes --payload buggy --runs 2 report.json
expect 2 runner replay --quiet --yes --payload fixed report.json
aim report.json fixed fixed.json
expect 1 runner replay --quiet --yes --payload fixed fixed.json
