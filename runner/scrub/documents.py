"""Secrets in a JSON value, by its keys, by pairs of name and value, and by what its strings say."""

from __future__ import annotations

from typing import Any

from runner.browser.redacted import REDACTED
from runner.scrub.json_text import NAME_KEYS, VALUE_KEYS, names_a_secret
from runner.scrub.patterns import is_card
from runner.scrub.rules import is_trivial
from runner.scrub.words import Words


def scrub_document(value: Any, words: Words) -> Any:
    """A new value, keys in their order. Not recursive: a document may be as deep as its writer likes."""
    top: list[Any] = [None]
    todo: list[tuple[Any, Any, Any, str, bool]] = [(value, top, 0, "", False)]
    while todo:
        item, home, at, key, hidden = todo.pop()
        if isinstance(item, dict):
            copy: dict[str, Any] = {}
            home[at] = copy
            group, worth = hidden or words.secret_group(key), _worth(item, words)
            for name, inner in item.items():
                clean = words.text(str(name))
                copy[clean] = None
                todo.append((inner, copy, clean, str(name), group or name in worth))
        elif isinstance(item, list | tuple):
            home[at] = [None] * len(item)
            group = hidden or words.secret_group(key)
            todo += [(inner, home[at], index, key, group) for index, inner in enumerate(item)]
        else:
            home[at] = _scalar(item, key, hidden, words)
    return top[0]


def _worth(item: dict[str, Any], words: Words) -> set[str]:
    """Keys of this object whose values another key of it calls secret."""
    told = {key.lower(): name for key, name in item.items() if isinstance(name, str) and key.lower() in NAME_KEYS}
    kind = item.get("type")
    password = isinstance(kind, str) and kind.lower() == "password"
    if password:
        for name in (told.get("name"), told.get("id")):
            words.learn_name(name or "")
    if password or any(names_a_secret(key, name, words) for key, name in told.items()):
        return {key for key in item if key.lower() in VALUE_KEYS}
    return set()


def _scalar(item: Any, key: str, hidden: bool, words: Words) -> Any:
    if isinstance(item, str):
        if is_trivial(item):
            return item
        return words.secret(item) if hidden or words.secret_name(key) else words.value(item)
    if isinstance(item, bool) or not isinstance(item, int | float) or is_trivial(str(item)):
        return item
    if hidden or (words.secret_name(key) and not key.lower().endswith("s")):
        return words.secret(str(item))
    return REDACTED if isinstance(item, int) and 12 <= item.bit_length() <= 64 and is_card(b"%d" % item) else item
