"""Glob patterns over paths as bytes: ``*`` and ``?`` within one name, ``**`` for any number of directories.

Own code because patterns come from reports: it takes time in the product of the lengths, whatever the pattern.
"""

from __future__ import annotations


def matches(pattern: bytes, path: bytes) -> bool:
    """Whether the whole path matches. A leading ``./`` is ignored; brackets stand for themselves."""
    wanted = pattern.removeprefix(b"./").split(b"/")
    names = path.split(b"/")
    reached = {0}  # how many names the pattern's parts so far may have used up
    for part in wanted:
        if part == b"**":
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {used + 1 for used in reached if used < len(names) and _name_matches(part, names[used])}
        if not reached:
            return False
    return len(names) in reached


def _name_matches(part: bytes, name: bytes) -> bool:
    """Greedy match with one way back: to the latest star."""
    position = used = 0
    star, resume = -1, 0
    while used < len(name):
        char = part[position:position + 1]
        if char == b"*":
            star, resume = position, used
            position += 1
        elif char and char in (b"?", name[used:used + 1]):
            position += 1
            used += 1
        elif star >= 0:
            resume += 1
            position, used = star + 1, resume
        else:
            return False
    return not part[position:].strip(b"*")
