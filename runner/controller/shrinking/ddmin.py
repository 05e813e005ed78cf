"""The algorithm ``ddmin`` of Zeller and Hildebrandt, over anything that can be left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeVar

T = TypeVar("T")
First = Callable[[Iterable[T]], int | None]
"""Position of the first that shows the failure, or ``None``. It may ask about several at once, and about later ones
in vain; a candidate that it heard of before costs nothing.
"""


def ddmin(parts: Sequence[T], first: First[tuple[T, ...]], granularity: int = 2) -> tuple[T, ...]:
    """The parts that are needed, in their order: leaving out any one of them, or all, shows the failure no more.

    All of ``parts`` are taken to show it. At most n² + 3n + 1 different selections of n parts are asked about,
    2 log₂ n + 3 where one part alone is to blame. ``granularity`` is into how many groups to divide at first.
    """
    kept, turn = tuple(parts), 0
    while kept:
        granularity = min(granularity, len(kept))
        groups = _split(kept, granularity)
        found = first(_tries(groups, turn))
        if found is None:
            if granularity == len(kept):
                break
            granularity, turn = 2 * granularity, 0
            continue
        kept = next(islice(_tries(groups, turn), found, None))
        if found <= len(groups):  # nothing, or one group alone
            granularity, turn = 2, 0
        else:  # go on behind the group that was left out
            turn = (turn + found - len(groups) - 1) % granularity
            granularity = max(granularity - 1, 2)
    return kept


def _split(parts: tuple[T, ...], number: int) -> list[tuple[T, ...]]:
    """``number`` groups of neighbours, none empty."""
    edges = [len(parts) * index // number for index in range(number + 1)]
    return [parts[edges[index]:edges[index + 1]] for index in range(number)]


def _tries(groups: Sequence[tuple[T, ...]], turn: int) -> Iterator[tuple[T, ...]]:
    """Nothing at all, each group alone, all groups but one; the one that is left out first is ``turn``."""
    yield ()
    if len(groups) == 1:
        return
    yield from groups
    if len(groups) == 2:
        return  # each is what is left without the other
    for index in chain(range(turn, len(groups)), range(turn)):
        yield tuple(part for other, group in enumerate(groups) if other != index for part in group)
