"""From judged runs to one answer."""

import pytest

from runner.errors import ExitCode
from runner.evidence.observation import Observation
from runner.evidence.verdict import Judged, VerdictKind, decide
from runner.oracles.contract import Contract
from runner.oracles.judge import judge
from runner.oracles.match import Matcher
from runner.sandbox.exit import Cause, ExitStatus

CONTRACT = Contract(exit_code=1)


def judged(*causes):
    runs = []
    for index, (cause, code) in enumerate(causes, 1):
        seen = Observation(index=index, status=ExitStatus(cause, code))
        with Matcher(None) as matcher:
            runs.append(Judged(seen, judge(CONTRACT, seen, matcher, "/workspace")))
    return tuple(runs)


MATCH, OTHER = (Cause.EXITED, 1), (Cause.EXITED, 2)
LOST, NOT_STARTED = (Cause.INIT_LOST, None), (Cause.NOT_STARTED, None)
OOM, LATE = (Cause.OOM_KILLED, 137), (Cause.TIMED_OUT, 124)


@pytest.mark.parametrize(("runs", "requested", "clamped", "kind", "code"), [
    ((MATCH, MATCH), 2, (), VerdictKind.REPRODUCED, ExitCode.OK),
    ((MATCH, OTHER), 2, (), VerdictKind.NOT_REPRODUCED, ExitCode.NOT_REPRODUCED),
    ((OOM,), 1, (), VerdictKind.NOT_REPRODUCED, ExitCode.NOT_REPRODUCED),
    ((LATE,), 1, (), VerdictKind.NOT_REPRODUCED, ExitCode.NOT_REPRODUCED),
    ((MATCH, LOST), 2, (), VerdictKind.NO_VERDICT, ExitCode.NO_VERDICT),
    ((OTHER, LOST), 2, (), VerdictKind.NOT_REPRODUCED, ExitCode.NOT_REPRODUCED),
    ((NOT_STARTED,), 1, (), VerdictKind.NO_VERDICT, ExitCode.NOTHING_JUDGED),
    ((OOM,), 1, ("memory",), VerdictKind.NO_VERDICT, ExitCode.NO_VERDICT),
    ((LATE,), 1, ("memory",), VerdictKind.NOT_REPRODUCED, ExitCode.NOT_REPRODUCED),
    ((LATE,), 1, ("timeout",), VerdictKind.NO_VERDICT, ExitCode.NO_VERDICT),
    ((OTHER, OOM), 2, ("memory",), VerdictKind.NOT_REPRODUCED, ExitCode.NOT_REPRODUCED),
    ((), 1, (), VerdictKind.NO_VERDICT, ExitCode.NOTHING_JUDGED),
    ((MATCH,), 2, (), VerdictKind.NO_VERDICT, ExitCode.NO_VERDICT),
])
def test_verdicts(runs, requested, clamped, kind, code):
    verdict = decide(judged(*runs), requested, frozenset(clamped))
    assert (verdict.kind, verdict.exit_code) == (kind, code)
    assert verdict.reasons
