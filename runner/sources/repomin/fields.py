"""Typed look-ups in one JSON object. Each names the field, what is wrong and what is expected.

"Integer" never includes JSON booleans, "number" is an integer or float that a double can hold, and every
look-up is for a key that must be there: what may be absent is asked for first, by
:meth:`Fields.has` (null is a value) or :meth:`Fields.given` (null counts as absent).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping

from runner.errors import ReportError
from runner.sources.wording import missing, wrong

_DIGEST = re.compile(r"[0-9a-f]{64}")
DIGEST = "64 lowercase hex digits"


class Fields:
    """One object of a report. ``path`` is where it is; empty for the report itself."""

    def __init__(self, value: object, path: str = "") -> None:
        if not isinstance(value, dict):
            raise wrong(path or "the report", value, "an object")
        self.raw: Mapping[str, object] = value
        self.path = path

    def at(self, key: str) -> str:
        """The full path of a field."""
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        """Whether the key is there, be it null."""
        return key in self.raw

    def given(self, key: str) -> bool:
        """Whether the key is there and not null."""
        return self.raw.get(key) is not None

    def bad(self, key: str, expected: str) -> ReportError:
        """The error for a field that is there with a wrong value, or is not there."""
        if key not in self.raw:
            return missing(self.at(key), expected)
        return wrong(self.at(key), self.raw[key], expected)

    def integer(self, key: str, low: int | None = None, high: int | None = None) -> int:
        """An integer within bounds."""
        value = self.raw.get(key)
        if (isinstance(value, int) and not isinstance(value, bool)
                and (low is None or value >= low) and (high is None or value <= high)):
            return value
        raise self.bad(key, _integer_wanted(low, high))

    def number(self, key: str, wanted: Interval) -> float:
        """A finite number in an interval."""
        value = _finite(self.raw.get(key))
        if value is None or value not in wanted:
            raise self.bad(key, str(wanted))
        return value

    def flag(self, key: str) -> bool:
        """A boolean."""
        value = self.raw.get(key)
        if not isinstance(value, bool):
            raise self.bad(key, "true or false")
        return value

    def text(self, key: str, *, empty: bool = False) -> str:
        """Text, not empty unless ``empty``."""
        value = self.raw.get(key)
        if not isinstance(value, str) or not (value or empty):
            raise self.bad(key, "text" if empty else "non-empty text")
        return value

    def choice(self, key: str, allowed: Collection[str]) -> str:
        """One of a few words."""
        value = self.raw.get(key)
        if not isinstance(value, str) or value not in allowed:
            raise self.bad(key, " or ".join(f'"{word}"' for word in sorted(allowed)))
        return value

    def digest(self, key: str) -> str:
        """A SHA-256."""
        value = self.raw.get(key)
        if not isinstance(value, str) or not _DIGEST.fullmatch(value):
            raise self.bad(key, DIGEST)
        return value

    def version_one(self, key: str) -> None:
        """Exactly the integer 1."""
        self.integer(key, 1, 1)

    def array(self, key: str) -> list[object]:
        """An array."""
        value = self.raw.get(key)
        if not isinstance(value, list):
            raise self.bad(key, "an array")
        return value

    def object(self, key: str) -> Fields:
        """An object."""
        if not isinstance(self.raw.get(key), dict):
            raise self.bad(key, "an object")
        return Fields(self.raw[key], self.at(key))

    def objects(self, key: str) -> Iterator[Fields]:
        """An array of objects, one at a time: the first bad one ends it."""
        for index, item in enumerate(self.array(key)):
            yield Fields(item, f"{self.at(key)}[{index}]")

    def texts(self, key: str) -> tuple[str, ...]:
        """A non-empty array of non-empty texts."""
        items = self.array(key)
        if not items:
            raise wrong(self.at(key), items, "a non-empty array")
        return tuple(_item_text(item, f"{self.at(key)}[{index}]") for index, item in enumerate(items))


class Interval:
    """An interval of numbers, told as a person would."""

    def __init__(self, low: float, high: float = math.inf, *, low_open: bool = False,
                 high_open: bool = False) -> None:
        self.low, self.high, self.low_open, self.high_open = low, high, low_open, high_open

    def __contains__(self, value: float) -> bool:
        above = value > self.low if self.low_open else value >= self.low
        return above and (value < self.high if self.high_open else value <= self.high)

    def __str__(self) -> str:
        if math.isinf(self.high):
            return f"a finite number {'>' if self.low_open else '>='} {self.low:g}"
        left, right = "(" if self.low_open else "[", ")" if self.high_open else "]"
        return f"a number in {left}{self.low:g}, {self.high:g}{right}"


POSITIVE = Interval(0, low_open=True)
NOT_NEGATIVE = Interval(0)
PROBABILITY = Interval(0, 1)
RATE = Interval(0, 1, low_open=True)
CONFIDENCE = Interval(0, 1, low_open=True, high_open=True)


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _integer_wanted(low: int | None, high: int | None) -> str:
    if low is not None and low == high:
        return str(low)
    if high is not None:
        return f"an integer from {low if low is not None else '-infinity'} to {high}"
    return "an integer" if low is None else f"an integer >= {low}"


def _item_text(item: object, path: str) -> str:
    if not isinstance(item, str) or not item:
        raise wrong(path, item, "non-empty text")
    return item


def same_rate(stated: float, part: int, whole: int) -> bool:
    """Whether ``stated`` is ``part / whole`` up to ReproMin's relative tolerance. ``whole`` is not 0."""
    return math.isclose(stated, part / whole, rel_tol=1e-12, abs_tol=0.0)
