"""Settings: flag, then ``RUNNER_*`` variable, then ``runner.toml`` or ``[tool.runner]``, then the default.

A settings file may lie in a directory that somebody else wrote, so it can name only what widens nothing: never
``yes``, a backend, a network, an image, or a policy file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.errors import UsageError, printable

_BY_VARIABLE = frozenset({"runs", "jobs", "timeout", "policy", "out", "quiet", "backend"})
_BY_FILE = frozenset({"runs", "jobs", "policy", "quiet"})
_FOREIGN = frozenset({"ALLOW_RUNASROOT", "ARCH", "DEBUG", "ENVIRONMENT", "NAME", "OS", "PERFLOG", "TEMP", "TOOL_CACHE",
                      "TRACKING_ID", "USER", "WORKSPACE",
                      "AFTER_SCRIPT_TIMEOUT", "SCRIPT_TIMEOUT", "TEMP_PROJECT_DIR"})
"""Variables with our prefix that the runners of GitHub and, in the last line, of GitLab know in a job."""

_STORE = "STORE"
"""No default of an option: the store reads it, for every command (:mod:`runner.evidence.database`)."""

_PREFIX = "RUNNER_"
_MAX_FILE = 1 << 16


def settings(environ: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """Defaults for options that were not given. Raises UsageError naming the source of an unknown key."""
    return {**_from_files(folder), **_from_variables(environ)}


def _from_variables(environ: Mapping[str, str]) -> dict[str, Any]:
    found = {}
    for variable in sorted(environ):
        name = variable.removeprefix(_PREFIX)
        if not variable.startswith(_PREFIX) or name in _FOREIGN or name == _STORE:
            continue
        key = name.lower()
        if key not in _BY_VARIABLE:
            known = sorted(_PREFIX + each.upper() for each in (*_BY_VARIABLE, _STORE))
            raise UsageError(f"the variable {printable(variable)} is not a setting", hint=f"known: {', '.join(known)}")
        found[key] = environ[variable]
    return found


def _from_files(folder: Path) -> dict[str, Any]:
    own = _table(folder / "runner.toml")
    if own is not None:
        return _checked(own, "runner.toml")
    project = _table(folder / "pyproject.toml") or {}
    section = project.get("tool", {})
    section = section.get("runner", {}) if isinstance(section, dict) else {}
    return _checked(section, "pyproject.toml [tool.runner]")


def _table(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    import tomllib  # start-up time: most directories have no such file

    try:
        if path.stat().st_size > _MAX_FILE and path.name == "runner.toml":
            raise UsageError(f"{path.name} is larger than {_MAX_FILE} bytes")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        if path.name != "runner.toml":
            return None  # somebody else's file, and not about us
        raise UsageError(f"{path.name} cannot be read: {printable(str(error))[:200]}") from None


def _checked(table: object, source: str) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise UsageError(f"{source}: expected a table of settings")
    for key, value in table.items():
        if key not in _BY_FILE:
            raise UsageError(f"{source}: {printable(str(key))[:60]} is not a setting that a file may have",
                             hint=f"known: {', '.join(sorted(_BY_FILE))}")
        if not isinstance(value, str | int | float | bool):
            raise UsageError(f"{source}: {key}: expected a plain value")
    if "/" in str(table.get("policy", "")) or "." in str(table.get("policy", "")):
        raise UsageError(f"{source}: policy: a file may only name a built-in policy",
                         hint="name a policy file with --policy")
    return dict(table)
