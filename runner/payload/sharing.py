"""Work on many files by two threads: system calls and digests release the interpreter's lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_CHUNK = 64
_WORTH_A_THREAD = 1 << 20
"""Below this many bytes in all, a second thread costs more than it saves."""


def share(items: list[Item], total_bytes: int,
          work: Callable[[Iterator[list[Item]]], Result]) -> list[Result]:
    """Call ``work`` once a thread with the chunks of ``items`` it gets to take; returns what each returned.

    The first error of any thread is raised here, after all have ended; the others then take no more chunks.
    """
    chunks = deque(items[start:start + _CHUNK] for start in range(0, len(items), _CHUNK))
    results: list[Result] = []
    errors: list[Exception] = []

    def take() -> Iterator[list[Item]]:
        while True:
            try:
                chunk = chunks.popleft()
            except IndexError:
                return
            yield chunk

    def run() -> None:
        try:
            results.append(work(take()))
        except Exception as error:  # noqa: BLE001 - nothing is swallowed: it is raised below
            chunks.clear()
            errors.append(error)

    helper = Thread(target=run, name="share") if total_bytes > _WORTH_A_THREAD else None
    if helper is not None:
        helper.start()
    try:
        run()
    finally:
        chunks.clear()
        if helper is not None:
            helper.join()
    if errors:
        raise errors[0]
    return results
