"""Pictures and video as data in the page, so that it needs no file beside it."""

from __future__ import annotations

import base64

from runner.evidence.check import Evidence
from runner.evidence.result import Sample
from runner.evidence.session_record import FileRecord
from runner.reports.html.session.view import Media
from runner.reports.html.words import size

MAX_VIDEO = 24 << 20
MAX_PICTURES = 16 << 20
"""Bytes in one page: of its video, and of its pictures together."""

VIDEO = "replay.webm"
_WEBM, _PNG = b"\x1aE\xdf\xa3", b"\x89PNG\r\n\x1a\n"


class Shelf:
    """The media of one run: among its artifacts, or among the files of a recording."""

    def __init__(self, evidence: Evidence, sample: Sample | None) -> None:
        self._evidence = evidence
        self._files = {record.name: record for record in (evidence.result.session.files if evidence.result.session
                                                           else ())}
        self._artifacts = {record.path.removeprefix("out/"): record
                           for record in (sample.artifacts if sample is not None else ())}
        self._left = MAX_PICTURES

    def video(self) -> Media | None:
        """The run's video; ``None`` if none was kept. Raises EvidenceAltered."""
        return self._media(VIDEO, _WEBM, MAX_VIDEO, "Video of the session")

    def picture(self, name: str | None, label: str) -> Media | None:
        """A screenshot by the driver's name of it. Raises EvidenceAltered."""
        found = self._media(name, _PNG, self._left, label) if name else None
        if found is not None:
            self._left -= len(found.data) * 3 // 4
        return found

    def read(self, name: str) -> bytes:
        """A named file of the recording; nothing if there is none. Raises EvidenceAltered."""
        return self._evidence.file(self._files[name]) if name in self._files else b""

    def _media(self, name: str, magic: bytes, limit: int, label: str) -> Media | None:
        record = self._artifacts.get(name) or self._files.get(name)
        if record is None:
            return None
        file = record.name if isinstance(record, FileRecord) else record.file
        data = self._evidence.file(record) if record.bytes <= limit else b""
        shown = base64.b64encode(data).decode() if data.startswith(magic) else ""
        return Media(shown, file, size(record.bytes), label)
