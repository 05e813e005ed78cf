"""Which packages a tree was made of, and how two such sets differ."""

from __future__ import annotations

from collections.abc import Mapping


def parse_status(status: bytes) -> dict[str, str]:
    """Package versions from a dpkg status file (stanzas of ``Field: value`` lines, see deb-control(5))."""
    versions: dict[str, str] = {}
    name = ""
    for line in status.decode("utf-8", "replace").splitlines():
        field, _, value = line.partition(": ")
        if field == "Package":
            name = value.strip()
        elif field == "Version" and name:
            versions[name] = value.strip()
        elif not line:
            name = ""
    return dict(sorted(versions.items()))


def differences(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """One line for each package that is not the same: ``name old → new``; ``-`` where there is none."""
    return [f"{name} {old.get(name, '-')} → {new.get(name, '-')}"
            for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
