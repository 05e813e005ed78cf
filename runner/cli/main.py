"""The ``runner`` command: find the subcommand, run it, turn errors into one line and an exit code.

Subcommands are imported only when they are used, so that ``--help`` costs little more than click.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runner import __version__
from runner.cli.settings import settings
from runner.errors import ExitCode, RunnerError, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_COMMANDS = {
    "record": ("runner.cli.record", "Learn a failure's contract and write a report."),
    "replay": ("runner.cli.replay", "Replay a report in the sandbox: does it really fail as claimed?"),
    "chaos": ("runner.cli.chaos", "Record a browser chaos session against an application in the sandbox."),
    "shrink": ("runner.cli.shrink", "Shrink a browser session to the shortest that still shows its failure."),
    "verify": ("runner.cli.verify", "Run a load scenario against an application in the sandbox, to a verdict."),
    "diff": ("runner.cli.diff", "Compare two runs of a load scenario: worse, slower, or no more than chance."),
    "bundle": ("runner.cli.bundle", "Pack, unpack and inspect bundles: report and payload in one file."),
    "init": ("runner.cli.init", "Make a load scenario from a small description."),
    "inspect": ("runner.cli.inspect", "Check a load scenario and show what it would do; nothing is run."),
    "fingerprint": ("runner.cli.fingerprint", "Show a payload's fingerprints and what sealing refuses."),
    "report": ("runner.cli.report", "Check, show, compare and diff reports and runs."),
    "export": ("runner.cli.export", "Export a run's evidence to other formats, signed if wanted; verify that."),
    "runs": ("runner.cli.runs", "List, show, open and remove the replays of the store."),
    "images": ("runner.cli.images", "Build, list and verify our own images."),
    "policy": ("runner.cli.policy", "List, show and check policies."),
    "gc": ("runner.cli.gc", "Remove what an earlier crash left on the engine."),
    "completion": ("runner.cli.completion", "Print a completion script for bash, zsh or fish."),
    "doctor": ("runner.cli.doctor", "Check this machine and its engine, with a fix for each finding."),
}


_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
_CONFIGURABLE = frozenset({"record", "replay", "chaos", "shrink", "verify"})


class LazyGroup(click.Group):
    """A group whose commands live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = importlib.import_module(_COMMANDS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete names of commands without importing them."""
        from click.shell_completion import CompletionItem  # start-up time: only where something is completed

        found = (CompletionItem(name, help=text) for name, (_, text) in _COMMANDS.items())
        return [*(item for item in found if item.value.startswith(incomplete)),
                *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="runner")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Replays bug reports that nobody should trust: does it really fail as claimed?

    Exit codes: 0 reproduced or done, 1 not reproduced, 2 nothing was judged, 3 no verdict, 130 interrupted.
    """
    if ctx.invoked_subcommand in _CONFIGURABLE:
        defaults = settings(os.environ, Path.cwd())
        ctx.default_map = {str(ctx.invoked_subcommand): defaults}


def main(argv: list[str] | None = None) -> Any:
    """Entry point; always ends in SystemExit."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        _run(arguments)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone; nobody is left to tell
        sys.exit(ExitCode.OK)
    except OSError as error:
        _full_output(error, arguments)


def _run(arguments: list[str]) -> None:
    """Run a command and tell what went wrong. Raises OSError when there is nowhere to tell it."""
    try:
        code = cli.main(args=arguments, prog_name="runner", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else ExitCode.OK)
    except RunnerError as error:
        _report(error, arguments)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.Abort:
        sys.exit(ExitCode.INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(ExitCode.NOTHING_JUDGED)
    except click.ClickException as error:
        _usage_error(error, arguments)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - a bug of ours, yet no traceback reaches a user
        _internal_error(error, arguments)


def _report(error: RunnerError, arguments: list[str]) -> None:
    from runner.cli.outcome import fail  # start-up time: only needed when something is wrong

    fail(error, as_json=_wants_json(arguments))


def _wants_json(arguments: list[str]) -> bool:
    """What click refused has no options, so the words tell. ``export --format json`` is about the export alone."""
    by_format = "--format=json" in arguments or ("--format", "json") in pairwise(arguments)
    return "--json" in arguments or (arguments[:1] == ["report"] and by_format)


def _full_output(error: OSError, arguments: list[str]) -> None:
    """Files that we write have names in their errors and are told of where they are written; a stream has none."""
    if error.filename is not None or error.errno not in _NO_ROOM:
        _internal_error(error, arguments)
    _report(UsageError(f"the output cannot be written: {error.strerror}", hint="make room, or send it elsewhere"), [])


def _internal_error(error: Exception, arguments: list[str]) -> None:
    if os.environ.get("SANDBOX_RUNNER_DEBUG"):
        raise error
    _report(RunnerError(f"internal error: {type(error).__name__}: {error}".replace("\n", " ")[:500],
                        hint="a bug of runner: please report it; SANDBOX_RUNNER_DEBUG=1 shows where"), arguments)


def _usage_error(error: click.ClickException, arguments: list[str]) -> None:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "runner"
    _report(UsageError(" ".join(error.format_message().split()), hint=f"`{path} --help` shows the options"),
            arguments)
