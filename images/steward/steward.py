"""The steward: the one trusted program inside a replay, and the only one that touches its volumes.

Runs as PID 1 of a hardened container, never forks, opens no network, and speaks the frames of
:mod:`runner.payload.frames` over stdin and stdout. What it finds in a volume may be hostile; what comes over
stdin is the controller's. When stdin ends, or ``--lifetime`` seconds are over, it is gone at once.

    python3 -I -B -S steward.py [--lifetime SECONDS] [--pristine DIR] [--volumes DIR] [--tools DIR]

This file is compiled anew at every start, so it holds only what starts, stops and loops.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from typing import NoReturn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # -I leaves out the program's own directory

from runner.payload.inbox import Inbox
from runner.payload.operations import Operations, Places

_DEFAULTS = (("--lifetime", "0"), ("--pristine", "/pristine"), ("--volumes", "/volumes"), ("--tools", "/tools"))
_LEASH_ENDED, _LIFETIME_OVER = 0, 3


def read_exactly(count: int) -> bytes:
    """Bytes from stdin; its end is the end of the program."""
    data = sys.stdin.buffer.read(count)
    if len(data) < count:
        os._exit(_LEASH_ENDED)
    return data


def serve(places: Places) -> NoReturn:
    """Answer requests until stdin ends. A malformed frame ends the program: there is no way to go on from it."""
    inbox, out = Inbox(read_exactly), sys.stdout.buffer
    operations = Operations(places, inbox, out.write)
    while True:
        out.write(operations.answer(inbox.request()))
        out.flush()


def hold_leash() -> None:
    """Exit when the other end of stdin is closed, even in the middle of an operation."""
    poll = select.poll()
    poll.register(0, select.POLLRDHUP)
    poll.poll()
    os._exit(_LEASH_ENDED)


def set_dead_man_timer(seconds: float) -> None:
    """Exit after that time, whatever else is going on."""
    timer = threading.Timer(seconds, os._exit, (_LIFETIME_OVER,))
    timer.daemon = True
    timer.start()


def read_options(arguments: list[str]) -> dict[str, str]:
    """``--name value`` pairs over the defaults. Raises ValueError."""
    options = dict(_DEFAULTS)
    for name, value in zip(arguments[::2], arguments[1::2], strict=True):
        if name not in options:
            raise ValueError(f"unknown option {name}")
        options[name] = value
    return options


def main() -> NoReturn:
    """Timer and leash first, then serve."""
    options = read_options(sys.argv[1:])
    os.umask(0)
    lifetime = float(options["--lifetime"])
    if lifetime > 0:
        set_dead_man_timer(lifetime)
    threading.Thread(target=hold_leash, name="leash", daemon=True).start()
    serve(Places(options["--pristine"], options["--volumes"], options["--tools"]))


if __name__ == "__main__":
    main()
