"""What the readers of tracebacks share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import StrEnum
from typing import TypeVar

Searcher = Callable[[Sequence[str]], Sequence[bool]]
"""Says of each text whether the contract's pattern is found in it."""

Block = TypeVar("Block")


class Reading(StrEnum):
    """By which rules output is read.

    ``REPOMIN`` is what ReproMin's reports were made by. ``NATIVE`` sees more: pytest's short form, exception
    classes with lower-case or local names, syntax errors without a heading, ``java.lang.Exception``. A
    recorded signature is met when either reading shows it.
    """

    REPOMIN = "repomin"
    NATIVE = "native"


def distinct(blocks: Sequence[Block], signature: Callable[[Block], Hashable]) -> Block | None:
    """The first block, if all have the same signature; ``None`` when there is none or they differ."""
    if len({signature(block) for block in blocks}) != 1:
        return None
    return blocks[0]
