"""Runs mmdebstrap so that nothing of it survives us: neither its processes nor its folders."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from runner.errors import SetupError, printable
from runner.images.inputs import EPOCH

TOOL = "mmdebstrap"
_INSTALL = "apt-get install mmdebstrap debian-archive-keyring"
_UNPRIVILEGED = "apt-get install uidmap, and an entry for this user in /etc/subuid and /etc/subgid"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PASSED_ON = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_GATE = ("/bin/sh", "-c", 'read -r _ && exec "$@"', "sh")
_GRACE = 10.0
_TAIL = 64 * 1024


def require_tool() -> None:
    """Raises SetupError, with the command that installs it, when mmdebstrap is missing."""
    if shutil.which(TOOL, path=_PATH) is None:
        raise SetupError(f"images cannot be built here: {TOOL} is not installed",
                         hint=f"{_INSTALL}; in a container: mount a cache that has them (docs/engines.md)")


def run_tool(arguments: Sequence[str], work: Path) -> None:
    """Run mmdebstrap with its temporary files in ``work``. Raises SetupError with its last complaint."""
    require_tool()
    log = work / "mmdebstrap.log"
    with log.open("wb") as output, _child([TOOL, *arguments], work, output.fileno()) as child:
        code = child.wait()
    if code != 0:
        hint = f"the package archive must be reachable and its keyring present: {_INSTALL}"
        if os.geteuid() != 0:
            hint += f"; without root it also needs: {_UNPRIVILEGED}"
        raise SetupError(f"{TOOL} failed (exit {code}): {_complaint(log)}", hint=hint)


@contextlib.contextmanager
def _child(argv: list[str], work: Path, output: int) -> Iterator[subprocess.Popen[bytes]]:
    # A session of its own: Ctrl-C reaches us alone, and we end the whole group, politely first, because
    # mmdebstrap unmounts and removes its chroot when it is asked to stop.
    # It starts behind a gate that opens once it can be ended: an interrupt in between closes the gate for good.
    child = subprocess.Popen([*_GATE, *argv], cwd=work, env=_environment(work), stdin=subprocess.PIPE, stdout=output,
                             stderr=subprocess.STDOUT, start_new_session=True, umask=0o022)
    try:
        _open_gate(child)
        yield child
    finally:
        if child.poll() is None:
            _end_group(child)


def _open_gate(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    with contextlib.suppress(BrokenPipeError), child.stdin:
        child.stdin.write(b"\n")


def _end_group(child: subprocess.Popen[bytes]) -> None:
    # The group's leader is reaped last: until then its number cannot be somebody else's.
    os.killpg(child.pid, signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        _await_end(child.pid, _GRACE)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _await_end(pid: int, seconds: float) -> None:
    descriptor = os.pidfd_open(pid)
    try:
        if not select.select([descriptor], [], [], seconds)[0]:
            raise TimeoutError
    finally:
        os.close(descriptor)


def _environment(work: Path) -> dict[str, str]:
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {"PATH": _PATH, "HOME": str(work), "TMPDIR": str(work), "LC_ALL": "C.UTF-8",
            "SOURCE_DATE_EPOCH": str(EPOCH), **passed}


def _complaint(log: Path) -> str:
    with log.open("rb") as lines:
        lines.seek(max(0, log.stat().st_size - _TAIL))
        text = lines.read().decode("utf-8", "replace").splitlines()
    first = next((number for number, line in enumerate(text) if line.startswith("E: ")), len(text))
    # What a script or a compiler said comes just before mmdebstrap's own first complaint.
    return printable("; ".join(text[max(0, first - 3):first + 1]) or "it said nothing")[:600]
