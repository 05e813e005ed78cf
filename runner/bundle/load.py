"""The door for whoever takes a REPORT that may also be a bundle."""

from __future__ import annotations

import os
from dataclasses import dataclass

from runner.bundle.layout import MAGIC
from runner.bundle.read import Head, read_head
from runner.errors import ReportError
from runner.sources.reading import open_report, read_report


@dataclass(frozen=True, slots=True)
class ReportFile:
    """The bytes of a report and the file they came from. ``bundle`` is the head of that file if it is a bundle."""

    path: str
    raw: bytes
    bundle: Head | None = None


def read_report_or_bundle(path: str | os.PathLike[str]) -> ReportFile:
    """Read a report, be it a file of its own or in a ``.repro`` bundle, which is known by its first bytes.

    For every command that takes a REPORT: give ``raw`` to :func:`runner.sources.load.parse_report` or
    ``parse_case``, with ``path`` to be told. Of a bundle only what stands before the payload is read here; the
    report's digest is checked, the payload is not (:func:`runner.bundle.read.read_bundle` does that).

    Raises ReportError, and BundleRefused for a bundle that breaks a rule of the format.
    """
    name = os.fspath(path)
    with open_report(path) as file:
        try:
            start = file.read(len(MAGIC))
        except OSError as error:
            raise ReportError(f"{name}: cannot be read: {error.strerror}") from None
    if start != MAGIC:
        return ReportFile(name, read_report(path))
    head = read_head(path)
    return ReportFile(name, head.report, head)
