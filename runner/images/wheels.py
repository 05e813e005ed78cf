"""Python packages for an image: fetched by pip on the host, checked by their digests, unpacked as data.

pip decides where wheels come from, by its own settings; a recipe decides which bytes are right. Nothing is installed
and nothing of a wheel runs: its files are laid out as the wheel has them (PyPA, Binary distribution format 1.0).
"""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from runner.errors import SetupError, printable
from runner.images.inputs import EPOCH
from runner.images.recipe import Wheel, Wheels

_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
# What the suite's C library can run: manylinux names by the version of glibc, and the older names of three of them.
_GLIBC = range(5, 37)
_OLDER_NAMES = ("manylinux1", "manylinux2010", "manylinux2014")
_TIMEOUT = 600.0


def fetch_wheels(wheels: Wheels, architecture: str, store: Path) -> tuple[Path, ...]:
    """Each package's wheel in ``store``, where it is called by its digest; what is there already is not fetched.

    Raises SetupError: there is no pip, the package cannot be had, or it is not the one that the recipe names.
    """
    store.mkdir(parents=True, exist_ok=True)
    return tuple(_stored(wheel, wheels.python, architecture, store) for wheel in wheels.packages)


def unpack_wheels(wheels: Wheels, files: tuple[Path, ...], target: Path) -> None:
    """Write what is in the wheels as one tar, for a root directory. Raises SetupError for a file out of place."""
    seen: set[str] = set()
    with tarfile.open(target, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in files:
            with zipfile.ZipFile(path) as wheel:
                for member in _members(wheel):
                    script = _script(wheel, member)
                    place = f"{wheels.to.lstrip('/')}/{script or member.filename}"
                    if place in seen:
                        raise SetupError(f"two wheels have the file {printable(member.filename)[:120]}")
                    seen.add(place)
                    entry = tarfile.TarInfo(place)
                    entry.size, entry.mtime = member.file_size, EPOCH
                    entry.mode = 0o755 if script or member.external_attr >> 16 & 0o100 else 0o644
                    with wheel.open(member) as data:
                        tar.addfile(entry, data)


def _members(wheel: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    for member in sorted(wheel.infolist(), key=lambda info: info.filename):
        place = PurePosixPath(member.filename)
        if member.is_dir() or (place.parts[0].endswith(".data") and place.parts[1] == "headers"):
            continue  # headers are for compilers
        out_of_place = place.parts[0].endswith(".data") and not _script(wheel, member)
        if place.is_absolute() or ".." in place.parts or out_of_place:
            raise SetupError(f"a wheel has a file that does not go beside the others: "
                             f"{printable(member.filename)[:120]}")
        yield member


def _script(wheel: zipfile.ZipFile, member: zipfile.ZipInfo) -> str:
    """Where a program of the wheel goes: ``bin/NAME`` below the folder. Empty for what is none; a script of Python is
    none either, for an installer would have to write its first line.
    """
    data, *rest = PurePosixPath(member.filename).parts
    if not data.endswith(".data") or len(rest) != 2 or rest[0] != "scripts":
        return ""
    with wheel.open(member) as content:
        return "" if content.read(8) == b"#!python" else f"bin/{rest[1]}"


def _stored(wheel: Wheel, python: str, architecture: str, store: Path) -> Path:
    wanted = wheel.sha256.get("any") or wheel.sha256.get(architecture)  # type: ignore[call-overload]
    if wanted is None:
        raise SetupError(f"the recipe has no wheel of {wheel.name} {wheel.version} for {printable(architecture)}")
    kept = store / f"{wanted}.whl"
    if kept.is_file() and _sha256(kept) == wanted:
        return kept
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=store) as folder:
        _download(wheel, wanted, python, architecture, Path(folder))
        found = list(Path(folder).glob("*.whl"))
        if len(found) != 1 or _sha256(found[0]) != wanted:
            raise SetupError(f"pip brought another wheel of {wheel.name} {wheel.version} than the recipe names")
        found[0].replace(kept)
    return kept


def _download(wheel: Wheel, sha256: str, python: str, architecture: str, folder: Path) -> None:
    if importlib.util.find_spec("pip") is None:
        raise SetupError("images cannot be built here: this Python has no pip, which fetches their wheels",
                         hint=f"{sys.executable} -m ensurepip")
    requirement = folder / "requirements.txt"
    requirement.write_text(f"{wheel.name}=={wheel.version} --hash=sha256:{sha256}\n", encoding="ascii")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
         "--require-hashes", "--only-binary=:all:", "--implementation=cp", f"--python-version={python}",
         *(f"--platform={name}" for name in _platforms(architecture)), f"--requirement={requirement}",
         f"--dest={folder}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=_TIMEOUT, check=False)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").splitlines()
        errors = [line for line in said if line.startswith("ERROR:")] or said or ["it said nothing"]
        raise SetupError(f"pip cannot fetch {wheel.name} {wheel.version}: {printable(errors[-1])[:300]}",
                         hint="the package index must be reachable by pip, and its settings apply")


def _platforms(architecture: str) -> list[str]:
    machine = _MACHINES.get(architecture, architecture)
    return [f"{name}_{machine}" for name in (*(f"manylinux_2_{minor}" for minor in _GLIBC), *_OLDER_NAMES)]


def _sha256(path: Path) -> str:
    with path.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
