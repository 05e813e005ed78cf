"""``runner images``: build, list and verify the images that sandboxes are made from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from runner.cli.outcome import ending, leave
from runner.cli.verbose import telling, verbose_option
from runner.controller.images import BuildReport, Check, build_images, show_images, verify_images
from runner.errors import ExitCode

_NAMES = click.argument("names", nargs=-1, metavar="[NAME]...")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


@click.group("images")
def command() -> None:
    """Build, list and verify our own images. Without a NAME: all of them."""


@command.command("build")
@_NAMES
@click.option("--write-lock", is_flag=True, help="Record what was built in images.lock.")
@click.option("--no-cache", is_flag=True, help="Build anew even if this recipe's archive is at hand.")
@_JSON
@verbose_option
def build_command(names: Sequence[str], write_lock: bool, no_cache: bool, as_json: bool, verbose: bool) -> None:
    """Build images from distribution packages and load them into the engine.

    Says whether each is the image of images.lock and, where the distribution moved on, what changed.
    """
    with ending(as_json=as_json), telling(verbose=verbose):
        reports = []
        for report in build_images(names, use_cache=not no_cache, lock_it=write_lock, say=_progress):
            reports.append(report)
            if not as_json:
                _print_build(report)
        if as_json:
            _print_json({"ok": True, "images": [asdict(report) for report in reports]})


@command.command("list")
@_JSON
@verbose_option
def list_command(as_json: bool, verbose: bool) -> None:
    """Show which images are present, missing or different from images.lock."""
    with ending(as_json=as_json), telling(verbose=verbose):
        states = show_images()
        if as_json:
            _print_json({"ok": True, "images": [asdict(state) for state in states]})
            return
        for state in states:
            size = f"{state.size / 1e6:.0f} MB" if state.size else "-"
            note = f"  ({state.note})" if state.note else ""
            click.echo(f"{state.name:<10} {state.state:<10} {state.id or '-':<71} {size:>7}  {state.tag}{note}")


@command.command("verify")
@_NAMES
@_JSON
@verbose_option
def verify_command(names: Sequence[str], as_json: bool, verbose: bool) -> None:
    """Build images anew, without any cache, and compare with the engine's and with images.lock.

    Exit code: 0 the same, 1 different or missing, 2 cannot build.
    """
    with ending(as_json=as_json), telling(verbose=verbose):
        checks = []
        for check in verify_images(names, say=_progress):
            checks.append(check)
            if not as_json:
                _print_check(check)
        same = all(check.same for check in checks)
        if as_json:
            _print_json({"ok": same, "images": [{**asdict(check), "same": check.same} for check in checks]})
        leave(ExitCode.OK if same else ExitCode.NOT_REPRODUCED)


def _progress(text: str) -> None:
    click.echo(text, err=True)


def _print_build(report: BuildReport) -> None:
    how = "from the cache" if report.from_cache else "built"
    click.echo(f"{report.name}: {report.id} {how}, {report.lock}")
    click.echo(f"  tag {report.tag}, archive {report.archive}")
    _print_changes(report.changes)


def _print_check(check: Check) -> None:
    click.echo(f"{check.name}: {check.id} rebuilt; engine: {check.engine}; images.lock: {check.lock}")
    _print_changes(check.changes)


def _print_changes(changes: Sequence[str]) -> None:
    for line in changes:
        click.echo(f"  {line}")


def _print_json(document: dict[str, Any]) -> None:
    click.echo(json.dumps(document, sort_keys=True))
