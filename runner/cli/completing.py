"""What can stand at a place of the command line. The shell asks for each word, so nothing heavy is loaded.

Where a file may stand too, it is completed when no word of ours fits: bash cannot mix the two.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import click

from runner.errors import RunnerError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_MOST_RUNS = 100


def files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Any file."""
    return [_of_kind(incomplete, "file")]


def directories(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Any directory."""
    return [_of_kind(incomplete, "dir")]


def policies(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the built-in policies, else a policy file."""
    from runner.resources import data_dir  # start-up time: only where something is completed

    names = sorted(path.stem for path in data_dir("policies").glob("*.yaml"))
    return _words(names, incomplete) or [_of_kind(incomplete, "file")]


def runs(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of the store's runs, the newest first, and `latest`; else a run directory."""
    return _words(["latest", *_run_ids(incomplete)], incomplete) or [_of_kind(incomplete, "dir")]


def runs_or_files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """A run of the store, else a file."""
    return _words(["latest", *_run_ids(incomplete)], incomplete) or [_of_kind(incomplete, "file")]


def _run_ids(incomplete: str) -> list[str]:
    from runner.evidence.database import is_store, store_root  # start-up time: only where something is completed
    from runner.evidence.index import Index

    # A broken store is for the commands to tell of; here there is nobody to listen.
    with suppress(RunnerError):
        if is_store(store_root()):
            with Index(store_root()) as index:
                found = index.select("run_id", "substr(run_id, 1, ?) = ?", (len(incomplete), incomplete), _MOST_RUNS)
                return [str(run_id) for run_id, in found]
    return []


def _words(names: list[str], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # start-up time: only where something is completed

    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _of_kind(value: str, kind: str) -> CompletionItem:
    from click.shell_completion import CompletionItem  # start-up time: only where something is completed

    return CompletionItem(value, type=kind)
