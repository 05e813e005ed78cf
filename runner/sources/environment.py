"""The environment of a report: names and one digest; values come from whoever replays and are never shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from hashlib import sha256

from runner.case import RecordedEnvironment
from runner.errors import EnvironmentMismatch, UsageError, printable

Pairs = tuple[tuple[str, str], ...]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_LISTED = 8
_LISTED_CHARS = 60


def is_environment_name(text: object) -> bool:
    """Whether ``text`` is a name that ``--env`` and reports may use."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def environment_sha256(pairs: Iterable[tuple[str, str]]) -> str:
    """ReproMin's digest, used for native reports too: names sorted by code point, ``NAME=VALUE`` NUL each,
    UTF-8 with surrogate escapes, SHA-256 in lowercase hex.
    """
    digest = sha256()
    for name, value in sorted(pairs):
        digest.update(f"{name}={value}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def parse_env_options(options: Sequence[str], *, reserved: Collection[str] = ()) -> Pairs:
    """``NAME=VALUE`` options in the given order. ``reserved`` names are set by the format itself.

    Raises UsageError. Messages never show a value, nor text that may be one: an option without a valid name
    is named by its position.
    """
    pairs: dict[str, str] = {}
    for position, option in enumerate(options, start=1):
        name, equals, value = option.partition("=")
        if not equals or not is_environment_name(name):
            raise UsageError(f"--env number {position}: expected NAME=VALUE"
                             " with a name of letters, digits and _")
        if name in pairs:
            raise UsageError(f"--env {_short(name)}: given twice")
        if name in reserved:
            raise UsageError(f"--env {_short(name)}: is set by the report's format and cannot be given")
        if not _encodable(value):
            raise UsageError(f"--env {_short(name)}: the value has a NUL or is not encodable")
        pairs[name] = value
    return tuple(pairs.items())


def check_environment(recorded: RecordedEnvironment, given: Sequence[tuple[str, str]]) -> None:
    """Names must be the recorded ones, and the digest of the values too.

    Raises EnvironmentMismatch; the message has names only.
    """
    names, wanted = {name for name, _ in given}, set(recorded.names)
    parts = []
    if wanted - names:
        parts.append(f"missing {_listed(wanted - names)}")
    if names - wanted:
        parts.append(f"not recorded {_listed(names - wanted)}")
    if parts:
        raise EnvironmentMismatch(f"the environment is not the recorded one: {'; '.join(parts)}",
                                  hint="give exactly the recorded names with --env NAME=VALUE")
    if recorded.sha256 is None:
        if wanted:
            raise EnvironmentMismatch("the report names environment variables but records no digest of them")
        return
    if environment_sha256(given) != recorded.sha256:
        raise EnvironmentMismatch(f"the environment is not the recorded one: the digest of the values differs"
                                  f" ({_listed(names) if names else 'no variables'})",
                                  hint="give the values that were used when the report was made")


def _encodable(value: str) -> bool:
    try:
        return b"\0" not in value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False


def _short(name: str) -> str:
    return name if len(name) <= _LISTED_CHARS else f"{name[:_LISTED_CHARS]}…"


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = f" and {len(ordered) - _LISTED} more" if len(ordered) > _LISTED else ""
    return ", ".join(printable(_short(name)) for name in ordered[:_LISTED]) + more
