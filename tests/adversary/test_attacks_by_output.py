"""Threat: output that fills the host, the controller's memory, or that gets lost (rows 17 and 18)."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import docker
from boundaries import here
from docker.utils import kwargs_from_env
from harness import MIB, POLICY, attack, attack_with, attacks_with, ending, said

from runner.sandbox.backends.docker.backend import DockerBackend

FLAT = """
import json, resource, sys
sys.path.insert(0, sys.argv[1])
from harness import POLICY, MIB, attack, engine
output = POLICY.output.model_copy(update={"stdout": 1024 * MIB})
seen, = attack({}, f"head -c {sys.argv[2]} /dev/zero", policy=POLICY.model_copy(update={"output": output}), timeout=60)
engine().close()
print(json.dumps([seen.stdout.bytes, str(seen.status.cause), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def test_flood_of_stdout_is_cut_off() -> None:
    """Row 17: yes(1) is killed at the cap; head and tail are kept, nothing is written to a log on the engine."""
    seen, again = attack({}, "exec yes", runs=2)
    for one in (seen, again):
        assert ending(one) == ("output_limit", 137, None)
        assert one.stdout.bytes > POLICY.output.stdout
        assert (one.stdout.truncated, len(one.stdout.kept)) == (True, POLICY.output.keep)
        assert set(one.stdout.kept) == set(b"y\n")


def test_flood_of_stderr_is_cut_off() -> None:
    """Row 17: stderr has its own cap, and the trailer's place at its end is no way around it."""
    seen, = attack({}, "exec yes >&2")
    assert ending(seen) == ("output_limit", 137, None)
    assert seen.stderr.bytes > POLICY.output.stderr
    assert seen.stdout.bytes == 0


def test_flood_by_an_orphan_ends_with_the_main_process() -> None:
    """Row 13, 17: a child that goes on writing after the main process is killed before the trailer is written."""
    seen, = attack({}, "setsid yes >&2 & setsid yes & exit 3")
    assert seen.status.cause in ("exited", "output_limit")
    if seen.status.cause == "exited":
        assert seen.status.returncode == 3


def test_output_at_the_very_cap_is_no_flood() -> None:
    """Row 17: exactly the cap is fine; trailer bytes do not count."""
    seen, = attack({}, f"head -c {POLICY.output.stdout} /dev/zero; head -c {POLICY.output.stderr} /dev/zero >&2")
    assert ending(seen) == ("exited", 0, None)
    assert (seen.stdout.bytes, seen.stderr.bytes) == (POLICY.output.stdout, POLICY.output.stderr)
    assert seen.stderr.sha256 == sha256(bytes(POLICY.output.stderr)).hexdigest()


def test_memory_of_the_controller_is_flat() -> None:
    """Row 17: a controller that takes in 512 MiB needs hardly more memory than one that takes in 1 MiB."""
    resident = []
    for size in (MIB, here(512) * MIB):
        done = subprocess.run([sys.executable, "-c", FLAT, str(Path(__file__).parent), str(size)],
                              capture_output=True, check=True, timeout=120)
        total, cause, peak = json.loads(done.stdout)
        assert (total, cause) == (size, "exited")
        resident.append(peak)
    assert resident[1] - resident[0] < 16 * 1024


def test_last_line_without_newline_is_kept() -> None:
    """Row 18: the tail of both streams is complete to the byte."""
    seen, = attack({}, "printf 'first\\nlast'; printf 'error\\nend' >&2; exit 4")
    assert (seen.stdout.kept, seen.stderr.kept, ending(seen)) == (b"first\nlast", b"error\nend", ("exited", 4, None))


def test_program_of_one_millisecond_is_complete() -> None:
    """Row 18: attached before started; ten of ten are complete."""
    seen = attack({}, ("/bin/echo", "complete"), runs=10, ahead=1)
    assert [one.stdout.kept for one in seen] == [b"complete\n"] * 10


def test_silence_longer_than_the_engine_client_waits_ends_nothing() -> None:
    """Row 18: the client's own timeout (here one second, otherwise sixty) is not one of the stream."""
    patience = here(1)
    with closing(docker.APIClient(version="auto", timeout=patience, **kwargs_from_env())) as impatient:
        seen, = attack({}, f"printf before; sleep {2.5 * patience}; printf after; exit 6",
                       through=DockerBackend(impatient))
    assert (seen.stdout.kept, ending(seen)) == (b"beforeafter", ("exited", 6, None))


def test_closed_streams_are_no_end() -> None:
    """Row 18: a program that closes its output goes on, and its exit code is still told."""
    seen, = attack({}, "exec >&- 2>&-; sleep 0.5; exit 7")
    assert (ending(seen), seen.stdout.bytes, seen.stderr.bytes) == (("exited", 7, None), 0, 0)


def test_frame_headers_in_the_output_are_output() -> None:
    """Row 17: what looks like the engine's stream framing is the program's own."""
    frame = b"\x02\0\0\0\0\0\0\x05fake!"
    seen = attack_with(f"import os; os.write(1, {frame!r} * 3); os.write(2, {frame[::-1]!r})")
    assert (seen.stdout.kept, seen.stderr.kept) == (frame * 3, frame[::-1])


def test_every_byte_passes_and_is_hashed() -> None:
    """Row 9, 17: NULs, escapes and bad UTF-8 are counted and hashed as they are."""
    every = bytes(range(256))
    seen = attack_with("import os; os.write(1, bytes(range(256)))")
    assert (seen.stdout.kept, seen.stdout.sha256) == (every, sha256(every).hexdigest())
    assert seen.output_sha256 == sha256(every).hexdigest()


def test_slow_reader_is_not_needed() -> None:
    """Row 17: with thousands of writers' tiny pieces nothing is lost."""
    seen = attacks_with("""
        import os
        for _ in range(16):
            if os.fork() == 0:
                for _ in range(2000):
                    os.write(1, b"o")
                    os.write(2, b"e")
                os._exit(0)
        for _ in range(16):
            os.wait()
        """)[0]
    assert (ending(seen), seen.stdout.bytes, seen.stderr.bytes) == (("exited", 0, None), 32000, 32000)


def test_terminal_is_not_to_be_had() -> None:
    """Row 17: no controlling terminal, no way to push characters into one, stdin is empty."""
    answer = said(attack_with("""
        import errno, fcntl, json, os, termios
        def attempt(body):
            try:
                return body()
            except OSError as error:
                return errno.errorcode[error.errno]
        print(json.dumps({
            "terminals": [os.isatty(number) for number in range(3)], "stdin": os.read(0, 10).decode(),
            "open": attempt(lambda: os.open("/dev/tty", os.O_RDWR)),
            "push": attempt(lambda: fcntl.ioctl(0, termios.TIOCSTI, b"x"))}))
        """))
    assert answer == {"terminals": [False] * 3, "stdin": "", "open": here("ENXIO"), "push": "ENOTTY"}
