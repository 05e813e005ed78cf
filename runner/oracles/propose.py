"""For a recording: from several runs of one command to the contract of its failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from runner.errors import NoVerdict
from runner.evidence.observation import Observation
from runner.oracles.contract import Contract, ProcessSignature, Signature
from runner.oracles.disagreements import disagreements
from runner.oracles.judge import judge
from runner.oracles.match import Matcher
from runner.oracles.signature.learn import learn_signature
from runner.oracles.standing_out import header_patterns
from runner.oracles.telling import telling_patterns
from runner.oracles.trivial import trivial_reasons
from runner.oracles.wanted import Wanted
from runner.sandbox.exit import Cause

__all__ = ["Proposal", "Wanted", "disagreements", "propose_contract"]

_ANYTHING = Wanted()
_TRIED = 5
"""Patterns of each sort that are tried before a contract without a match is proposed."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A contract, and in plain words what could not be part of it."""

    contract: Contract
    notes: tuple[str, ...] = ()


def propose_contract(runs: Sequence[Observation], matcher: Matcher, wanted: Wanted = _ANYTHING) -> Proposal:
    """The most specific contract that every run meets; what the user wanted is kept as it is.

    If no such contract exists (a run timed out, say), what the runs have in common is proposed all the same:
    judging them by it says why it is not met. ``matcher`` lends its process. Raises NoVerdict when a
    signature was asked for by name and cannot be learned, PatternError for the wanted pattern.
    """
    fallback: Contract | None = None
    for contract in _candidates(runs, matcher, wanted):
        if all(judge(contract, run, matcher).accepted for run in runs):
            return Proposal(contract, _notes(contract, wanted))
        fallback = fallback or contract
    if fallback is None:
        raise NoVerdict(f"no {wanted.signature} signature is the same in all runs, or there is none",
                        hint="leave --signature out, or give a --match that picks one exception")
    return Proposal(fallback, _notes(fallback, wanted))


def _candidates(runs: Sequence[Observation], matcher: Matcher, wanted: Wanted) -> Iterator[Contract]:
    """Contracts to try, best first; a signature asked for by name must be in them."""
    for match in _matches(runs, matcher, wanted):
        contract = _contract(runs, matcher, wanted, match)
        if contract.signature is not None or wanted.signature in (None, "auto"):
            yield contract


def _matches(runs: Sequence[Observation], matcher: Matcher, wanted: Wanted) -> Iterator[str | None]:
    """Patterns to try, best first; ``None`` at last."""
    if wanted.match:
        yield wanted.match
        return
    for source in (header_patterns(wanted.signature or "auto", runs), telling_patterns(runs)):
        for pattern in islice(source, _TRIED):
            if not trivial_reasons(Contract(wanted.exit_code, pattern), matcher):
                yield pattern
    yield None


def _contract(runs: Sequence[Observation], matcher: Matcher, wanted: Wanted, match: str | None) -> Contract:
    signature = _common_signature(runs, matcher, wanted, match)
    if isinstance(signature, ProcessSignature):
        return Contract(None, match, signature)
    return Contract(_exit_code(runs) if wanted.exit_code is None else wanted.exit_code, match, signature)


def _exit_code(runs: Sequence[Observation]) -> int | None:
    codes = {run.status.returncode for run in runs if run.status.cause in (Cause.EXITED, Cause.SIGNALED)}
    return codes.pop() if len(codes) == 1 else None


def _common_signature(runs: Sequence[Observation], matcher: Matcher, wanted: Wanted,
                      match: str | None) -> Signature | None:
    """The signature that all runs show, exactly."""
    if wanted.signature is None:
        return None
    learned = {learn_signature(wanted.signature, run, match, matcher) for run in runs}
    return learned.pop() if len(learned) == 1 else None


def _notes(contract: Contract, wanted: Wanted) -> tuple[str, ...]:
    notes = []
    if contract.signature is None and wanted.signature is not None:
        notes.append("no signature: no exception is the same, word for word, in all runs")
    if not contract.match and not isinstance(contract.signature, ProcessSignature):
        notes.append("no match: no line that tells what failed is the same in all runs")
    return tuple(notes)
