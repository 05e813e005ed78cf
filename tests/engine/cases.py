"""Labelled real failures: released packages, fetched by name and version, with what is right on either side.

``tests/data/cases/commands/NAME/case.json`` names the wheels by file name and SHA-256; nothing else is
trusted of what the package index hands out. Wheels are kept below ``.cache/cases`` and checked at each use.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "data" / "cases" / "commands"
CACHE = ROOT / ".cache" / "cases"
SIDES = ("buggy", "fixed")
_PLATFORMS = ("any", "manylinux1_x86_64", "manylinux2010_x86_64", "manylinux2014_x86_64",
              "manylinux_2_17_x86_64", "manylinux_2_28_x86_64")
_MOST_UNPACKED = 64 << 20


@dataclass(frozen=True)
class Case:
    """One ``case.json``."""

    name: str
    facts: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return FOLDER / self.name

    def wheels(self, side: str) -> Mapping[str, str]:
        """File name → SHA-256."""
        found = self.facts["artifacts"][side]
        assert isinstance(found, dict)
        return found

    def payload(self, side: str, target: Path) -> Path:
        """Make the payload of ``side`` at ``target``: its own files, and the packages in ``vendor``."""
        shutil.copytree(self.folder / "payload", target)
        for name, digest in self.wheels(side).items():
            unpack(fetch(name, digest), target / "vendor")
        return target


def load_cases() -> list[Case]:
    """All of them, by name."""
    paths = sorted(FOLDER.glob("*/case.json"))
    return [Case(path.parent.name, json.loads(path.read_text(encoding="utf-8"))) for path in paths]


def fetch(wheel: str, digest: str) -> Path:
    """The wheel of that file name, from the cache or else from the package index; its bytes are checked."""
    kept = CACHE / wheel
    if kept.is_file() and _sha256(kept) == digest:
        return kept
    CACHE.mkdir(parents=True, exist_ok=True)
    name, version = wheel.split("-")[:2]
    with tempfile.TemporaryDirectory(dir=CACHE) as place:
        _download(f"{name}=={version}", place)
        arrived = Path(place) / wheel
        there = [path.name for path in Path(place).iterdir()]
        assert arrived.is_file(), f"{name}=={version}: the index gave {there}, not {wheel}"
        assert _sha256(arrived) == digest, f"{wheel}: another file than the one that was labelled"
        os.replace(arrived, kept)
    return kept


def _download(requirement: str, place: str) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--only-binary=:all:", "--implementation", "cp", "--python-version", "3.11", "--dest", place]
    for platform in _PLATFORMS:
        command += ["--platform", platform]
    done = subprocess.run([*command, requirement], check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{requirement} could not be fetched:\n{done.stderr}"


def unpack(wheel: Path, target: Path) -> None:
    """Unpack a wheel: regular files with plain relative names only, up to 64 MiB in all."""
    left = _MOST_UNPACKED
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            parts = PurePosixPath(member.filename).parts
            plain = parts and parts[0] != "/" and ".." not in parts and "\\" not in member.filename
            assert plain, f"{wheel.name}: {member.filename!r} is no name to unpack"
            left -= member.file_size
            assert left >= 0, f"{wheel.name}: unpacks to more than {_MOST_UNPACKED} bytes"
            if not member.is_dir():
                place = target.joinpath(*parts)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(archive.read(member))


def _sha256(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
