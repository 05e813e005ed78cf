"""What a run prints: all of it, apart, counted and hashed; and not more than the policy allows."""

from __future__ import annotations

from functools import partial
from hashlib import sha256

from runner.sandbox.backends.conformance.kit import Behaviour, Stage, expect, expect_exit, sh
from runner.sandbox.exit import Cause

_MUCH = 3_000_000
_KEEP = 100_000
_SHORT_RUNS = 5


def _apart(stage: Stage) -> None:
    execution = stage.run(sh("printf 'to out'; printf 'to err' >&2"))
    expect("stdout", execution.stdout.kept, b"to out")
    expect("stderr", execution.stderr.kept, b"to err")
    expect("joint digest", execution.output_sha256, sha256(b"to outto err").hexdigest())


def _silence(stage: Stage) -> None:
    execution = stage.run(sh(":"))
    expect("output", (execution.stdout.kept, execution.stderr.kept), (b"", b""))
    expect("joint digest", execution.output_sha256, sha256(b"").hexdigest())


def _unfinished_line(stage: Stage) -> None:
    expect("stdout", stage.run(sh("printf 'line\\nno newline'")).stdout.kept, b"line\nno newline")


def _bytes(stage: Stage) -> None:
    expect("stdout", stage.run(sh("printf '\\000\\377\\015\\012\\033'")).stdout.kept, b"\x00\xff\r\n\x1b")


def _short(stage: Stage) -> None:
    with stage.session(("/bin/echo", "complete"), runs=_SHORT_RUNS) as session:
        for index in range(1, _SHORT_RUNS + 1):
            run = session.prepare(index)
            expect(f"stdout of run {index}", run.execute().stdout.kept, b"complete\n")
            run.discard()


def _much(stage: Stage) -> None:
    policy = stage.subject.policy
    kept = policy.model_copy(update={"output": policy.output.model_copy(update={
        "stdout": 2 * _MUCH, "stderr": 2 * _MUCH, "keep": _KEEP})})
    script = f"head -c {_MUCH} /dev/zero; head -c {_MUCH - 1} /dev/zero | tr '\\0' x >&2; printf y >&2"
    execution = stage.run(sh(script), policy=kept)
    expect_exit(execution, 0)
    for stream, wanted in ((execution.stdout, bytes(_MUCH)), (execution.stderr, b"x" * (_MUCH - 1) + b"y")):
        expect("bytes", stream.bytes, _MUCH)
        expect("digest", stream.sha256, sha256(wanted).hexdigest())
        expect("truncated and kept", (stream.truncated, len(stream.kept)), (True, _KEEP))
        expect("both ends", (stream.head[:10], stream.tail[-10:]), (wanted[:10], wanted[-10:]))


def _too_much(stream: str, stage: Stage) -> None:
    policy = stage.subject.policy
    capped = policy.model_copy(update={"output": policy.output.model_copy(update={stream: 10_000})})
    execution = stage.run(sh("yes" if stream == "stdout" else "yes >&2"), policy=capped)
    expect("cause", execution.status.cause, Cause.OUTPUT_LIMIT)


def _empty_stdin(stage: Stage) -> None:
    execution = stage.run(sh("cat; printf end"))
    expect("stdout", execution.stdout.kept, b"end")


BEHAVIOURS = (
    Behaviour("stdout and stderr are kept apart", _apart),
    Behaviour("silence is empty output", _silence),
    Behaviour("a last line without newline is kept", _unfinished_line),
    Behaviour("every byte passes", _bytes),
    Behaviour("a short program's output is complete", _short),
    Behaviour("much output is counted and hashed exactly", _much),
    Behaviour("stdout over its cap ends the run", partial(_too_much, "stdout")),
    Behaviour("stderr over its cap ends the run", partial(_too_much, "stderr")),
    Behaviour("stdin is empty", _empty_stdin),
)
