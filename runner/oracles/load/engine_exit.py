"""What k6's exit codes mean. Source: the constants of k6's package ``errext/exitcodes``, named here in our words."""

from __future__ import annotations

from runner.load.outcome import EngineRun

FINISHED, THRESHOLDS = 0, 99

CRASHES = {
    97: "a cloud test failed",
    98: "it could not follow a cloud test",
    100: "the script's setup() took too long",
    101: "the script's teardown() took too long",
    102: "something took too long",
    103: "its engine failed",
    104: "it found the script's options invalid",
    105: "it was stopped from outside",
    106: "it could not start its REST API",
    107: "the script threw an exception outside of its journeys",
    108: "the script ended the test with test.abort()",
    109: "it panicked",
}
"""Codes that say by themselves why there was no full run."""


def explain(engine: EngineRun) -> str:
    """One sentence on how k6 ended, empty if it came to its end (0 or 99)."""
    if engine.signal is not None:
        return f"k6 was killed by signal {engine.signal}"
    if engine.exit_code in (FINISHED, THRESHOLDS):
        return ""
    if engine.exit_code is None:
        return "k6 left no exit code"
    meaning = CRASHES.get(engine.exit_code, "nobody knows what that means")
    return f"k6 exited with {engine.exit_code}: {meaning}"


def is_known(engine: EngineRun) -> bool:
    """Whether the way k6 ended is one that is understood."""
    return engine.signal is not None or engine.exit_code in (FINISHED, THRESHOLDS, *CRASHES)
