"""Secrets in a Playwright trace (``trace.zip``), in such a way that its viewer still opens it.

Layout (Playwright 1.65, trace version 10): ``*.trace``, ``*.network`` and ``*.stacks`` hold JSON, one value a line;
``resources/HASH.EXT`` are bodies and attachments, named by the SHA-1 of what they hold; ``screencast/*`` are pictures.
Scrubbed bodies get new names, since the hash of a short secret tells the secret; ``src/`` is left out.

The file is a stranger's: nothing is written to disk, every size and count is bounded, and names that lead anywhere
else, or come twice, are left out.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from runner.scrub.har import Unscrubbable, scrub_entry
from runner.scrub.rules import DROPPED
from runner.scrub.words import Words

MOST = 256 << 20
MOST_DIRECTORY = 4 << 20
MOST_ENTRIES = 20_000
MOST_ENTRY = 64 << 20
MOST_IN_ALL = 256 << 20
MOST_RATIO = 1000
_FREE = 1 << 20
"""Bytes of an entry that are read whatever its ratio."""

_NAME = re.compile(r"[\w@-][\w@.-]{0,199}(?:/[\w@-][\w@.-]{0,199})?", re.ASCII)
_LINES = re.compile(r"\.(?:trace|network|stacks)\Z")
_BODY = re.compile(r"resources/([0-9a-f]{40})((?:\.[\w-]{1,20})?)\Z")
_END = struct.Struct("<4s4H2LH")
_TIME = (1980, 1, 1, 0, 0, 0)


def learn_trace(raw: bytes, words: Words) -> None:
    """Go through a trace for the secrets in it (with the scrubber learning). Raises :class:`Unscrubbable`."""
    _Trace(raw, words).read()


def scrub_trace(raw: bytes, words: Words) -> bytes:
    """The trace without secrets. Raises :class:`Unscrubbable`."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in _Trace(raw, words).read().items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), data, zipfile.ZIP_DEFLATED)
    return sink.getvalue()


class _Trace:
    """One trace that is being read."""

    def __init__(self, raw: bytes, words: Words) -> None:
        self._raw = raw
        self._words = words
        self._kinds: dict[str, str] = {}
        self._renamed: dict[str, str] = {}

    def read(self) -> dict[str, bytes]:
        """Every entry that is kept, scrubbed. Bodies come first, since the lines name them by what they hold."""
        lines = {name: data for name, data in _entries(self._raw) if _LINES.search(name)}
        for data in lines.values():
            self._learn_kinds(data)
        bodies = {}
        for name, data in _entries(self._raw):
            if name not in lines:
                clean = self._words.data(data, self._kinds.get(name, ""))
                bodies[self._rename(name, data, clean)] = clean
        return {**{name: self._lines(data) for name, data in lines.items()}, **bodies}

    def _learn_kinds(self, data: bytes) -> None:
        """The content type of each body, as the request or the response that it belongs to tells it."""
        for line in data.split(b"\n"):
            value = _parsed(line)
            snapshot = value.get("snapshot") if isinstance(value, dict) else None
            if not isinstance(snapshot, dict) or b'"mimeType"' not in line:
                continue
            for whole, part in (("request", "postData"), ("response", "content")):
                body = snapshot.get(whole)
                told = body.get(part) if isinstance(body, dict) else None
                if isinstance(told, dict) and isinstance(told.get("mimeType"), str):
                    self._kinds |= {name: told["mimeType"] for name in (_resource(told.get("_file")),
                                                                        _resource(told.get("_sha1"))) if name}

    def _rename(self, name: str, data: bytes, clean: bytes) -> str:
        body = _BODY.match(name)
        if clean == data or body is None:
            return name
        fresh = hashlib.sha1(clean, usedforsecurity=False).hexdigest()
        self._renamed[body[1]] = fresh
        return f"resources/{fresh}{body[2]}"

    def _lines(self, data: bytes) -> bytes:
        return b"\n".join(self._line(line) for line in data.split(b"\n"))

    def _line(self, line: bytes) -> bytes:
        if not line.strip():
            return line
        value = _parsed(line)
        if value is None:
            return json.dumps({"type": "log", "message": DROPPED}).encode()
        clean = self._value(value)
        text = line if clean == value else json.dumps(clean, ensure_ascii=True, separators=(",", ":")).encode()
        return re.sub(rb"[0-9a-f]{40}", lambda found: self._renamed.get(found[0].decode(), found[0].decode()).encode(),
                      text) if self._renamed else text

    def _value(self, value: Any) -> Any:
        if not isinstance(value, dict) or value.get("type") != "resource-snapshot":
            return self._words.document(value)
        return {name: scrub_entry(item, self._words) if name == "snapshot" else self._words.document(item)
                for name, item in value.items()}


def _parsed(line: bytes) -> Any:
    """A line's value; ``None`` for what is no JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _resource(name: Any) -> str:
    if not isinstance(name, str):
        return ""
    return name if name.startswith("resources/") else f"resources/{name}"


def _entries(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Names and contents within the bounds; names that no trace has are left out."""
    _check_end(raw)
    seen: set[str] = set()
    left = MOST_IN_ALL
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if len(archive.infolist()) > MOST_ENTRIES:
                raise Unscrubbable(f"the trace has more than {MOST_ENTRIES} entries")
            for info in archive.infolist():
                if info.filename in seen or not _NAME.fullmatch(info.filename) or info.filename.startswith("src/"):
                    continue
                seen.add(info.filename)
                data = _content(archive, info, left)
                left -= len(data)
                yield info.filename, data
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError) as error:
        raise Unscrubbable(f"the trace is no readable ZIP file: {type(error).__name__}") from error


def _check_end(raw: bytes) -> None:
    """Refuse a directory that is too large before anything reads it (ZIP's APPNOTE, section 4.3.16)."""
    if len(raw) > MOST:
        raise Unscrubbable(f"the trace has {len(raw)} bytes, more than {MOST}")
    if len(raw) < _END.size or raw[-_END.size:][:4] != b"PK\x05\x06" or raw[-_END.size - 20:][:4] == b"PK\x06\x07":
        raise Unscrubbable("the trace does not end as a ZIP file without a comment does, or is a ZIP64 file")
    size = _END.unpack(raw[-_END.size:])[5]
    if size > MOST_DIRECTORY:
        raise Unscrubbable(f"the trace's directory has {size} bytes, more than {MOST_DIRECTORY}")


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo, left: int) -> bytes:
    """What an entry really holds, whatever it says of itself."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # the others are not read in bounds
        raise Unscrubbable("an entry of the trace is neither stored nor deflated")
    most = min(MOST_ENTRY, left, max(_FREE, info.compress_size * MOST_RATIO))
    with archive.open(info) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Unscrubbable(f"an entry of the trace holds more than {most} bytes")
    return data
