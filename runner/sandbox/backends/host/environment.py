"""What a command on the host sees of the caller's environment: an allow-list, or all if a person says so."""

from __future__ import annotations

from collections.abc import Mapping

_ALLOWED = frozenset({"PATH", "LANG", "LANGUAGE", "TZ", "TERM"})
_ALLOWED_PREFIX = "LC_"


def host_environment(caller: Mapping[str, str], policy: Mapping[str, str],
                     given: tuple[tuple[str, str], ...], *, inherit: bool) -> dict[str, str]:
    """The command's whole environment. The policy's values win over the caller's, ``given`` over both."""
    passed = {name: value for name, value in caller.items()
              if inherit or name in _ALLOWED or name.startswith(_ALLOWED_PREFIX)}
    return passed | dict(policy) | dict(given)
