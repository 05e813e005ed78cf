"""``runner completion``: a script for a shell, which asks this program for each word."""

from __future__ import annotations

import click

from runner.cli.outcome import ending
from runner.errors import UsageError, printable

_SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_RUNNER_COMPLETE"
_SETUP = """To use it now, and in every new shell:

\b
  bash   eval "$(runner completion bash)"     the same line in ~/.bashrc
  zsh    eval "$(runner completion zsh)"      the same line in ~/.zshrc, after compinit
  fish   runner completion fish | source      or > ~/.config/fish/completions/runner.fish
"""


@click.command("completion", epilog=_SETUP)
@click.argument("shell", metavar="[bash|zsh|fish]", required=False)
@click.pass_context
def command(context: click.Context, shell: str | None) -> None:
    """Print the script that completes commands, options, policies and run ids. It is the same every time."""
    from click.shell_completion import ShellComplete, get_completion_class  # start-up time: only needed here

    if shell is None:
        click.echo(context.get_help())
        return
    with ending(as_json=False):
        completer = get_completion_class(shell) if shell in _SHELLS else None
        if completer is None:
            raise UsageError(f"no completion for {printable(shell)[:40]}", hint=f"known: {', '.join(_SHELLS)}")
        # The class of a shell would start that shell to learn its version; a script can be made where there is none.
        click.echo(ShellComplete.source(completer(context.find_root().command, {}, "runner", _VARIABLE)))
