"""``runner bundle``: report and payload in one ``.repro`` file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from runner.cli.completing import directories, files, policies
from runner.cli.outcome import ending, leave
from runner.errors import ExitCode, printable

if TYPE_CHECKING:
    from runner.bundle.proof import Inspection
    from runner.payload.seal import SealLimits

_SCHEMA = "runner.bundle-inspection/1"
_POLICY = click.option("--policy", default="default", metavar="NAME|FILE", show_default=True, shell_complete=policies,
                       help="The policy whose payload limits apply.")


@click.group("bundle")
def command() -> None:
    """Pack, unpack and inspect bundles: report and payload in one file to attach. Nothing is run."""


@command.command("pack")
@click.argument("report", metavar="REPORT", shell_complete=files)
@click.option("--payload", required=True, metavar="DIR", shell_complete=directories,
              help="The directory that the report is about.")
@click.option("-o", "--output", required=True, metavar="FILE", help="The bundle, usually NAME.repro.")
@_POLICY
def pack(report: str, payload: str, output: str, policy: str) -> None:
    """Pack REPORT and the payload that it is about into one file. The same two give the same bytes.

    Exit code: 0 packed; 2 the report is not about this payload, or either cannot be read.
    """
    from runner.bundle.pack import pack as pack_bundle  # start-up time: these and what they load
    from runner.evidence.files import check_destination, check_outside
    from runner.payload.seal import seal
    from runner.sources.reading import read_report

    with ending(as_json=False):
        limits = _limits(policy)
        check_destination(output)
        check_outside(output, payload, "write it elsewhere with -o")
        sealed = seal(payload, limits)
        size = pack_bundle(read_report(report), sealed, output, report_path=report)
        click.echo(f"packed       {printable(output)}, {size} bytes\n"
                   f"payload      {sealed.files} files, {sealed.bytes} bytes, content {sealed.fingerprint.content}")


@command.command("unpack")
@click.argument("file", metavar="FILE", shell_complete=files)
@click.option("-o", "--output", required=True, metavar="DIR", help="A directory that does not exist, or is empty.")
@_POLICY
def unpack(file: str, output: str, policy: str) -> None:
    """Write DIR/report.json and DIR/payload/ from the bundle FILE, all or nothing. Nothing is written elsewhere.

    Exit code: 0 unpacked; 2 refused, and DIR is as it was.
    """
    from runner.bundle.unpack import unpack_bundle  # start-up time: pydantic is slow to load

    with ending(as_json=False):
        bundle = unpack_bundle(file, _limits(policy), output)
        place = printable(output.rstrip("/"))
        click.echo(f"report       {place}/report.json\npayload      {place}/payload, {bundle.sealed.files} files, "
                   f"{bundle.sealed.bytes} bytes, content {bundle.sealed.fingerprint.content}")


@command.command("inspect")
@click.argument("file", metavar="FILE", shell_complete=files)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@_POLICY
def inspect(file: str, as_json: bool, policy: str) -> None:
    """Show what the bundle FILE claims, what it holds, and whether that is true. Nothing is written.

    Exit code: 0 it verifies, 2 it does not.
    """
    from runner.bundle.proof import inspect_bundle  # start-up time: these and what they load

    with ending(as_json=as_json):
        seen = inspect_bundle(file, _limits(policy))
        click.echo(json.dumps(_document(seen), sort_keys=True) if as_json else _text(seen))
        leave(ExitCode.OK if seen.problem is None else ExitCode.NOTHING_JUDGED)


def _limits(policy: str) -> SealLimits:
    from runner.controller.bounds import seal_limits  # start-up time: pydantic is slow to load
    from runner.sandbox.policy import load_policy

    return seal_limits(load_policy(policy))


def _document(seen: Inspection) -> dict[str, Any]:
    from runner.reports.claims.content import claims_of  # start-up time: pydantic is slow to load

    problem = seen.problem
    return {"schema": _SCHEMA, "ok": problem is None, "file": printable(seen.head.path),
            "bytes": seen.head.file_bytes, "stream_bytes": seen.bundle.stream_bytes if seen.bundle else None,
            "sha256": seen.bundle.sealed.source.file_sha256 if seen.bundle else None,
            "holds": seen.head.document.model_dump(mode="json", by_alias=True), "claims": claims_of(seen.report),
            "fingerprint_mode": seen.match.mode if seen.match else None,
            "code": problem.code if problem else None, "rule": getattr(problem, "rule", None),
            "error": problem.message if problem else None}


def _text(seen: Inspection) -> str:
    from runner.reports.claims.content import claims_of  # start-up time: pydantic is slow to load
    from runner.reports.claims.show import rows

    every = (*_held(seen), *rows(claims_of(seen.report)))
    return "\n".join(f"{label:<12} {printable(value)}" for label, value in every)


def _held(seen: Inspection) -> Iterator[tuple[str, str]]:
    """What the bundle itself says, above what its report says."""
    payload, fingerprint = seen.head.document.payload, seen.head.document.payload.fingerprint
    size = f"{seen.head.path}, {seen.head.file_bytes} bytes"
    if seen.bundle is None:
        yield "bundle", size
    else:
        yield "bundle", (f"{size}, {seen.bundle.stream_bytes} decompressed, "
                         f"sha256 {seen.bundle.sealed.source.file_sha256}")
    if seen.problem is not None:
        yield "verifies", f"no: {seen.problem.message}"
    elif seen.match is not None:
        yield "verifies", f"yes: report and payload belong together, by {_WAYS[seen.match.mode]}"
    yield "holds", f"{payload.entries} entries, {payload.files} files, {payload.bytes} bytes"
    yield "fingerprint", f"{fingerprint.exact} ({fingerprint.scheme}, exact)"
    yield "fingerprint", f"{fingerprint.content} ({fingerprint.scheme}, content)"


_WAYS = {"exact": "contents, modes and times", "content": "contents", "unavailable": "counts of files and bytes alone"}
