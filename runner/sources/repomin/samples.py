"""``holdout_certification.samples``: one item per completed run, and the counts made from them."""

from __future__ import annotations

from runner.sources.repomin.fields import NOT_NEGATIVE, Fields

_OUTCOMES = ("passed", "failed", "timed_out", "resource_exhausted", "interrupted")
_EVIDENCE = ("returncode", "duration_seconds", "resource_reason", "output_sha256")


def check_samples(holdout: Fields, completed: int, passes: int) -> None:
    """Check each sample, then that the counters of ``holdout`` follow from them."""
    found = len(holdout.array("samples"))
    if found != completed:
        raise holdout.bad("samples", f"an array of completed_runs items, found {found}")
    samples = list(holdout.objects("samples"))
    accepted, outcomes = 0, []
    for position, sample in enumerate(samples, start=1):
        sample.integer("index", position, position)
        accepted += sample.flag("accepted")
        outcomes.append(_check(sample))
    if accepted != passes:
        raise holdout.bad("passes", f"the number of accepted samples, which is {accepted}")
    _check_counters(holdout, samples, outcomes, completed)


def _check(sample: Fields) -> str | None:
    """Check one sample; returns its recorded outcome, if it has one."""
    accepted = sample.flag("accepted")
    flags = {key: sample.has(key) and sample.flag(key) for key in ("timed_out", "resource_exhausted")}
    if sum(flags.values()) + accepted > 1:
        raise sample.bad("accepted", "only one of accepted, timed_out and resource_exhausted to be true")
    if sample.given("returncode"):
        sample.integer("returncode")
    if sample.given("duration_seconds"):
        sample.number("duration_seconds", NOT_NEGATIVE)
    if sample.given("resource_reason"):
        sample.text("resource_reason", empty=True)
    if sample.given("output_sha256"):
        sample.digest("output_sha256")
    return _check_outcome(sample, accepted, flags) if sample.given("outcome") else None


def _check_outcome(sample: Fields, accepted: bool, flags: dict[str, bool]) -> str:
    outcome = sample.choice("outcome", _OUTCOMES)
    if outcome == "interrupted":
        if accepted or any(flags.values()) or any(sample.given(key) for key in _EVIDENCE):
            raise sample.bad("outcome", "another outcome, because an interrupted run has no evidence")
        return outcome
    raised = [key for key, value in flags.items() if value]
    follows = raised[0] if raised else "passed" if accepted else "failed"
    if outcome != follows:
        raise sample.bad("outcome", f'"{follows}", as the other fields say')
    return outcome


def _check_counters(holdout: Fields, samples: list[Fields], outcomes: list[str | None],
                    completed: int) -> None:
    told = None not in outcomes
    if holdout.given("ordinary_failures"):
        if not told:
            raise holdout.bad("ordinary_failures", "no such count, because a sample has no outcome")
        _check_count(holdout, "ordinary_failures", outcomes.count("failed"))
    for key, flag in (("timed_out_runs", "timed_out"), ("resource_exhausted_runs", "resource_exhausted")):
        if holdout.given(key):
            holdout.integer(key, 0, completed)
            if all(sample.has(flag) for sample in samples):
                _check_count(holdout, key, sum(sample.raw[flag] is True for sample in samples))
    if holdout.given("interrupted_runs"):
        holdout.integer("interrupted_runs", 0, completed)
        if told:
            _check_count(holdout, "interrupted_runs", outcomes.count("interrupted"))


def _check_count(holdout: Fields, key: str, counted: int) -> None:
    if holdout.integer(key, 0) != counted:
        raise holdout.bad(key, f"{counted}, as counted in samples")
