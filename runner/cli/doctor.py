"""``runner doctor``: is this machine fit for the job, and what would mend it?"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

import click

from runner.cli.outcome import ending, leave
from runner.cli.terminal import Colour, colours, painted
from runner.cli.verbose import telling, verbose_option
from runner.errors import ExitCode, printable

SCHEMA = "runner.doctor/1"
_MARKS: Final[Mapping[str, tuple[str, Colour]]] = {
    "ok": ("ok  ", "green"), "warn": ("warn", "yellow"), "fail": ("FAIL", "red")}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@verbose_option
def command(as_json: bool, verbose: bool) -> None:
    """Check the engine, its limits, our images, the store and the disk, and say what mends what is not right.

    Exit code: 0 fit (perhaps with warnings), 1 something must be mended.
    """
    from runner.controller.doctor import examine  # start-up time: the SDK is slow to load

    with ending(as_json=as_json), telling(verbose=verbose):
        findings = examine()
        fit = all(finding.status != "fail" for finding in findings)
        if as_json:
            click.echo(json.dumps({"schema": SCHEMA, "ok": fit, "checks": [asdict(finding) for finding in findings]},
                                  sort_keys=True))
        for finding in () if as_json else findings:
            mark, colour = _MARKS[finding.status]
            click.echo(f"{painted(mark, colour, on=colours(sys.stdout))}  {finding.name:<14} {printable(finding.seen)}")
            if finding.fix:
                click.echo(f"      {'':<14} fix: {printable(finding.fix)}")
        leave(ExitCode.OK if fit else ExitCode.NOT_REPRODUCED)
