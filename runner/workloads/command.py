"""A recorded command: an argv, or shell text."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Literal

_NOT_A_PROGRAM = frozenset({
    ".", ":", "[", "alias", "bg", "break", "case", "cd", "command", "continue", "do", "done", "echo", "elif",
    "else", "esac", "eval", "exec", "exit", "export", "false", "fc", "fg", "fi", "for", "function", "getopts",
    "hash", "if", "in", "jobs", "kill", "let", "local", "printf", "pwd", "read", "readonly", "return", "select",
    "set", "shift", "source", "test", "then", "time", "times", "trap", "true", "type", "typeset", "ulimit",
    "umask", "unalias", "unset", "until", "wait", "while", "{", "}", "!",
})
"""Reserved words and names that a shell answers itself; ``exec`` would look for a program instead."""

_DUPLICATE = re.compile(r"(?<=\s)[0-9]?>&[0-9](?=\s|$)")
"""``2>&1`` and its like: a redirection, not an operator."""

_PROGRAM = re.compile(r"[A-Za-z0-9_./+-]+")

_ASSIGNMENTS = re.compile(r"\s*+(?:[A-Za-z_]\w*+=[\w./:,@%+=-]*+[ \t]++)*+", re.ASCII)
"""``NAME=VALUE`` words before the program, of characters that no shell takes for anything else."""


@dataclass(frozen=True, slots=True)
class CommandWorkload:
    """What is run. Exactly one of ``argv`` and ``shell`` is set; ``cwd`` is relative to the payload's root."""

    argv: tuple[str, ...] = ()
    shell: str | None = None
    cwd: str = "."
    artifacts: tuple[str, ...] = ()
    kind: Literal["command"] = "command"

    @property
    def display(self) -> str:
        """The command as a person would type it."""
        return self.shell if self.shell is not None else shlex.join(self.argv)

    @property
    def command_line(self) -> tuple[str, ...]:
        """The argv to start. A single simple command of shell text is run by ``exec``, so that it is the
        direct child of the init and its signals are seen as such. Assignments before ``exec`` are in the
        program's environment, as they are without it.
        """
        if self.shell is None:
            return self.argv
        if not is_simple_command(self.shell):
            return ("/bin/sh", "-c", self.shell)
        assignments, program = _split_assignments(self.shell)
        return ("/bin/sh", "-c", f"{assignments}exec {program}")

    @property
    def shell_speaks(self) -> bool:
        """Whether a return code of 128+N is a shell's claim rather than a fact."""
        return self.shell is not None and not is_simple_command(self.shell)


def is_simple_command(text: str) -> bool:
    """Whether shell text is one simple command that starts a program. Says no when in doubt."""
    if "\n" in text:
        return False
    text = _split_assignments(text)[1]
    scanner = shlex.shlex(_DUPLICATE.sub(" ", text), posix=True, punctuation_chars=";&|()")
    scanner.whitespace_split = True
    scanner.commenters = ""
    try:
        words = list(scanner)
    except ValueError:
        return False
    if not words or any(set(word) <= set(";&|()") for word in words):
        return False
    first = words[0]
    return _PROGRAM.fullmatch(first) is not None and first not in _NOT_A_PROGRAM and text.startswith(first)


def _split_assignments(text: str) -> tuple[str, str]:
    found = _ASSIGNMENTS.match(text)
    end = found.end() if found else 0
    return text[:end], text[end:]
