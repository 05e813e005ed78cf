"""Names that are different bytes here and one file elsewhere: by case (macOS, Windows) or by normalisation."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from runner.payload.tree import Problem


def collisions(paths: Iterable[bytes]) -> list[Problem]:
    """A problem for each path that collides with one before it. ``paths`` are in order and hold every directory."""
    normalised: dict[str, bytes] = {}
    folded: dict[str, bytes] = {}
    problems: list[Problem] = []
    for path in paths:
        text = path.decode("utf-8", "surrogateescape")
        composed = unicodedata.normalize("NFC", text)
        caseless = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
        if composed in normalised:
            problems.append(Problem("normalisation_collision", path))
        elif caseless in folded:
            problems.append(Problem("case_collision", path))
        normalised.setdefault(composed, path)
        folded.setdefault(caseless, path)
    return problems
