"""The door for reports: a file of any known format becomes a case, or one clear line and exit 2."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256

from runner.case import Case, RecordedPayload
from runner.errors import ReportError, UsageError, printable
from runner.sources import native, repomin
from runner.sources.jsontext import Document, parse_json, refuse_duplicates
from runner.sources.reading import SUPPORTED, read_report
from runner.sources.wording import describe

_REPOMIN_KEYS = frozenset({"schema_version", "execution", "command", "holdout_certification",
                           "phase_statistics", "output"})
_LOKI_KEYS = frozenset({"replay_trace", "target_url", "persona"})
_MOST_KEYS = 256
_BUNDLE_MAGIC = (b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


@dataclass(frozen=True, slots=True)
class ParsedReport:
    """A report that keeps every rule of its format; whether it can be replayed is for its case to say.

    ``data`` is the parsed JSON object, ``sha256`` the digest of the file's bytes.
    """

    path: str
    sha256: str
    data: Mapping[str, object]
    model: repomin.RepominReport | native.CommandReport

    @property
    def payload(self) -> RecordedPayload:
        """What it says of its payload."""
        if isinstance(self.model, repomin.RepominReport):
            return repomin.recorded_payload(self.model)
        return native.recorded_payload(self.model)


def load_report(path: str | os.PathLike[str]) -> ParsedReport:
    """Read and check a report. Raises ReportError; nothing else for any content of the file."""
    return parse_report(read_report(path), path=os.fspath(path))


def load_case(path: str | os.PathLike[str], *, exit_code: int | None = None) -> Case:
    """Read a report and build its case. ``exit_code`` is the user's ``--exit-code``.

    Raises ReportError for a file that cannot be read or believed, UsageError when ``exit_code`` does not
    apply. Nothing else is raised for any content of the file.
    """
    return parse_case(read_report(path), path=os.fspath(path), exit_code=exit_code)


def parse_report(raw: bytes, *, path: str) -> ParsedReport:
    """Check a report's bytes by the rules of its format; ``path`` is only told. Raises ReportError."""
    with _named(path):
        return _checked(raw, path)


def parse_case(raw: bytes, *, path: str, exit_code: int | None = None) -> Case:
    """Build a case of a report's bytes; ``path`` is only told. Raises as :func:`load_case`."""
    with _named(path):
        return _case(_checked(raw, path), exit_code)


@contextmanager
def _named(path: str) -> Iterator[None]:
    try:
        yield
    except ReportError as error:
        raise ReportError(f"{printable(path)}: {error.message}", hint=error.hint) from None


def _checked(raw: bytes, path: str) -> ParsedReport:
    if raw.startswith(_BUNDLE_MAGIC):
        raise ReportError("is an archive, expected a report in JSON", hint=SUPPORTED)
    document = parse_json(raw)
    digest = sha256(raw).hexdigest()
    data = document.value
    if not isinstance(data, dict):
        raise ReportError(f"holds {describe(data)}, expected an object", hint=SUPPORTED)
    if "schema" in data:
        return ParsedReport(path, digest, data, _native(document))
    if len(_REPOMIN_KEYS & data.keys()) >= 2:
        return ParsedReport(path, digest, data, repomin.validate_repomin(data))
    if data.keys() >= _LOKI_KEYS:
        raise ReportError("is a LOKI incident, which this version cannot replay", hint=SUPPORTED)
    raise ReportError("is no report of a known format", hint=SUPPORTED)


def _native(document: Document) -> native.CommandReport:
    refuse_duplicates(document)
    if document.widest > _MOST_KEYS:
        raise ReportError(f"has an object with {document.widest} keys, expected at most {_MOST_KEYS}")
    return native.parse_native(document.value)


def _case(report: ParsedReport, exit_code: int | None) -> Case:
    if isinstance(report.model, repomin.RepominReport):
        return repomin.to_case(report.model, path=report.path, sha256=report.sha256, exit_code=exit_code)
    case = native.to_case(report.model, path=report.path, sha256=report.sha256)
    if exit_code is not None:
        raise UsageError("--exit-code: a native report records its own contract",
                         hint="leave --exit-code out")
    return case
