"""Small trees for payload tests, and a way to look without the powers of root."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from runner.payload.seal import SealLimits

REPO = Path(__file__).resolve().parents[2]
T2024 = 1704067200
LIMITS = SealLimits(files=1000, bytes=16 << 20, depth=16, name_bytes=255, path_bytes=4096)
PLAIN_USER = 10001


def settle(root: Path, seconds: int = T2024) -> Path:
    """Modes 0755 and 0644 and one time everywhere, the root too."""
    for directory, _, files in os.walk(root, topdown=False):
        for name in files:
            path = os.path.join(directory, name)
            if not os.path.islink(path):
                os.chmod(path, 0o644)
            os.utime(path, (seconds, seconds), follow_symlinks=False)
        for name in os.listdir(directory):
            path = os.path.join(directory, name)
            if os.path.islink(path):
                os.utime(path, (seconds, seconds), follow_symlinks=False)
        os.chmod(directory, 0o755)
        os.utime(directory, (seconds, seconds))
    return root


def sample(root: Path) -> Path:
    """Files, directories, a link, an empty file and an odd name."""
    root.mkdir(exist_ok=True)
    (root / "a.txt").write_bytes(b"hi\n")
    (root / "d" / "deep").mkdir(parents=True)
    (root / "d" / "x").write_bytes(b"")
    (root / "d" / "deep" / "big").write_bytes(bytes(range(256)) * 3000)
    (root / "d-e").write_bytes(b"1")
    os.symlink("d/x", root / "ln")
    with open(os.path.join(os.fsencode(root), b"od\nd \x1b[31m\xff"), "wb") as file:
        file.write(b"odd")
    return settle(root)


@contextmanager
def memory_folder() -> Iterator[Path]:
    """A folder for large trees, in memory where there is such a place; everyone may look in."""
    with TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as name:
        os.chmod(name, 0o755)
        yield Path(name)


def everyone_can_run(program: str) -> bool:
    """Whether a user without rights reaches a program: each directory above it is searchable by all."""
    path = Path(program).resolve()
    return path.exists() and all(parent.stat().st_mode & 0o001 for parent in (path, *path.parents))


def plain_python() -> list[str]:
    """A Python that a plain user can run."""
    return [next(each for each in (sys.executable, "/usr/bin/python3") if everyone_can_run(each))]


def as_plain_user() -> dict[str, object]:
    """Arguments for subprocess that give up root's powers, if we have them."""
    return {"user": PLAIN_USER, "group": PLAIN_USER, "extra_groups": []} if os.geteuid() == 0 else {}


def run_as_plain_user(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python code that imports ``runner`` without the powers of root."""
    command = [*plain_python(), "-B", "-c", f"import sys; sys.path.insert(0, {str(REPO)!r})\n{code}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                          cwd="/", **as_plain_user())  # type: ignore[call-overload,no-any-return]
