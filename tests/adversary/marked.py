"""A ``runner`` whose sessions are called as the caller likes: ``marked.py MARK ARGUMENTS...``

Each is called ``MARK`` and a number, so that others can look for what is left of them.
"""

from __future__ import annotations

import itertools
import sys
from types import SimpleNamespace

from runner.cli.main import main
from runner.sandbox.backends.docker import labels

if __name__ == "__main__":
    numbers = itertools.count()
    labels.secrets = SimpleNamespace(token_hex=lambda _: f"{sys.argv[1]}{next(numbers)}")
    main(sys.argv[2:])
