"""Colours of a terminal (SGR, ECMA-48 8.3.117, with xterm's 256 and direct colours) as a bounded set of classes.

Whatever a program asks for becomes one of 16 text classes or 8 background classes, each of which the style sheet
gives a readable colour in both schemes. So no output can hide text by painting it in its background's colour.
"""

from __future__ import annotations

from functools import lru_cache

_PALETTE = (
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
    (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255),
    (255, 255, 255))
_LEVELS = (0, 95, 135, 175, 215, 255)
_ON = {1: "b", 2: "d", 3: "i", 4: "u", 7: "v", 8: "h", 9: "s", 21: "u"}
_OFF = {22: "bd", 23: "i", 24: "u", 27: "v", 28: "h", 29: "s"}
_EXTENDED = {38, 48, 58}
_MOST_DIGITS = 3


class Pen:
    """The state that SGR sequences change. ``classes`` names it for the page."""

    def __init__(self) -> None:
        self._text: int | None = None
        self._ground: int | None = None
        self._marks: set[str] = set()
        self.classes = ""

    def apply(self, parameters: str) -> None:
        """Take one sequence's parameters, such as ``1;38;5;208``. Unknown ones are passed over."""
        parts = iter(parameters.split(";"))
        for part in parts:
            code, *rest = part.split(":")
            number = _number(code)
            if number in _EXTENDED:
                kind = rest or [next(parts, "")]
                colour = _colour(kind[0], kind[1:] or [next(parts, "") for _ in range(3 if kind[0] == "2" else 1)])
                self._paint(number, colour)
            elif number == 4 and rest == ["0"]:
                self._marks.discard("u")
            else:
                self._set(number)
        self.classes = self._classes()

    def _paint(self, number: int, colour: int | None) -> None:
        if number == 38 and colour is not None:
            self._text = colour
        elif number == 48 and colour is not None:
            self._ground = colour

    def _set(self, number: int) -> None:
        if number == 0:
            self._text = self._ground = None
            self._marks.clear()
        elif number in _ON:
            self._marks.add(_ON[number])
        elif number in _OFF:
            self._marks -= set(_OFF[number])
        elif 30 <= number <= 37 or 90 <= number <= 97:
            self._text = number - 30 if number < 40 else number - 82
        elif 40 <= number <= 47 or 100 <= number <= 107:
            self._ground = number - 40 if number < 50 else number - 92
        elif number == 39:
            self._text = None
        elif number == 49:
            self._ground = None

    def _classes(self) -> str:
        text, ground, marks = self._text, self._ground, set(self._marks)
        if "v" in marks and (text is not None or ground is not None):
            marks.discard("v")
            text, ground = ground, 0 if text is None else text
        names = sorted(marks)
        if ground is not None:
            names.append(f"g{ground & 7}")
        elif text is not None:
            names.append(f"f{text}")
        return " ".join(names)


def _number(text: str) -> int:
    """A parameter; empty is 0, anything unusual is -1 (no such code)."""
    if not text:
        return 0
    return int(text) if len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit() else -1


def _colour(kind: str, values: list[str]) -> int | None:
    numbers = [_number(value) for value in values]
    if any(not 0 <= number <= 255 for number in numbers):
        return None
    if kind == "5":
        return _indexed(numbers[0])
    if kind == "2" and len(numbers) >= 3:
        return _nearest(*numbers[-3:])
    return None


def _indexed(number: int) -> int:
    if number < 16:
        return number
    if number >= 232:
        grey = 8 + 10 * (number - 232)
        return _nearest(grey, grey, grey)
    cube = number - 16
    return _nearest(_LEVELS[cube // 36], _LEVELS[cube // 6 % 6], _LEVELS[cube % 6])


@lru_cache(maxsize=4096)
def _nearest(red: int, green: int, blue: int) -> int:
    def distance(index: int) -> int:
        r, g, b = _PALETTE[index]
        return (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2

    return min(range(16), key=distance)
