"""How a run ends: told exactly, never guessed."""

from __future__ import annotations

from functools import partial

from runner.sandbox.backends.conformance.kit import Behaviour, Stage, expect, expect_exit, sh
from runner.sandbox.exit import TIMEOUT_RETURNCODE, Cause

_CODES = (0, 1, 7, 125, 126, 127, 137, 139, 143, 255)
_SIGNALS = (6, 9, 11, 15)
_ESCAPE = """
import os, signal, time
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.write(1, b"away")
            time.sleep(600)
        os._exit(0)
    os.wait()
os._exit(3)
"""


def _exit_code(code: int, stage: Stage) -> None:
    status = stage.run(sh(f"exit {code}")).status
    expect("cause and code", (status.cause, status.returncode), (Cause.EXITED, code))
    expect("signal", (status.signal, status.signal_hint), (None, None))


def _signal(number: int, stage: Stage) -> None:
    status = stage.run(sh(f"kill -{number} $$")).status
    expect("cause, signal and code", (status.cause, status.signal, status.returncode),
           (Cause.SIGNALED, number, 128 + number))


def _shell_claim(stage: Stage) -> None:
    status = stage.run(sh("sh -c 'kill -11 $$'; exit $?"), shell_speaks=True).status
    expect("cause and code", (status.cause, status.returncode), (Cause.EXITED, 139))
    expect("signal and hint", (status.signal, status.signal_hint), (None, 11))


def _missing(stage: Stage) -> None:
    expect("cause", stage.run(("/no/such/program",)).status.cause, Cause.NOT_STARTED)


def _not_executable(stage: Stage) -> None:
    expect("cause", stage.run(("./keep.txt",)).status.cause, Cause.NOT_STARTED)


def _payload_program(stage: Stage) -> None:
    expect_exit(stage.run(("./tool",)), 23)


def _working_directory(stage: Stage) -> None:
    expect_exit(stage.run(sh("test -f deep.txt && ! test -e keep.txt"), cwd="dir"), 0)


def _deadline(stage: Stage) -> None:
    execution = stage.run(sh("trap '' TERM INT HUP; printf up; while :; do sleep 0.1; done"), timeout=1.0)
    expect("cause and code", (execution.status.cause, execution.status.returncode),
           (Cause.TIMED_OUT, TIMEOUT_RETURNCODE))
    expect("output until then", execution.stdout.kept, b"up")


def _escape(stage: Stage) -> None:
    execution = stage.run(sh(f"exec python3 -c '{_ESCAPE}'"))
    expect_exit(execution, 3)


BEHAVIOURS = (
    *(Behaviour(f"exit {code} is exited {code}", partial(_exit_code, code)) for code in _CODES),
    *(Behaviour(f"signal {number} is signaled {number}", partial(_signal, number)) for number in _SIGNALS),
    Behaviour("128+N of shell text is a claim", _shell_claim),
    Behaviour("a missing program is not started", _missing),
    Behaviour("a file without permission is not started", _not_executable),
    Behaviour("a program of the payload runs", _payload_program),
    Behaviour("the working directory is below the payload", _working_directory),
    Behaviour("the deadline ends what ignores TERM", _deadline),
    Behaviour("double fork and setsid do not keep a run from ending", _escape),
)
