"""The door for reports: a file of any known format becomes a case, or one clear line and exit 2."""

from __future__ import annotations

import os
from hashlib import sha256

from runner.case import Case
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


def load_case(path: str | os.PathLike[str], *, exit_code: int | None = None) -> Case:
    """Read a report and build its case. ``exit_code`` is the user's ``--exit-code``.

    Raises ReportError for a file that cannot be read or believed, UsageError when ``exit_code`` does not
    apply. Nothing else is raised for any content of the file.
    """
    return parse_case(read_report(path), path=os.fspath(path), exit_code=exit_code)


def parse_case(raw: bytes, *, path: str, exit_code: int | None = None) -> Case:
    """Build a case of a report's bytes; ``path`` is only told. Raises as :func:`load_case`."""
    name = printable(path)
    try:
        return _dispatch(raw, path, exit_code)
    except ReportError as error:
        raise ReportError(f"{name}: {error.message}", hint=error.hint) from None


def _dispatch(raw: bytes, path: str, exit_code: int | None) -> Case:
    if raw.startswith(_BUNDLE_MAGIC):
        raise ReportError("is an archive, expected a report in JSON", hint=SUPPORTED)
    document = parse_json(raw)
    digest = sha256(raw).hexdigest()
    data = document.value
    if not isinstance(data, dict):
        raise ReportError(f"holds {describe(data)}, expected an object", hint=SUPPORTED)
    if "schema" in data:
        return _native(document, path, digest, exit_code)
    if len(_REPOMIN_KEYS & data.keys()) >= 2:
        report = repomin.validate_repomin(data)
        return repomin.to_case(report, path=path, sha256=digest, exit_code=exit_code)
    if data.keys() >= _LOKI_KEYS:
        raise ReportError("is a LOKI incident, which this version cannot replay", hint=SUPPORTED)
    raise ReportError("is no report of a known format", hint=SUPPORTED)


def _native(document: Document, path: str, digest: str, exit_code: int | None) -> Case:
    refuse_duplicates(document)
    if document.widest > _MOST_KEYS:
        raise ReportError(f"has an object with {document.widest} keys, expected at most {_MOST_KEYS}")
    case = native.to_case(native.parse_native(document.value), path=path, sha256=digest)
    if exit_code is not None:
        raise UsageError("--exit-code: a native report records its own contract",
                         hint="leave --exit-code out")
    return case
