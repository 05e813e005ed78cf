"""``repro.json``, the first entry of a bundle: what it holds, told before any of it is read."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runner.bundle.rules import refused
from runner.errors import ReportError
from runner.payload.fingerprint import Fingerprint
from runner.sources.jsontext import canonical_json, parse_json
from runner.sources.reading import MAX_REPORT_BYTES
from runner.sources.wording import describe

SCHEMA: Final = "runner.bundle/1"

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, lt=1 << 63)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ReportPart(_Part):
    """The report's entry: its name in the bundle, its size in bytes, its digest."""

    name: Literal["report.json"] = "report.json"
    bytes: Annotated[int, Field(ge=1, le=MAX_REPORT_BYTES)]
    sha256: Digest


class FingerprintPart(_Part):
    """Both digests of the payload, see ``docs/fingerprints.md``."""

    scheme: Literal["manifest-sha256-v1"] = "manifest-sha256-v1"
    exact: Digest
    content: Digest


class PayloadPart(_Part):
    """Counts of the payload: entries of every kind, regular files, bytes of these."""

    entries: Count
    files: Count
    bytes: Count
    fingerprint: FingerprintPart


class BundleDocument(_Part):
    """All of ``repro.json``. Nothing in it depends on when, where or by which version a bundle was packed."""

    schema_: Annotated[Literal["runner.bundle/1"], Field(alias="schema")] = SCHEMA
    report: ReportPart
    payload: PayloadPart

    def render(self) -> bytes:
        """The canonical bytes."""
        return canonical_json(self.model_dump(mode="json", by_alias=True))


def describe_bundle(report: bytes, payload: Fingerprint) -> BundleDocument:
    """The document of a bundle of these two. Raises BundleRefused for a report that is empty or too large."""
    if not 0 < len(report) <= MAX_REPORT_BYTES:
        raise refused("report_too_large", f"{len(report)} bytes")
    return BundleDocument(
        report=ReportPart(bytes=len(report), sha256=sha256(report).hexdigest()),
        payload=PayloadPart(entries=payload.entries, files=payload.files, bytes=payload.bytes,
                            fingerprint=FingerprintPart(exact=payload.exact, content=payload.content)))


def parse_document(raw: bytes) -> BundleDocument:
    """Inverse of ``render``; takes nothing else. Raises BundleRefused."""
    try:
        data = parse_json(raw).value
    except ReportError as error:
        raise refused("document", error.message) from None
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise refused("version", f"schema {describe(schema)}, expected {SCHEMA}")
    try:
        document = BundleDocument.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part)[:40] for part in first["loc"])
        raise refused("document", f"{where}: {first['msg']}") from None
    if document.render() != raw:
        raise refused("document", "not in canonical form")
    return document
