"""What personas type: the mistakes of novices, and the attempts of attackers. All of it is plain text."""

from __future__ import annotations

import random

from runner.driver.view import Element

NOVICE = (
    "",
    "     ",
    "a",
    "lorem ipsum dolor " * 300,
    "Zoë Ångström-Łukasz",
    "\U0001f469\u200d\U0001f680\U0001f3fd\u2764\ufe0f",
    "\u202edesrever\u202c \u0645\u0631\u062d\u0628\u0627 \u200b",
    "-17",
    "31/02/2026",
    "O'Neill & \"Sons\" <info@example.invalid>",
    "line one\nline two\tand a tab",
)
"""Nothing, blanks, too short, too long, accents, joined emoji, right-to-left and invisible characters, a negative
number, a day that does not exist, quotes and brackets, several lines."""
HOSTILE = (
    "<img src=missing onerror=\"document.title='marked'\">",
    "\"><svg onload=\"document.title='marked'\">",
    "{{ 6 * 7 }} ${6 * 7} <%= 6 * 7 %>",
    "../../../../etc/hostname\u0000.txt",
    "%s%n%x %00 %0d%0aX-Marked: 1",
    "__proto__[marked]=1",
    "x'; SELECT pg_sleep(0); --",
    "9" * 400,
)
BYPASSES = (
    "' OR 'a'='a",
    "admin'-- -",
    '" OR ""="',
    "') OR ('1'='1",
    "' UNION SELECT 1, 'admin', 'x' -- -",
)
"""For fields of a login form."""
KEYS = ("Escape", "Enter", "Tab", "Backspace")

_BY_TYPE = {
    "number": ("-1", "0", "0.1", "9007199254740993"),
    "date": ("1970-01-01", "2024-02-29", "9999-12-31"),
    "datetime-local": ("1970-01-01T00:00", "2024-02-29T23:59"),
    "month": ("1970-01", "9999-12"),
    "week": ("2020-W53", "1970-W01"),
    "time": ("00:00", "23:59"),
    "color": ("#000000", "#ffffff"),
}
"""A browser takes nothing else in an input of these types."""


def typed(rng: random.Random, field: Element, texts: tuple[str, ...]) -> str:
    """One of ``texts``, or of what the field takes."""
    return rng.choice(_BY_TYPE.get(field.type, texts))


def shown(value: str) -> str:
    """A payload as a log of actions tells it: on one line, and not all of it."""
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:36]}... ({len(value)} characters)"
