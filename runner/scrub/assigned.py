"""Secrets that a text assigns to a telling name: in source code, markup, query strings, header lines, messages.

Each finder tells spans and how sure it is: ``sure`` values are looked for everywhere, others go where they stand only.
Nothing is repeated without a bound but what the next match cannot begin in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from runner.browser.redacted import REDACTED
from runner.scrub.rules import is_trivial


class Found(NamedTuple):
    """One secret: where it stands, and whether it is one for sure."""

    start: int
    end: int
    sure: bool


NameRule = Callable[[str], bool]

_MOST = 8192
_NAME_THEN_QUOTE = re.compile(
    r"(?<![\w-])([\w-]{2,64}+)(?:\\{0,2}[\"'])?\]?\s{0,8}(?:=(?!=)|:)\s{0,8}(?=\\{0,2}[\"'`][^\s>,;)\]}+/])")
_ARGUMENTS = re.compile(r"\(\s{0,8}([\"'])([\w-]{2,64})\1\s{0,8},\s{0,8}(?=[\"'`])")
_QUOTED = re.compile(
    rf"\"((?:[^\"\\\n]|\\.){{0,{_MOST}}}+)|'((?:[^'\\\n]|\\.){{0,{_MOST}}}+)|`([^`\\]{{0,{_MOST}}}+)|"
    rf"\\\"((?:[^\"\\\n]|\\\\.){{0,{_MOST}}}+)|\\'((?:[^'\\\n]|\\\\.){{0,{_MOST}}}+)|"
    rf"\\\\\"([^\"\\\n]{{0,{_MOST}}}+)|\\\\'([^'\\\n]{{0,{_MOST}}}+)", re.DOTALL)
"""Quotes as they are, escaped, and escaped twice: source code within a string."""
_BARE_NAME = re.compile(r"(?:^|(?<=[?&;#\s\"'(,]))([\w.%-]{2,64}+)(?:=|:[ \t]{0,4}+)")
_BARE = re.compile(rf"([^\s&;\"'<>(){{}}\[\],#]{{1,{_MOST}}}+)(?!\()")
_CODE = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+")
"""``answer.token``: a place in a program, not a value."""
_TAG = re.compile(r"<[A-Za-z][^<>]{0,16384}+")
_ELEMENT = re.compile(rf"<([\w:.-]{{2,64}}+)(?:\s[^<>]{{0,1024}}+)?>([^<>]{{1,{_MOST}}}+)</")
_ATTRIBUTE = re.compile(r"([\w:-]{1,64}+)\s{0,8}=\s{0,8}(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'<>]++))")
VALUES = frozenset({"value", "content", "data-value", "__playwright_value_"})
"""Attributes that hold what an element that is named by another attribute is worth."""
NAMES = frozenset({"name", "id", "property", "itemprop", "autocomplete", "aria-label"})


def quoted(text: str, secret: NameRule) -> Iterator[Found]:
    """``password: "…"``, ``token='…'``, ``setItem("auth_token", "…")``; also with the quotes escaped."""
    for pattern, group in ((_NAME_THEN_QUOTE, 1), (_ARGUMENTS, 2)):
        for found in pattern.finditer(text):
            if secret(found[group]) and (value := _QUOTED.match(text, found.end())):
                start, end = value.span(value.lastindex or 0)
                if not is_trivial(text[start:end]):
                    yield Found(start, end, _plausible(text[start:end]))


def bare(text: str, secret: NameRule) -> Iterator[Found]:
    """``?token=…``, ``&token=…`` and a form from the beginning of the text; elsewhere only what looks random."""
    after = 0
    for found in _BARE_NAME.finditer(text):
        at = found.start()
        if at < after or not secret(found[1]) or not (worth := _BARE.match(text, found.end())):
            continue
        value, after = worth[1], worth.end()
        query = text[found.end(1)] == "=" and (at == 0 or text[at - 1] in "?&#")
        random = _plausible(value) and any(char.isdecimal() for char in value) and not _CODE.fullmatch(value)
        if (query or random) and not is_trivial(value):
            yield Found(*worth.span(1), query or len(value) >= 12)


def markup(text: str, secret: NameRule, learn_name: Callable[[str], None]) -> Iterator[Found]:
    """Values of password inputs, and of elements whose names say that they hold a secret."""
    yield from (Found(*found.span(2), sure=True) for found in _ELEMENT.finditer(text)
                if secret(found[1]) and not is_trivial(found[2]))
    for tag in _TAG.finditer(text):
        attributes = {found[1].lower(): found for found in _ATTRIBUTE.finditer(tag[0])}
        told = {name: _value(found) for name, found in attributes.items()}
        password = told.get("type", "").lower() == "password"
        if password:
            for name in filter(None, (told.get("name"), told.get("id"))):
                learn_name(name)
        if password or any(secret(told[name]) for name in NAMES & told.keys()):
            for name in VALUES & attributes.keys():
                if not is_trivial(told[name]):
                    start, end = attributes[name].span(attributes[name].lastindex or 0)
                    yield Found(tag.start() + start, tag.start() + end, sure=True)


def _value(found: re.Match[str]) -> str:
    return found[found.lastindex or 0]


def _plausible(value: str) -> bool:
    """Rather a secret than a word or a piece of prose."""
    return (len(value) >= 6 and not value.isalpha() and REDACTED not in value
            and not any(char in " \t\n(){}<>" for char in value))
