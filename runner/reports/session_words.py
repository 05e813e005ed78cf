"""What the exports say alike of a browser session: how many failures, what each is called, how to play it again.

All pure, and nothing here is safe in a format of its own: who puts these texts into one escapes them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from runner.evidence.result import Result, Sample
from runner.evidence.session_record import FailureVerdict, SessionRecord, StepTaken, TargetRecord
from runner.reports.naming import file_name, operand

INCIDENT_FILE = "incident.json"
STATES = {"reproduced": "reproduced", "partly": "not in every run", "not_reproduced": "gone", "unknown": "not seen",
          "recorded": "found", "new": "new"}
"""What became of a failure, in words. ``unknown``: it was not seen, and not every run can say that it is gone."""
_LONGEST_NAME = 200


def is_recording(result: Result) -> bool:
    """Whether the session was recorded here, by ``chaos`` or ``shrink``, rather than played again.

    A recording is its own report; one that came to nothing has none.
    """
    session = result.session
    return session is not None and (not result.report_sha256 or any(
        file.name == INCIDENT_FILE and file.sha256 == result.report_sha256 for file in session.files))


def counted_failures(result: Result, session: SessionRecord) -> str:
    """How many failures were found; or how many of the recorded ones were seen again."""
    known = [failure for failure in session.failures if failure.state != "new"]
    if is_recording(result) or result.verdict == "recorded":
        found = f"{_number(len(known), 'failure')} found"
        if result.verdict == "recorded":
            return found
        return "nothing was recorded" if result.exit_code == 2 else f"the session did not come to its end, {found}"
    if not known:
        return f"{result.passes} of {_number(result.runs, 'run')} matched"
    seen = sum(failure.state == "reproduced" for failure in known)
    partly = "partly, " if 0 < seen < len(known) else ""
    runs = "1 run" if result.runs == 1 else f"every one of {result.runs} runs"
    return f"{partly}{seen} of {len(known)} recorded failures in {runs}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def failure_name(failure: FailureVerdict) -> str:
    """The same in every replay of an incident, so that readers of test results can follow it. No two are alike."""
    key = failure.key
    return f"{key if len(key) <= _LONGEST_NAME else key[:_LONGEST_NAME - 1] + '…'} ({failure.id})"


def failure_text(failure: FailureVerdict) -> str:
    """What became of it, in how many runs, and where it was seen first."""
    where = f", first at step {failure.step}" if failure.step is not None and failure.step >= 0 else ""
    return f"{STATES[failure.state]}, seen in {failure.seen} of {_number(failure.runs, 'run')}{where}"


def undecisive(session: SessionRecord) -> frozenset[str]:
    """IDs of recorded failures on which the verdict does not rest: beside grave ones, others may be on purpose."""
    known = [failure for failure in session.failures if failure.state != "new"]
    if not any(failure.grave for failure in known):
        return frozenset()
    return frozenset(failure.id for failure in known if not failure.grave)


def odd_steps(result: Result) -> Iterator[tuple[Sample, StepTaken]]:
    """Steps that were not taken, or had no effect, run by run."""
    for sample in result.samples:
        for step in sample.session.steps if sample.session is not None else ():
            if step.state != "done":
                yield sample, step


def target_ended(target: TargetRecord) -> str:
    """How the application ended. ``stopped`` is as it should be: it served until the browser was done."""
    if target.cause == "exited" and target.returncode is not None:
        how = f"exited {target.returncode}"
    elif target.cause == "signaled" and target.signal is not None:
        how = f"signaled {target.signal}"
    else:
        how = "stopped when the session was over" if target.cause == "stopped" else target.cause
    return ", ".join([how, *(["a child ran out of memory"] if target.child_oom else []),
                      *([target.detail] if target.detail else [])])


def session_command(result: Result, session: SessionRecord) -> str:
    """The shell command that plays the session again in the same way, with files named as they were then."""
    words = ["runner", "replay", operand(_played(result.report))]
    if result.payload:
        words += ["--payload", operand(result.payload)]
    if session.target_command is not None:
        words += ["--target-command", session.target_command]
    words += [*session.options, "--runs", str(result.runs), "--yes"]
    if result.jobs != 1:
        words += ["--jobs", str(result.jobs)]
    for name in result.environment_names:
        words += ["--env", f"{name}=VALUE"]
    if result.policy.name != "default":
        words += ["--policy", result.policy.name]
    if result.timeout_source == "override":
        words += ["--timeout", f"{result.timeout_seconds:g}"]
    return shlex.join(words)


def _played(report: str) -> str:
    """A run directory is named, rather than the file in it."""
    return report.removesuffix(f"/{INCIDENT_FILE}") if file_name(report) == INCIDENT_FILE else report
