"""The oracle of a command failure: one contract, one finished run, one judgement."""

from __future__ import annotations

from runner.evidence.observation import Observation, Workspace
from runner.oracles.contract import Contract, JavaSignature, ProcessSignature
from runner.oracles.judgement import Judgement, MismatchReason, Outcome
from runner.oracles.match import Matcher, Span
from runner.oracles.signature.learn import signature_mismatch
from runner.oracles.signature.process import describe_end
from runner.oracles.text import place, searched_text
from runner.sandbox.exit import RESOURCE_CAUSES, Cause, ExitStatus

_NO_VERDICT_CAUSES = frozenset({Cause.NOT_STARTED, Cause.INIT_LOST, Cause.CANCELLED})
_FULL = frozenset({Workspace.FULL_BYTES, Workspace.FULL_INODES})
_SIGKILL = 9


def judge(contract: Contract, observation: Observation, matcher: Matcher,
          execution_root: str | None = None) -> Judgement:
    """Whether the run shows the failure of the contract.

    A run that timed out or lost a resource is never accepted, whatever it printed; one that did not come to
    an end of its own gives no verdict. ``matcher`` lends its process to the contract's pattern.
    ``execution_root`` is where the workload saw its work tree; ``None``: as observed. Raises PatternError.
    """
    status = observation.status
    expected = _expected(contract)
    cut = _cut_off(status)
    span = None if cut or not _exit_fits(expected, status) else _search(contract, observation, matcher)
    reason, detail = cut or _mismatch(contract, observation, matcher, span, execution_root) or (None, "")
    cause = status.cause
    if reason and cut is None and observation.workspace in _FULL:
        reason, detail, cause = "resource", "the work volume was full", Cause.DISK_LIMIT
    match = place(span, observation) if span is not None else None
    return Judgement(reason is None, reason, _outcome(reason), expected, status.returncode, detail, cause, match)


def _expected(contract: Contract) -> int | None:
    """A process signature says how the process ends, so no exit code is pinned beside it."""
    return None if isinstance(contract.signature, ProcessSignature) else contract.exit_code


def _outcome(reason: MismatchReason | None) -> Outcome:
    match reason:
        case None:
            return "passed"
        case "timeout":
            return "timed_out"
        case "resource":
            return "resource_exhausted"
        case "no_verdict":
            return "no_verdict"
        case _:
            return "failed"


def _cut_off(status: ExitStatus) -> tuple[MismatchReason, str] | None:
    """Why this run cannot be judged by what it printed and returned."""
    if status.cause is Cause.TIMED_OUT:
        return "timeout", "the run did not end in time"
    if status.cause in RESOURCE_CAUSES:
        return "resource", status.detail
    if status.child_oom and status.signal_hint == _SIGKILL:
        return "resource", "a program that the shell ran was killed for memory"
    if status.cause in _NO_VERDICT_CAUSES:
        return "no_verdict", status.detail
    return None


def _search(contract: Contract, observation: Observation, matcher: Matcher) -> Span | None:
    if not contract.match:
        return None
    text = searched_text(observation, java=isinstance(contract.signature, JavaSignature))
    return matcher.for_pattern(contract.match).search(text)


def _mismatch(contract: Contract, observation: Observation, matcher: Matcher, span: Span | None,
              execution_root: str | None) -> tuple[MismatchReason, str] | None:
    if not _exit_fits(_expected(contract), observation.status):
        return "exit_code", _remark(observation.status)
    if contract.match and span is None:
        return _not_found(observation)
    if contract.signature is None:
        return None
    why = signature_mismatch(contract.signature, observation, contract.match, matcher, execution_root)
    return None if why is None else ("signature", why)


def _exit_fits(expected: int | None, status: ExitStatus) -> bool:
    """ReproMin's host backend writes a death by signal N as exit code -N."""
    if expected is None:
        return status.returncode != 0
    if expected < 0:
        return status.cause is Cause.SIGNALED and status.signal == -expected
    return status.returncode == expected


def _remark(status: ExitStatus) -> str:
    """What the bare exit code does not tell."""
    if status.child_oom:
        return "a child process was killed for memory"
    return describe_end(status) if status.signal is not None or status.signal_hint is not None else ""


def _not_found(observation: Observation) -> tuple[MismatchReason, str]:
    """What was not kept may have held the match, so its absence proves nothing then."""
    if observation.stdout.truncated or observation.stderr.truncated:
        return "no_verdict", "no match in what is kept of the output, and not all of it is kept"
    return "match", ""
