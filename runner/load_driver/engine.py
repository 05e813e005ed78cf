"""k6: one run of the script, with LiteTraffic's command line. A program of its own, never a library (AGPL)."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from runner.load.job import SCENARIO_FOLDER, LoadJob
from runner.load.outcome import CONSOLE_FILE, ENGINE_STDERR, ENGINE_STDOUT, METRICS_FILE, EngineRun, Lifecycle
from runner.load_driver.copying import Copier
from runner.load_driver.place import K6, Place
from runner.load_driver.processes import Ended, run
from runner.load_driver.stopping import Stop

FINISHED = frozenset({0, 99})
"""Exit codes of a load that came to its end; 99: a threshold was crossed."""
FILES = (CONSOLE_FILE, METRICS_FILE, ENGINE_STDOUT, ENGINE_STDERR)
_VERSION_SECONDS, _FINISH_SECONDS = 5.0, 5.0
_PIPE = 1 << 20
_CONFIG = "config.json"


@dataclass(frozen=True, slots=True)
class Load:
    """What became of a load. ``dropped`` counts bytes beyond a cap, by file."""

    engine: EngineRun
    lifecycle: Lifecycle
    detail: str = ""
    dropped: tuple[tuple[str, int], ...] = ()


def version(program: str = K6) -> str:
    """The line that k6 tells of itself; empty if it does not."""
    try:
        done = subprocess.run([program, "version"], stdin=subprocess.DEVNULL, capture_output=True, check=True,
                              timeout=_VERSION_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return lines[0][:200] if lines else ""


def run_engine(job: LoadJob, place: Place, env: Mapping[str, str], stop: Stop) -> Load:
    """Run it in the scenario's folder. What it writes goes through pipes, so that a flood neither fills the volume nor
    ends k6: beyond the caps it is counted and dropped.
    """
    with ExitStack() as stack:
        pipes = Path(stack.enter_context(TemporaryDirectory(prefix="pipes-")))
        files = {name: stack.enter_context((place.out / name).open("wb", buffering=0)) for name in FILES}
        caps = {CONSOLE_FILE: job.caps.console, METRICS_FILE: job.caps.metrics}
        copiers = {name: Copier(file.write, caps.get(name, job.caps.output)) for name, file in files.items()}
        writers = [_opened(pipes / name, copiers[name]) for name in caps]
        started = _now()
        try:
            (pipes / _CONFIG).write_text(json.dumps({"hosts": _hosts(job)}), encoding="utf-8")
            ended = run(command(job, pipes, place.k6), cwd=place.folder / SCENARIO_FOLDER, env=env, stop=stop,
                        seconds=job.engine_seconds, stdout=copiers[ENGINE_STDOUT], stderr=copiers[ENGINE_STDERR])
        finally:
            for writer in writers:
                os.close(writer)
        finished = _now()
        for copier in copiers.values():
            copier.finish(_FINISH_SECONDS)
    dropped = tuple((name, copier.dropped) for name, copier in copiers.items() if copier.dropped)
    return _load(EngineRun(started_at=started, finished_at=finished), ended, dropped)


def command(job: LoadJob, pipes: Path, program: str = K6) -> list[str]:
    """The command line."""
    denied = [word for network in job.denied for word in ("--blacklist-ip", network)]
    named = ["--config", str(pipes / _CONFIG)] if _hosts(job) else []
    return [program, "run", "--quiet", "--no-usage-report", "--max-redirects", "0", "--log-format", "raw",
            "--console-output", str(pipes / CONSOLE_FILE), "--out", f"json={pipes / METRICS_FILE}", *named, *denied,
            f"./{job.script}"]


def _hosts(job: LoadJob) -> dict[str, str]:
    """Names that k6 is not to resolve again. A script can have its own; where they lead is denied all the same."""
    return {host: address for host, _, address in job.pins if host != address}


def _opened(pipe: Path, copier: Copier) -> int:
    """A pipe that is read from now on, and our own writing end, which holds it open until it is closed."""
    os.mkfifo(pipe, 0o600)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    writer = os.open(pipe, os.O_WRONLY | os.O_CLOEXEC)
    os.set_blocking(reader, True)
    with suppress(OSError):  # k6 is not to wait for us; how large a pipe may be is the kernel's to say
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _PIPE)
    copier.follow(os.fdopen(reader, "rb", buffering=0))
    return writer


def _load(engine: EngineRun, ended: Ended, dropped: tuple[tuple[str, int], ...]) -> Load:
    code = ended.returncode
    engine = replace(engine, exit_code=code if code is not None and code >= 0 else None,
                     signal=-code if code is not None and code < 0 else None, seconds=round(ended.seconds, 3),
                     timed_out=ended.timed_out, survivors=ended.survivors)
    if ended.stopped:
        return Load(engine, "cancelled", "k6 was stopped before its end", dropped)
    if ended.timed_out:
        return Load(engine, "timed_out", f"k6 was stopped after {ended.seconds:.1f} s", dropped)
    if code in FINISHED:
        return Load(engine, "finished", "", dropped)
    how = ended.why or (f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with {code}")
    return Load(engine, "crashed", f"k6 {how}", dropped)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def empty_files(out: Path) -> None:
    """Where k6 did not run its files are there all the same, empty: a reader need not ask why one is missing."""
    for name in FILES:
        with suppress(OSError):
            (out / name).touch()
