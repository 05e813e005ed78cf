"""``runner fingerprint``: what a payload is, and what sealing would refuse of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from runner.cli.completing import directories, policies
from runner.cli.outcome import ending, leave
from runner.errors import ExitCode, PayloadRefused, printable

if TYPE_CHECKING:
    from runner.payload.seal import Survey
    from runner.payload.treehash import TreeHashes

_SHOWN = 20


@click.command("fingerprint")
@click.argument("directory", metavar="DIR", type=click.Path(), shell_complete=directories)
@click.option("--policy", default="default", metavar="NAME|FILE", show_default=True, shell_complete=policies,
              help="The policy whose payload limits apply.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def command(directory: str, policy: str, as_json: bool) -> None:
    """Show a payload's fingerprints and counts, and everything that sealing would refuse.

    Nothing is written to DIR, not even times. Exit code: 0 it can be sealed, 2 it cannot.
    """
    from runner.controller.bounds import seal_limits  # start-up time: these and what they load
    from runner.payload.seal import survey
    from runner.payload.treehash import tree_hashes
    from runner.sandbox.policy import load_policy

    with ending(as_json=as_json):
        limits = seal_limits(load_policy(policy))
        seen = survey(directory, limits)
        for refusal in seen.refusals:
            if not refusal.path:  # the directory itself: there is nothing to show
                raise PayloadRefused(refusal.message, rule=refusal.rule, path=b"",
                                     hint="give a directory that holds the payload")
        hashes = None if seen.refusals else tree_hashes(directory, limits)
        click.echo(json.dumps(_document(seen, hashes), sort_keys=True) if as_json else _text(seen, hashes))
        leave(ExitCode.NOTHING_JUDGED if seen.refusals else ExitCode.OK)


def _document(seen: Survey, hashes: TreeHashes | None) -> dict[str, Any]:
    native = seen.fingerprint
    return {
        "ok": not seen.refusals,
        "entries": seen.entries, "files": seen.files, "bytes": seen.bytes,
        "fingerprint": {"scheme": "manifest-sha256-v1", "exact": native.exact, "content": native.content}
        if native else None,
        "tree_sha256": hashes.exact if hashes else None,
        "tree_content_sha256": hashes.content if hashes else None,
        "refusals": [{"rule": refusal.rule, "path": printable(refusal.path), "message": refusal.message}
                     for refusal in seen.refusals],
    }


def _text(seen: Survey, hashes: TreeHashes | None) -> str:
    lines = [f"entries              {seen.entries} ({seen.files} files, {seen.bytes} bytes)"]
    if seen.fingerprint:
        lines += [f"exact                {seen.fingerprint.exact}  (manifest-sha256-v1)",
                  f"content              {seen.fingerprint.content}  (manifest-sha256-v1)"]
    if hashes:
        lines += [f"tree_sha256          {hashes.exact}  (tree-sha256-v2)",
                  f"tree_content_sha256  {hashes.content}  (tree-content-sha256-v1)"]
    if not seen.refusals:
        return "\n".join([*lines, "sealing              refuses nothing"])
    lines.append(f"sealing              refuses {len(seen.refusals)}:")
    lines += [f"  {refusal.message}" for refusal in seen.refusals[:_SHOWN]]
    if len(seen.refusals) > _SHOWN:
        lines.append(f"  and {len(seen.refusals) - _SHOWN} more; --json lists them all")
    return "\n".join(lines)
