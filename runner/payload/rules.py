"""The rules by which sealing refuses an entry, beyond the caps that the walk itself holds."""

from __future__ import annotations

from runner.payload.tree import Found, Kind, Problem, SealLimits

MESSAGES = {
    "root_not_directory": "is not a directory",
    "root_is_link": "is a symbolic link",
    "absolute_symlink": "is a symbolic link with an absolute target",
    "escaping_symlink": "is a symbolic link that leads out of the payload",
    "hard_link": "has more than one hard link",
    "device": "is a device",
    "fifo": "is a fifo",
    "socket": "is a socket",
    "too_many_files": "is one entry too many",
    "too_much_text": "exceeds the total length of all paths and link targets",
    "too_large": "exceeds the total size",
    "too_deep": "lies too deep",
    "name_too_long": "has too long a name",
    "path_too_long": "has too long a path",
    "unreadable": "cannot be read",
    "case_collision": "differs from another entry only by upper and lower case",
    "normalisation_collision": "differs from another entry only by Unicode normalisation",
}
"""Every rule of sealing, and what breaking it means."""

_SPECIAL = {Kind.FIFO: "fifo", Kind.SOCKET: "socket", Kind.DEVICE: "device"}
_MAX_HOPS = 40
"""As many links as Linux follows in one path; a longer chain, or a loop, leads nowhere."""
_MAX_STEPS = 1_000_000
"""Path components looked at for all links together, so that a payload of links cannot keep us busy."""


def judge(found: list[Found], limits: SealLimits) -> list[Problem]:
    """Every rule that the entries of a walk break, in order of path."""
    links = _Links(found)
    problems: list[Problem] = []
    total = 0
    for item in found:
        if item.kind is Kind.FILE:
            total += item.size
            if item.links > 1:
                problems.append(Problem("hard_link", item.path))
            if total > limits.bytes:
                problems.append(Problem("too_large", item.path, f"over {limits.bytes} bytes"))
                total -= item.size
        elif item.kind is Kind.LINK:
            if item.target.startswith(b"/"):
                problems.append(Problem("absolute_symlink", item.path))
            elif links.escapes(item):
                problems.append(Problem("escaping_symlink", item.path))
        elif item.kind in _SPECIAL:
            problems.append(Problem(_SPECIAL[item.kind], item.path))
    return problems


class _Links:
    """Follows links within the tree as it was found, never on disk."""

    def __init__(self, found: list[Found]) -> None:
        self._targets = {item.path: item.target for item in found if item.kind is Kind.LINK}
        self._steps = _MAX_STEPS

    def escapes(self, link: Found) -> bool:
        """Whether a relative link leaves the root, through other links too. Names that do not exist are fine.

        When in doubt (the budget of steps is spent) it is said to escape.
        """
        place = link.path.split(b"/")[:-1]
        ahead = link.target.split(b"/")[::-1]
        hops = 0
        while ahead:
            self._steps -= 1
            if self._steps < 0:
                return True
            name = ahead.pop()
            if name == b"..":
                if not place:
                    return True
                place.pop()
            elif name not in (b"", b"."):
                place.append(name)
                target = self._targets.get(b"/".join(place))
                if target is not None:
                    hops += 1
                    if hops > _MAX_HOPS:
                        return False
                    if target.startswith(b"/"):
                        return True
                    place.pop()
                    ahead += target.split(b"/")[::-1]
        return False
