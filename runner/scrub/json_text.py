"""Secrets in JSON as text: only their values change, every other byte stays, and the text may be cut off or corrupt.

A reader that takes any tokens in any order: what a chaos session did to a body must not keep us from reading it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from runner.scrub.assigned import VALUES
from runner.scrub.rules import DROPPED, is_trivial
from runner.scrub.words import Words

NAME_KEYS = frozenset({"name", "key", "k", "id", "field", "selector", "header", "param", "autocomplete"})
VALUE_KEYS = VALUES | {"v", "val", "injected_value", "original_value"}
"""``{"name": "token", "value": "…"}``: a pair, as HAR, Playwright and LOKI write it."""

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*+)("?)|([{}\[\],:])|([^\s"{}\[\],:]++)', re.DOTALL)
_COLON = re.compile(r"\s*+:")
_START = re.compile(r"\s*+(?:\)\]\}',?\s*+)?(?:\{\s*+[\"}]|\[\s*+[\[{\"\]0-9tfn-])")
_TOLD = re.compile(r"[\\=:<{\[]")
"""Without any of these a string gives away nothing but by its own shape, which is looked for in the whole text."""


def names_a_secret(key: str, name: str, words: Words) -> bool:
    """Whether what stands under a key such as ``name`` calls the value beside it secret. A sentence calls nothing."""
    return (key == "selector" or (len(name) <= 100 and " " not in name)) and words.secret_name(name)


@dataclass(slots=True)
class _Frame:
    """An object or a list that is being read. ``group``: everything in it is secret."""

    group: bool = False
    is_object: bool = False
    key: str | None = None
    told: dict[str, str] = field(default_factory=dict)
    worth: list[tuple[int, int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Edit:
    """Put ``text`` in place of the characters from ``start`` to ``end``."""

    start: int
    end: int
    text: str


def looks_like_json(text: str) -> bool:
    """Whether a text begins as an object or a list does, and goes on like one."""
    return _START.match(text) is not None


def scrub_json(text: str, words: Words) -> str:
    """JSON text, or anything that begins like it."""
    items = sum(text.count(sign) for sign in "{[,:")
    if items > words.patience:
        return DROPPED
    words.patience -= items
    edits = {edit.start: edit for edit in _edits(text, words)}  # a pair's edit comes after its value's own, and counts
    parts, at = [], 0
    for start in sorted(edits):
        parts += [text[at:start], edits[start].text]
        at = edits[start].end
    return "".join((*parts, text[at:]))


def _edits(text: str, words: Words) -> Iterator[Edit]:
    frames, last = [_Frame()], ""
    for token in _TOKEN.finditer(text):
        frame, sign = frames[-1], token[3]
        if sign in ("{", "["):
            group = frame.group or (frame.key is not None and words.secret_group(frame.key))
            frames.append(_Frame(group, sign == "{", frame.key if sign == "[" else None))
        elif sign in ("}", "]") and len(frames) > 1:
            yield from _pair(frames.pop(), words)
        elif sign == ":" and frame.is_object:
            frame.key = last
        elif sign == "," and frame.is_object:
            frame.key = None
        elif sign is None and not _COLON.match(text, token.end()):
            yield from _scalar(token, frame, words)
        elif sign is None:
            last = decoded(token[1] or "")
    for frame in frames:
        yield from _pair(frame, words)


def _scalar(token: re.Match[str], frame: _Frame, words: Words) -> Iterator[Edit]:
    """A string or a number; ``true``, ``false`` and ``null`` are never secret."""
    value = token[4] if token[1] is None else decoded(token[1])
    if frame.key is not None and frame.is_object:
        lowered = frame.key.lower()
        if lowered in NAME_KEYS or lowered == "type":
            frame.told[lowered] = value
        elif lowered in VALUE_KEYS:
            frame.worth.append((*token.span(), value))
    if is_trivial(value):
        return
    named = frame.key is not None and words.secret_name(frame.key)
    if (named or frame.group) and (token[1] is not None or not (frame.key or "").lower().endswith("s")):
        yield Edit(*token.span(), json.dumps(words.secret(value)))
    elif token[1] and _TOLD.search(token[1]) and (clean := words.value(value)) != value:
        yield Edit(*token.span(), json.dumps(clean, ensure_ascii="\\u" in token[1] or not _encodable(clean)))


def _pair(frame: _Frame, words: Words) -> Iterator[Edit]:
    password = frame.told.get("type", "").lower() == "password"
    if password:
        for name in filter(None, (frame.told.get("name"), frame.told.get("id"))):
            words.learn_name(name)
    if password or any(names_a_secret(key, name, words) for key, name in frame.told.items() if key != "type"):
        yield from (Edit(start, end, json.dumps(words.secret(value))) for start, end, value in frame.worth
                    if not is_trivial(value))


def decoded(inner: str) -> str:
    """What a JSON string says; its escapes as they are where they are none."""
    if "\\" not in inner:
        return inner
    try:
        value = json.loads(f'"{inner}"', strict=False)
    except ValueError:
        return inner
    return value if isinstance(value, str) else inner


def _encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)
