"""The values that are known to be secret, and where they stand in a text.

The work grows with the text alone: every form of a value is found by six characters of it (a gram), at most
:data:`FULL` forms share a gram, and two characters decide whether a place is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner.scrub.credentials import Span
from runner.scrub.forms import forms
from runner.scrub.rules import SHORTEST

MOST_VALUES = 4096
LONGEST = 2048
"""Characters of one value that are looked for as one; a longer value is looked for piece by piece."""
FULL = 64
_MOST_CHARACTERS = 16 << 20
_SAMPLES = 16
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_ESCAPE_BEFORE = re.compile(r"(?:%[0-9A-Fa-f]{2}|\\[bfnrtv]|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4})\Z")


class Known:
    """Secret values. ``looked`` counts the places of texts that were compared, ``dropped`` the values beyond the caps
    (they are still removed where their names stand, but not elsewhere).
    """

    def __init__(self) -> None:
        self.looked = 0
        self.dropped = 0
        self._values: set[str] = set()
        self._characters = 0
        self._grams: dict[str, list[tuple[int, str, bool]]] = {}
        self._begin: re.Pattern[str] | None = None

    def __len__(self) -> int:
        return len(self._values)

    def add(self, value: str) -> None:
        """Look for this value from now on; every piece of it, if it is long."""
        for at in range(0, max(1, len(value) - SHORTEST + 1), LONGEST):
            self._add(value[at:at + LONGEST])

    def _add(self, value: str) -> None:
        if value in self._values:
            return
        if len(self._values) >= MOST_VALUES or self._characters >= _MOST_CHARACTERS:
            self.dropped += 1
            return
        self._values.add(value)
        self._begin = None
        for form in forms(value):
            self._characters += len(form)
            self._file(form, bool(_WORD.fullmatch(form)))

    def _file(self, form: str, word: bool) -> None:
        """Under that gram of the form which the fewest others have."""
        last = len(form) - SHORTEST
        offsets = {last * index // (_SAMPLES - 1) for index in range(_SAMPLES)}
        fewest = min(sorted(offsets), key=lambda at: len(self._grams.get(form[at:at + SHORTEST], ())))
        others = self._grams.setdefault(form[fewest:fewest + SHORTEST], [])
        if len(others) < FULL:
            others.append((fewest, form, word))
        else:
            self.dropped += 1

    def spans(self, text: str) -> Iterator[Span]:
        """Where any of the values stands in any of its forms. A value that is one word or one number counts only where
        it stands alone, or else a password ``sun`` would take the ``sunflower`` with it.
        """
        if not self._grams:
            return
        for found in self._beginnings().finditer(text):
            self.looked += 1
            for offset, form, word in self._grams.get(text[found.start():found.start() + SHORTEST], ()):
                start = found.start() - offset
                if start >= 0 and text.startswith(form, start) and (not word or _alone(text, start, form)):
                    yield start, start + len(form)

    def _beginnings(self) -> re.Pattern[str]:
        """Places where a gram may begin: its first character, and the second behind it."""
        if self._begin is None:
            seconds: dict[str, set[str]] = {}
            for gram in self._grams:
                seconds.setdefault(gram[0], set()).add(gram[1])
            self._begin = re.compile("|".join(f"{re.escape(first)}(?=[{''.join(map(re.escape, sorted(after)))}])"
                                              for first, after in sorted(seconds.items())))
        return self._begin


def _alone(text: str, start: int, form: str) -> bool:
    """Whether no letter (no digit, for a number) goes on where the form begins or ends."""
    number = form.isdecimal()
    before, after = text[start - 1:start], text[start + len(form):start + len(form) + 1]
    if after.isdecimal() if number else after.isalpha():
        return False
    if before.isdecimal() if number else before.isalnum():
        return bool(_ESCAPE_BEFORE.search(text, max(0, start - 6), start)) or (not number and before.isdecimal())
    return True
