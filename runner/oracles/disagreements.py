"""Whether several runs of one command show the same failure; if not, which runs differ and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runner.errors import printable
from runner.evidence.observation import Observation
from runner.oracles.contract import JavaSignature, PythonSignature
from runner.oracles.match import Matcher
from runner.oracles.signature.learn import learn_signature
from runner.oracles.signature.process import describe_end
from runner.oracles.standing_out import (
    Likeness,
    exceptions_of,
    likeness,
    shared_exceptions,
    signature_of_block,
)
from runner.oracles.telling import last_lines, telling_patterns
from runner.oracles.text import decoded, searched_text
from runner.oracles.volatile import skeleton
from runner.oracles.wanted import Wanted
from runner.sandbox.exit import Cause

_ANYTHING = Wanted()


def disagreements(runs: Sequence[Observation], matcher: Matcher,
                  wanted: Wanted = _ANYTHING) -> tuple[str, ...]:
    """What the runs disagree about, in plain words; empty when they show one failure.

    Compared are how the runs ended, whether the wanted pattern is found, the exception, and without either
    the last line. Output that differs harmlessly (a duration, an address) does not count. ``matcher`` lends
    its process to the wanted pattern. Raises PatternError.
    """
    found = [_compare("how it ended", runs, _ending)]
    if wanted.match:
        pattern = matcher.for_pattern(wanted.match)
        found.append(_compare("match", runs, lambda run: _finding(pattern, run, wanted)))
    if not any(found):
        found.append(_by_exception(runs, matcher, wanted) or _by_output(runs, wanted))
    return tuple(text for text in found if text)


def _compare(what: str, runs: Sequence[Observation], say: Callable[[Observation], str]) -> str:
    """One sentence that groups the runs by what is said of them; empty when it is the same of all."""
    groups: dict[str, list[str]] = {}
    for run in runs:
        groups.setdefault(say(run), []).append(str(run.index))
    if len(groups) < 2:
        return ""
    return f"{what}: " + "; ".join(f"{'run' if len(members) == 1 else 'runs'} {', '.join(members)}: {said}"
                                   for said, members in groups.items())


def _ending(run: Observation) -> str:
    status = run.status
    if status.cause in (Cause.EXITED, Cause.SIGNALED):
        return describe_end(status)
    return status.cause.replace("_", " ")


def _finding(pattern: Matcher, run: Observation, wanted: Wanted) -> str:
    return "found" if pattern.search(searched_text(run, java=wanted.signature == "java")) else "not found"


def _by_exception(runs: Sequence[Observation], matcher: Matcher, wanted: Wanted) -> str:
    kind = wanted.signature
    if kind is None or kind == "process":
        return ""
    if wanted.match:
        learned = {run.index: learn_signature(kind, run, wanted.match, matcher) for run in runs}
        seen = {index: signature for index, signature in learned.items()
                if isinstance(signature, PythonSignature | JavaSignature)}
    else:
        if next(shared_exceptions(kind, runs), None) is not None:
            return ""
        found = {run.index: exceptions_of(kind, run) for run in runs}
        seen = {index: signature_of_block(blocks[-1]) for index, blocks in found.items() if blocks}
    names = _short_names(list(seen.values()))
    return _compare("signature", runs, lambda run: names[likeness(seen[run.index])] if run.index in seen
                    else "no exception stands out")


def _short_names(signatures: Sequence[PythonSignature | JavaSignature]) -> dict[Likeness, str]:
    """What to call each: by class, and by message and innermost frame where that is not enough."""
    classes = {likeness(signature): printable(signature.class_name)[:120] for signature in signatures}
    if len(set(classes.values())) == len(classes):
        return classes
    return {likeness(signature): printable(f"{signature.class_name}: {signature.message}")[:120]
            + f" in {printable(', '.join(signature.frames))[:240]}" for signature in signatures}


def _by_output(runs: Sequence[Observation], wanted: Wanted) -> str:
    """Only when nothing else would tell one failure from another."""
    if wanted.match or wanted.exit_code is not None or exceptions_of(wanted.signature or "auto", runs[0]):
        return ""
    if runs[0].status.cause is Cause.SIGNALED or next(telling_patterns(runs), None) is not None:
        return ""
    last = {run.index: _last_line(run) for run in runs}
    if len({skeleton(line) for line in last.values()}) == 1:
        return ""
    return _compare("output", runs, lambda run: f"ends with '{printable(last[run.index])[:120]}'")


def _last_line(run: Observation) -> str:
    lines = last_lines(decoded(run.stderr)) or last_lines(decoded(run.stdout))
    return lines[0] if lines else ""
