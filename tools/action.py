"""The script part of the GitHub Action: replay, export for CI, tell GitHub. Standard library only.

Reads ``ACTION_*`` (the inputs) and GitHub's own variables; writes outputs to the file ``GITHUB_OUTPUT``. The step
summary is written by ``runner replay --ci``. Exit code: 0 when the verdict is the expected one, else that of the
replay, or 1 where the replay's was 0.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

EXPECTATIONS = ("reproduced", "not_reproduced", "any")
EXPORTS = (("junit", "junit.xml"), ("sarif", "runner.sarif"), ("html", "report.html"))
_VERDICTS = {0: "reproduced", 1: "not_reproduced", 3: "no_verdict"}
_NOTHING_JUDGED = 2


class BadInput(Exception):
    """An input that is not usable; the message is one line."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the workflow asked for; paths are inside the workspace."""

    report: Path
    payload: Path | None
    runs: str
    policy: str
    expect: str


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """Raises BadInput."""
    workspace = Path(environ.get("GITHUB_WORKSPACE") or ".").resolve()
    expect = environ.get("ACTION_EXPECT", "") or "reproduced"
    if expect not in EXPECTATIONS:
        raise BadInput(f"expect: {expect!a} is none of {', '.join(EXPECTATIONS)}")
    runs = environ.get("ACTION_RUNS", "") or "1"
    if not (runs.isascii() and runs.isdecimal()):
        raise BadInput(f"runs: {runs!a} is no number")
    payload = environ.get("ACTION_PAYLOAD", "")
    policy = environ.get("ACTION_POLICY", "") or "default"
    if "/" in policy or policy.endswith((".yaml", ".yml")):
        policy = str(_inside(workspace, policy, "policy"))
    return Inputs(report=_inside(workspace, environ.get("ACTION_REPORT", ""), "report"),
                  payload=_inside(workspace, payload, "payload") if payload else None,
                  runs=runs, policy=policy, expect=expect)


def _inside(workspace: Path, text: str, name: str) -> Path:
    """A path of the workspace. A checkout may hold links, so what counts is where a path leads."""
    if not text or "\n" in text or "\0" in text:
        raise BadInput(f"{name}: give a path inside the workspace")
    path = workspace / text
    if Path(text).is_absolute() or not path.resolve().is_relative_to(workspace):
        raise BadInput(f"{name}: {text!a} leads out of the workspace")
    return path


def replay(inputs: Inputs, directory: Path, runner: tuple[str, ...], environ: Mapping[str, str]) -> int:
    """The replay's own exit code."""
    argv = [*runner, "replay", "--yes", "--ci", "--runs", inputs.runs, "--policy", inputs.policy,
            "--out", str(directory)]
    if inputs.payload is not None:
        argv += ["--payload", str(inputs.payload)]
    # The workspace stays as it was checked out. The summary's file is named by a variable that is passed on.
    env = {**environ, "RUNNER_STORE": str(directory.with_name("store"))}
    return subprocess.run([*argv, "--", str(inputs.report)], env=env, stdin=subprocess.DEVNULL,
                          check=False).returncode


def export_all(directory: Path, target: Path, runner: tuple[str, ...]) -> None:
    """JUnit, SARIF and HTML, into a new directory ``target``. Raises CalledProcessError."""
    target.mkdir()
    for form, name in EXPORTS:
        subprocess.run([*runner, "export", str(directory), "--format", form, "-o", str(target / name)],
                       stdin=subprocess.DEVNULL, check=True)


def tell(environ: Mapping[str, str], outputs: Mapping[str, str]) -> None:
    """Append the step's outputs; no value of ours has a newline."""
    target = environ.get("GITHUB_OUTPUT")
    lines = "".join(f"{name}={value}\n" for name, value in outputs.items())
    if target:
        with open(target, "a", encoding="utf-8") as file:
            file.write(lines)
    else:
        print(lines, end="")


def outcome(code: int, expect: str) -> int:
    """Whether the step passes: 0, or why not."""
    verdict = _VERDICTS.get(code)
    if verdict == expect or (expect == "any" and code in (0, 1)):
        return 0
    return code or 1


def main(environ: Mapping[str, str] = os.environ) -> int:
    """Everything; returns the step's exit code."""
    runner = (str(Path(sys.executable).with_name("runner")),)
    try:
        inputs = read_inputs(environ)
    except BadInput as error:
        print(f"runner action: {error}", file=sys.stderr)
        tell(environ, {"verdict": "nothing_judged", "run-directory": "", "export-directory": "",
                       "exit-code": str(_NOTHING_JUDGED)})
        return _NOTHING_JUDGED
    place = Path(tempfile.mkdtemp(prefix="runner-", dir=environ.get("RUNNER_TEMP") or None))
    directory, exports = place / "evidence", place / "exports"
    code = replay(inputs, directory, runner, environ)
    written = (directory / "result.json").is_file()
    if written:
        export_all(directory, exports, runner)
    tell(environ, {"verdict": _VERDICTS.get(code, "nothing_judged"),
                   "run-directory": str(directory) if written else "",
                   "export-directory": str(exports) if written else "", "exit-code": str(code)})
    return outcome(code, inputs.expect)


if __name__ == "__main__":
    sys.exit(main())
