"""The seccomp profiles that come with the program, in the engine's own JSON format."""

from __future__ import annotations

import hashlib
import re

from runner.errors import PolicyError, printable
from runner.resources import data_dir

_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")


def profile_text(name: str) -> str:
    """The profile ``policies/seccomp/NAME.json`` as it is handed to the engine. Raises PolicyError."""
    folder = data_dir("policies") / "seccomp"
    path = folder / f"{name}.json"
    if _NAME.fullmatch(name) is None or not path.is_file():
        known = ", ".join(sorted(each.stem for each in folder.glob("*.json")))
        raise PolicyError(f"there is no seccomp profile {printable(name)[:80]}", hint=f"known profiles: {known}")
    return path.read_text(encoding="utf-8")


def profile_sha256(name: str) -> str:
    """SHA-256 of the profile file's bytes, lowercase hex. Raises PolicyError."""
    return hashlib.sha256(profile_text(name).encode("utf-8")).hexdigest()
