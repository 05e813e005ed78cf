"""What the exports say alike: the headline, why, how a run ended, what was printed, how to replay. All pure.

Nothing here is safe in a format of its own: who puts these texts into one escapes them.
"""

from __future__ import annotations

import math
import shlex

from runner.errors import printable
from runner.evidence.result import Result, Sample
from runner.reports.load_text import counted_assertions, load_command
from runner.reports.naming import operand
from runner.reports.session_words import counted_failures, session_command

_HEADLINES = {"reproduced": "REPRODUCED", "not_reproduced": "NOT REPRODUCED", "recorded": "RECORDED",
              "pass": "PASS", "fail": "FAIL", "inconclusive": "INCONCLUSIVE", "error": "ERROR"}
GOOD = frozenset({"reproduced", "recorded", "pass"})
"""Verdicts that are an answer nobody has to look after."""
FAILED = frozenset({"not_reproduced", "fail"})
_MARK = "[… {} bytes before this are left out]\n"


def headline(result: Result) -> str:
    """The verdict in capitals. A word that we do not know is no verdict."""
    return _HEADLINES.get(result.verdict, "NO VERDICT")


def counted(result: Result) -> str:
    """How many of the requested runs matched; of a browser session, how many of its failures were seen; of a load run,
    how many assertions hold.
    """
    if result.load is not None:
        return counted_assertions(result)
    if result.session is None:
        return f"{result.passes} of {result.runs} runs matched"
    return counted_failures(result, result.session)


def reasons(result: Result) -> tuple[str, ...]:
    """Why the verdict is not a better one, each said once, without the count of runs and the bare names of failures."""
    said = (*result.reasons, result.error) if result.error else result.reasons
    known = {counted(result), *(failure.key for failure in result.session.failures)} if result.session else \
        {counted(result)}
    return tuple(reason for reason in dict.fromkeys(said) if reason not in known)


def run_name(sample: Sample) -> str:
    """The same in every replay, so that readers of test results can follow a run from one to the next."""
    return f"run {sample.index}"


def ended(sample: Sample) -> str:
    """How a run ended: the cause, and the exit code or signal that belongs to it."""
    if sample.cause == "exited" and sample.returncode is not None:
        return f"exited {sample.returncode}"
    if sample.cause == "signaled" and sample.signal is not None:
        return f"signaled {sample.signal}"
    return sample.cause


def refusal(sample: Sample) -> str:
    """Why a run was not accepted: the first thing that did not fit, and more in words."""
    reason = sample.mismatch_reason or sample.outcome
    if reason == "exit_code":
        wanted = "not 0" if sample.expected_exit_code is None else sample.expected_exit_code
        reason = f"exit code {sample.returncode}, expected {wanted}"
    return ": ".join(part for part in (reason, sample.detail) if part)


def finite(value: float | None) -> float:
    """Seconds that any format can hold: what is missing, negative or not a number is 0."""
    return value if value is not None and math.isfinite(value) and value > 0 else 0.0


def excerpt(raw: bytes, limit: int) -> str:
    """The last ``limit`` bytes of some output as text: lines and tabs stay, all else that is not printable (controls,
    direction marks, what is no UTF-8) becomes an escape. A note says what was left out.
    """
    text = raw[-limit:].decode("utf-8", "surrogateescape")
    lines = ("\t".join(printable(part) for part in line.split("\t")) for line in text.split("\n"))
    note = _MARK.format(len(raw) - limit) if len(raw) > limit else ""
    return note + "\n".join(lines)


def replay_command(result: Result) -> str:
    """The shell command that replays the report in the same way, with files named as they were then."""
    if result.load is not None:
        return load_command(result, result.load)
    return _report_command(result) if result.session is None else session_command(result, result.session)


def _report_command(result: Result) -> str:
    words = ["runner", "replay", operand(result.report)]
    if result.bundle_sha256 is None:
        words += ["--payload", operand(result.payload)]
    words += ["--runs", str(result.runs), "--yes"]
    if result.jobs != 1:
        words += ["--jobs", str(result.jobs)]
    if result.oracle_source == "legacy_inferred" and result.contract.exit_code is not None:
        words += ["--exit-code", str(result.contract.exit_code)]
    for name in result.environment_names:
        words += ["--env", f"{name}=VALUE"]
    if result.backend == "host":
        words += ["--backend", "host"]
    if result.policy.name != "default":
        words += ["--policy", result.policy.name]
    if result.timeout_source == "override":
        words += ["--timeout", f"{result.timeout_seconds:g}"]
    if result.docker_network not in {None, "none"}:
        words += ["--docker-network", str(result.docker_network)]
    if result.image is not None and result.image.matched == "name":
        words += ["--docker-image", result.image.name]
    return shlex.join(words)
