"""Policy files as plain data. A policy decides what a stranger's code may do, so its file gets no YAML magic:
no anchors, aliases, tags, merge keys, duplicate keys, several documents, or numbers that are not plain.
"""

from __future__ import annotations

import math
import os
import re
import stat

import yaml

from runner.errors import PolicyError, printable

LOADER: type[yaml.SafeLoader | yaml.CSafeLoader] = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
"""The same strictness either way; the one in C takes a tenth of the time, of which each start pays five files."""
MAX_BYTES = 1 << 20
_MAX_DEPTH = 16
_MAX_EVENTS = 20_000
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_BOOLEANS = {"true": True, "false": False}
_NULLS = frozenset({"", "~", "null"})
_MAP, _SEQUENCE = "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"


def read_policy_file(path: str) -> dict[str, object]:
    """The mapping in the file. Raises PolicyError, one line that names the file."""
    source = printable(path)
    try:
        raw = _read_regular(path)
    except OSError as error:
        raise PolicyError(f"policy {source}: {error.strerror or 'cannot be read'}") from None
    except ValueError as error:
        raise PolicyError(f"policy {source}: {error}") from None
    return parse_policy_text(raw, source)


def parse_policy_text(raw: bytes, source: str) -> dict[str, object]:
    """The mapping in ``raw``. Raises PolicyError, one line that names ``source``."""
    try:
        if len(raw) > MAX_BYTES:
            raise ValueError(f"is larger than {MAX_BYTES} bytes")
        text = raw.decode("utf-8")
        _refuse_magic(text)
        node = yaml.compose(text, LOADER)
        value = _plain(node) if node is not None else None
        if not isinstance(value, dict):
            raise ValueError("must be a mapping of fields")  # noqa: TRY004 - one kind of failure, one line
    except UnicodeDecodeError:
        raise PolicyError(f"policy {source}: is not UTF-8 text") from None
    except yaml.YAMLError as error:
        raise PolicyError(f"policy {source}: is not YAML{_place(error)}") from None
    except ValueError as error:
        raise PolicyError(f"policy {source}: {error}") from None
    return value


def _read_regular(path: str) -> bytes:
    """Never waits: a fifo or a device is refused, not read."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError("is not a regular file")
        return file.read(MAX_BYTES + 1)


def _refuse_magic(text: str) -> None:
    """Looks at the event stream, which neither expands anything nor recurses."""
    depth = documents = 0
    for count, event in enumerate(yaml.parse(text, LOADER)):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
        elif isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            raise ValueError(f"line {line}: anchors and aliases are not allowed")
        if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag is not None:
            raise ValueError(f"line {line}: tags are not allowed")
        if depth > _MAX_DEPTH or count > _MAX_EVENTS:
            raise ValueError(f"line {line}: is nested too deeply or too long")
        if documents > 1:
            raise ValueError(f"line {line}: holds more than one document")


def _plain(node: yaml.Node) -> object:
    """Data of a node tree whose depth is already bounded."""
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return _mapping(node)
    assert isinstance(node, yaml.ScalarNode)
    return _scalar(node)


def _mapping(node: yaml.MappingNode) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode) or not key.tag.endswith(":str"):
            raise ValueError(f"line {line}: a key must be plain text")
        if key.value in found:
            raise ValueError(f"line {line}: {printable(key.value)[:80]} is given twice")
        found[key.value] = _plain(value)
    return found


def _scalar(node: yaml.ScalarNode) -> object:
    """Booleans and numbers only in their plain spelling; ``yes``, ``010``, ``1:30`` and dates are refused."""
    kind, text, line = node.tag.rpartition(":")[2], str(node.value), node.start_mark.line + 1
    if kind == "str":
        return text
    if kind == "bool" and text in _BOOLEANS:
        return _BOOLEANS[text]
    if kind == "int" and _INTEGER.fullmatch(text):
        return int(text)
    if kind == "null" and text in _NULLS:
        return None
    if kind == "float":
        return _number(text, line)
    raise ValueError(f"line {line}: {printable(text)[:80]} is ambiguous; put it in quotes or write it plainly")


def _number(text: str, line: int) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"line {line}: {printable(text)[:80]} is not a plain number")
    return number


def _place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f" (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else ""
