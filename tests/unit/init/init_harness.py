"""Runs the real init as a real PID 1: in a PID namespace of its own, as the workload's uid, without capabilities."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from runner.sandbox.exit import Trailer
from runner.sandbox.trailer import new_nonce, release_message, split_trailer

SOURCES = Path(__file__).resolve().parents[3] / "images" / "steward"
UID = 10001
PATIENCE = 60
"""Seconds after which a test is stuck; nothing is measured by it."""

_NAMESPACE = ("unshare", "--fork", "--pid", "--mount-proc", "--kill-child")


def compile_init(folder: Path) -> Path:
    """The init, built with the flags that its image uses."""
    program = folder / "init"
    subprocess.run(["gcc", "-std=gnu11", "-static", "-Os", "-s", "-Wall", "-Wextra", "-Werror",
                    "-Wl,--build-id=none", f"-ffile-prefix-map={SOURCES}=.", "-o", str(program),
                    *map(str, sorted(SOURCES.glob("init*.c")))], check=True)
    return program


def _python() -> str:
    """A Python that another uid can run: one below a private home directory cannot be."""
    for candidate in (sys.executable, "/usr/bin/python3"):
        path = Path(candidate).resolve()
        if path.is_file() and all(part.stat().st_mode & 0o001 for part in (path, *path.parents)):
            return str(path)
    raise RuntimeError("the init's tests need a python3 that every uid can run: install /usr/bin/python3")


def why_no_namespace() -> str:
    """Empty, or why no PID namespace can be made here."""
    tried = subprocess.run([*_NAMESPACE, "true"], capture_output=True, text=True, check=False)
    return "" if tried.returncode == 0 else tried.stderr.strip() or "unshare failed"


@dataclass(frozen=True)
class Ended:
    """What the controller would see."""

    code: int
    stdout: bytes
    raw_stderr: bytes
    nonce: bytes

    @property
    def trailer(self) -> Trailer | None:
        return split_trailer(self.raw_stderr, self.nonce)[1]

    @property
    def stderr(self) -> bytes:
        return split_trailer(self.raw_stderr, self.nonce)[0]

    @property
    def ending(self) -> tuple[str, int] | None:
        return (self.trailer.kind, self.trailer.code) if self.trailer else None


@dataclass
class Waiting:
    """An init that runs and holds a leash."""

    process: subprocess.Popen[bytes]
    nonce: bytes = field(default_factory=new_nonce)

    def send(self, raw: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def release(self, env: Iterable[tuple[str, str]] = ()) -> None:
        self.send(release_message(self.nonce, env))

    def slip_leash(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def signal_init(self, number: int) -> None:
        """As the engine does: from outside of the namespace."""
        pid = self.process.pid
        init = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()[0]
        os.kill(int(init), number)

    def read_line(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def finish(self) -> Ended:
        """Read both streams to their ends while the leash is held."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        with ThreadPoolExecutor(2) as pool:
            out, err = pool.submit(self.process.stdout.read), pool.submit(self.process.stderr.read)
            code = self.process.wait(PATIENCE)
            return Ended(code, out.result(PATIENCE), err.result(PATIENCE), self.nonce)


@contextmanager
def started(init: Path, argv: Sequence[str], *, lifetime: int = PATIENCE, cwd: str = "/", uid: int = UID,
            nproc: int | None = None, env: dict[str, str] | None = None,
            pass_fds: tuple[int, ...] = ()) -> Iterator[Waiting]:
    """An init that waits for its release."""
    limits = ("prlimit", f"--nproc={nproc}") if nproc is not None else ()
    dropped = ("setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups", "--no-new-privs",
               "--inh-caps=-all", "--bounding-set=-all")
    with subprocess.Popen(
            [*_NAMESPACE, *limits, *dropped, str(init), "--lifetime", str(lifetime), "--cwd", cwd, "--", *argv],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=pass_fds,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **(env or {})}) as process:
        assert process.stderr is not None
        os.fchown(process.stderr.fileno(), uid, uid)  # as an engine does: the workload can open its own pipe
        try:
            yield Waiting(process)
        finally:
            process.kill()


def run(init: Path, *argv: str, released: Iterable[tuple[str, str]] = (), **options: object) -> Ended:
    """From start to end, as the controller does it."""
    with started(init, argv, **options) as waiting:  # type: ignore[arg-type]
        waiting.release(released)
        return waiting.finish()


def python(script: str) -> tuple[str, ...]:
    """An argv that runs a script with nothing of the test's environment."""
    return (_python(), "-I", "-S", "-c", script)
