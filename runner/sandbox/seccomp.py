"""The seccomp profiles that come with the program, in the engine's own JSON format."""

from __future__ import annotations

import hashlib

from runner.errors import PolicyError, printable
from runner.resources import data_dir


def profile_names() -> tuple[str, ...]:
    """Names of the profiles that come with the program, sorted."""
    return tuple(sorted(path.stem for path in (data_dir("policies") / "seccomp").glob("*.json")))


def profile_text(name: str) -> str:
    """The profile ``policies/seccomp/NAME.json`` as it is handed to the engine. Raises PolicyError."""
    if name not in profile_names():
        raise PolicyError(f"there is no seccomp profile {printable(name)[:80]}",
                          hint=f"known profiles: {', '.join(profile_names())}")
    return (data_dir("policies") / "seccomp" / f"{name}.json").read_text(encoding="utf-8")


def profile_sha256(name: str) -> str:
    """SHA-256 of the profile file's bytes, lowercase hex. Raises PolicyError."""
    return hashlib.sha256(profile_text(name).encode("utf-8")).hexdigest()
