"""A ``runner`` that is interrupted at an exact moment: ``interrupting.py SIGNAL MODULE:NAME[,…] MARK ARGUMENTS...``

Just before each of the named functions is first called, the signal is sent to this very process, as Ctrl-C or
``kill`` would. The session gets ``MARK`` as its name, so that others can look for what is left of it.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from runner.cli.main import main
from runner.sandbox.backends.docker import labels


def interrupt_before(place: str, number: int) -> None:
    """Wrap one function or method so that its first call is preceded by the signal."""
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    owner: Any = importlib.import_module(module)
    for part in owners:
        owner = getattr(owner, part)
    original: Callable[..., Any] = getattr(owner, name)
    calls: list[int] = []

    def interrupted(*arguments: Any, **options: Any) -> Any:
        if not calls:
            calls.append(1)
            os.kill(os.getpid(), number)
        return original(*arguments, **options)

    setattr(owner, name, interrupted)


if __name__ == "__main__":
    wanted, places, mark = sys.argv[1:4]
    labels.secrets = SimpleNamespace(token_hex=lambda _: mark)
    for each in places.split(","):
        interrupt_before(each, signal.Signals[wanted])
    main(sys.argv[4:])
