"""From a parsed JSON document to the model of its kind, and back to bytes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError

from runner.errors import ReportError, printable
from runner.sources.jsontext import canonical_json
from runner.sources.native.command import CommandReport
from runner.sources.wording import describe, missing, wrong

SCHEMA: Final = "runner.report/1"
KINDS: Final[Mapping[str, type[CommandReport]]] = MappingProxyType({"command": CommandReport})
"""One line for each kind of report."""

_UNION_TAGS = frozenset({"java", "python", "process"})
_SHOWN_PATH = 120
_SHOWN_MESSAGE = 200


def parse_native(data: object) -> CommandReport:
    """The model of a parsed report, chosen by its ``kind``. Raises ReportError for the first rule broken."""
    if not isinstance(data, dict):
        raise wrong("the report", data, "an object")
    if data.get("schema") != SCHEMA:
        raise (wrong("schema", data["schema"], f'"{SCHEMA}"') if "schema" in data
               else missing("schema", f'"{SCHEMA}"'))
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise wrong("kind", kind, " or ".join(f'"{known}"' for known in KINDS))
    try:
        return KINDS[kind].model_validate(data)
    except ValidationError as error:
        raise _first(error) from None


def dump_native(report: CommandReport) -> bytes:
    """Canonical bytes; parsing them gives an equal report."""
    return canonical_json(report.model_dump(mode="json", by_alias=True))


def _first(error: ValidationError) -> ReportError:
    first = error.errors(include_url=False, include_context=False)[0]
    path = _path(first["loc"])
    if first["type"] == "missing":
        return missing(path, f"by {SCHEMA}")
    if first["type"] == "extra_forbidden":
        return ReportError(f"{path}: is not a key of {SCHEMA}, expected only keys that it defines")
    if first["type"].startswith("union_tag"):
        # Pydantic's own message holds the whole value, whatever its size.
        tag = first["input"].get("kind") if isinstance(first["input"], dict) else first["input"]
        return wrong(f"{path}.kind", tag, " or ".join(f'"{known}"' for known in sorted(_UNION_TAGS)))
    message = first["msg"].removeprefix("Value error, ").replace("Input should", "expected to")
    return ReportError(f"{path}: is {describe(first['input'])}: {printable(message[:_SHOWN_MESSAGE])}")


def _path(parts: tuple[int | str, ...]) -> str:
    """``oracle.signature.frames[0]``: without the tag that pydantic puts in for a member of a union."""
    text = ""
    for index, part in enumerate(parts):
        if isinstance(part, int):
            text += f"[{part}]"
        elif not (part in _UNION_TAGS and index and parts[index - 1] == "signature"):
            text += f".{part}" if text else part
    return printable(text[:_SHOWN_PATH]) or "the report"
