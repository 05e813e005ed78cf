"""What pydantic finds wrong with a manifest, or the description of one, said in one line with the path that a person
sees in the file.
"""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from runner.errors import InputError, printable
from runner.scenarios.manifest import Manifest
from runner.sources.wording import describe

Checked = TypeVar("Checked", bound=BaseModel)
_HINTS = {"missing": "add it", "extra_forbidden": "take it out, or look for a slip of the pen"}


def checked_manifest(raw: dict[str, Any]) -> Manifest:
    """Raises InputError for the first thing that breaks a rule."""
    return checked(Manifest, raw, "manifest.json", "a manifest")


def checked(model: type[Checked], raw: dict[str, Any], file: str, what: str) -> Checked:
    """``raw``, which is ``what`` and was read from ``file``. Raises InputError for the first breach of a rule."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        more = error.error_count() - 1
    where, kind = _path(raw, first["loc"], missing=first["type"] == "missing"), first["type"]
    plain = {"missing": "is missing", "extra_forbidden": f"is no field of {what}"}
    said = plain.get(kind) or _with_value(first["msg"], first["input"])
    raise InputError(f"{file}: {where}{': ' if where else ''}{printable(said)[:400]}",
                     hint=_HINTS.get(kind, "mend it") + (f"; {more} more to mend" if more else ""))


def _with_value(message: str, value: object) -> str:
    own = message.removeprefix("Value error, ")
    said = own if own != message else message[:1].lower() + message[1:]
    return said if isinstance(value, dict | list) else f"is {describe(value)}: {said}"


def _path(raw: Any, location: tuple[int | str, ...], *, missing: bool) -> str:
    """The path as it is in the document: pydantic also names the kind of a profile, and marks keys."""
    parts, place = [], raw
    for number, part in enumerate(location):
        known = part in place if isinstance(place, dict) else isinstance(place, list) and part in range(len(place))
        if known:
            place = place[part]
        elif not missing or number < len(location) - 1:
            continue
        parts.append(str(part))
    return printable(".".join(parts))[:200]
