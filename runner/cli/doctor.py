"""``runner doctor``: is this machine fit for the job, and what would mend it?"""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from runner.cli.outcome import ending, leave
from runner.errors import ExitCode, printable

_MARK = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(as_json: bool) -> None:
    """Check the engine, its limits, our images and the disk. Exit code: 0 fit, 1 something must be mended."""
    from runner.sandbox.backends.docker.checkup import check_up  # start-up time: the SDK is slow to load

    with ending(as_json=as_json):
        findings = check_up()
        fit = all(finding.status != "fail" for finding in findings)
        if as_json:
            click.echo(json.dumps({"ok": fit, "checks": [asdict(finding) for finding in findings]}, sort_keys=True))
        else:
            for finding in findings:
                click.echo(f"{_MARK[finding.status]}  {finding.name:<14} {printable(finding.seen)}")
                if finding.fix:
                    click.echo(f"      {'':<14} fix: {printable(finding.fix)}")
        leave(ExitCode.OK if fit else ExitCode.NOT_REPRODUCED)
