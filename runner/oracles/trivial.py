"""Contracts that anything meets. Replay flags them, recording refuses them."""

from __future__ import annotations

from runner.oracles.contract import Contract
from runner.oracles.match import Matcher

_SILENCE = "\n"
"""What is searched of a run that prints nothing: stdout, a newline, stderr."""

_ORDINARY = (
    "OK 12\n",
    "Hello, world 7!\n",
    "== 1 passed in 0.01s ==\n",
    "Build 34 finished; 0 errors, 2 warnings\n\n",
    "# usage: tool [-h] [--level 5] FILE\n",
)
"""Outputs of successful programs with little in common but letters, digits, blanks and line ends."""


def trivial_reasons(contract: Contract, matcher: Matcher) -> tuple[str, ...]:
    """Why this contract says next to nothing, in plain words; empty if it says something.

    A signature always says something. A pattern is tried on silence and on ordinary outputs of successful
    programs. ``matcher`` lends its process. Raises PatternError.
    """
    if contract.signature is not None:
        return ()
    if not contract.match:
        return _without_match(contract.exit_code)
    pattern = matcher.for_pattern(contract.match)
    empty, silence, *ordinary = pattern.search_any(["", _SILENCE, *_ORDINARY])
    if empty:
        return ("the match finds the empty text, so it is found in any output",)
    if silence:
        return ("the match is found in the output of a program that prints nothing",)
    if all(ordinary):
        return ("the match is found in any ordinary output",)
    return ()


def _without_match(exit_code: int | None) -> tuple[str, ...]:
    if exit_code == 0:
        return ("exit code 0 and no match: every success meets it",)
    if exit_code is None:
        return ("no exit code, no match and no signature: every failure meets it",)
    return ()
