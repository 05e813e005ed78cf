"""Untrusted JSON against the shape that it must have; the first thing wrong becomes one line that names it."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from runner.errors import ReportError, printable
from runner.sources.jsontext import parse_json
from runner.sources.wording import describe, missing, wrong

T = TypeVar("T")

_SHOWN_PATH = 120
_SHOWN_MESSAGE = 200


def plain_json(raw: bytes) -> object:
    """A JSON text as values that can be written down again: no repeated keys, no numbers that are none, and, for half
    characters, which no UTF-8 can hold, the replacement character. Raises ReportError.
    """
    document = parse_json(raw)
    if document.duplicate is not None:
        raise ReportError(f"has the key {describe(document.duplicate)} twice in one object")
    return _plain(document.value)


def read_as(kind: type[T], value: object, where: str = "") -> T:
    """A value as one of the frozen dataclasses or models, strictly: no text for a number, no number for a flag.

    ``where`` is where the value is, for the message. Keys that the class does not have are ignored. Raises ReportError.
    """
    try:
        result: T = _adapter(cast("Hashable", kind)).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        raise _first(error, where) from None
    return result


def at_most(value: object, key: str, most: int) -> None:
    """Refuse an array with too many items before anything is made of them. Raises ReportError."""
    if isinstance(value, list) and len(value) > most:
        raise ReportError(f"{key}: has {len(value)} items, expected at most {most}")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _plain(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise ReportError(f"has {value!r}, expected only finite numbers")
    if isinstance(value, int) and abs(value) >= 2**63:
        raise ReportError("has an integer beyond 64 bits")
    return value


def _first(error: ValidationError, where: str) -> ReportError:
    first = error.errors(include_url=False, include_context=False)[0]
    path = _path(where, first["loc"])
    if first["type"] == "missing":
        return missing(path, "by this format")
    if first["type"].startswith("union_tag"):
        return wrong(path, first["input"], "one of the kinds of this format")
    message = first["msg"].removeprefix("Value error, ").replace("Input should", "expected to")
    return ReportError(f"{path}: is {describe(first['input'])}: {printable(message[:_SHOWN_MESSAGE])}")


def _path(where: str, parts: tuple[int | str, ...]) -> str:
    """``replay_trace[3].selector``; a member of a union, which pydantic names by its class, is left out."""
    text = where
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part[:1].islower():
            text += f".{part}" if text else part
    return printable(text[:_SHOWN_PATH]) or "the document"
