"""From the raw tree to an image layer: sorted, one time stamp, nothing of the machine it was made on.

Left out are device nodes, sockets and fifos, logs, caches, package lists, temporary files and all that an
engine or mmdebstrap copies from its host. Set-id bits go too: no program in a sandbox has a use for them.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from runner.errors import SetupError, printable
from runner.images.inputs import EPOCH

_HOST_DEPENDENT = (
    ".dockerenv", "dev/*", "proc/*", "sys/*", "run/*", "tmp/*", "var/tmp/*", "var/log/*", "var/cache/*",
    "var/backups/*", "var/lib/apt", "var/lib/dbus", "var/lib/dpkg/*-old", "etc/apt", "etc/hostname",
    "etc/hosts", "etc/resolv.conf", "etc/mtab", "etc/machine-id", "etc/ld.so.cache",
)
_PERMISSIONS = 0o1777
_WRITTEN = (tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE)


@dataclass(frozen=True, slots=True)
class Layer:
    """A finished layer: an uncompressed tar on disk, its SHA-256 (hex) and size in bytes."""

    path: Path
    sha256: str
    size: int


def normalise(raw: Path, target: Path, drop: Iterable[str] = (), keep: Iterable[str] = ()) -> Layer:
    """Write ``raw`` anew as ``target``. In ``drop`` and ``keep``, ``*`` matches ``/`` too; ``keep`` wins.

    Raises SetupError for a tree that leads out of itself.
    """
    with tarfile.open(raw, mode="r:") as source:
        members = {name: member for member in source.getmembers() if (name := _name(member.name))}
        chosen = _chosen(members, _matcher([*_HOST_DEPENDENT, *drop]), _matcher(keep))
        with target.open("wb") as out:
            hashing = HashingWriter(out)
            with tarfile.open(fileobj=hashing, mode="w", format=tarfile.GNU_FORMAT,  # type: ignore[call-overload]
                              encoding="utf-8", errors="surrogateescape") as layer:
                _write(source, layer, members, chosen)
    return Layer(target, hashing.hexdigest(), hashing.size)


class HashingWriter:
    """A binary stream that knows the SHA-256 and the size of what went through it."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        """Write all of ``data``."""
        self._digest.update(data)
        self.size += len(data)
        return self._out.write(data)

    def tell(self) -> int:
        """Bytes so far."""
        return self.size

    def hexdigest(self) -> str:
        """SHA-256 of everything written, hex."""
        return self._digest.hexdigest()


def _write(source: tarfile.TarFile, layer: tarfile.TarFile, members: dict[str, tarfile.TarInfo],
           chosen: list[str]) -> None:
    first_of: dict[str, str] = {}
    for name in chosen:
        member = members[name]
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode, entry.mtime = member.type, member.mode & _PERMISSIONS, EPOCH
        entry.uid, entry.gid = member.uid, member.gid
        data: IO[bytes] | None = None
        if member.isreg() or member.islnk():
            # Hard links: the first name in our order carries the data, whichever did in the raw tar.
            owner = _name(member.linkname) if member.islnk() else name
            first = first_of.setdefault(owner, name)
            if first == name:
                entry.type, entry.size = tarfile.REGTYPE, members[owner].size
                data = source.extractfile(members[owner])
            else:
                entry.type, entry.linkname = tarfile.LNKTYPE, first
        elif member.issym():
            entry.linkname = member.linkname
        layer.addfile(entry, data)


def _chosen(members: dict[str, tarfile.TarInfo], dropped: Callable[[str], bool],
            kept: Callable[[str], bool]) -> list[str]:
    chosen: set[str] = set()
    for name, member in members.items():
        parents = _parents(name)
        if member.type in _WRITTEN and (kept(name) or not any(dropped(part) for part in (name, *parents))):
            chosen.update((name, *(parent for parent in parents if parent in members)))
    return sorted(chosen)


def _parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    alternatives = [fnmatch.translate(pattern) for pattern in patterns]
    expression = re.compile("|".join(alternatives) or r"(?!)")
    return lambda name: expression.match(name) is not None


def _name(raw: str) -> str:
    name = raw.removeprefix("./").strip("/") if raw != "." else ""
    if raw.startswith("/") or ".." in name.split("/"):
        raise SetupError(f"the built tree has an entry outside of itself: {printable(raw)[:120]}")
    return name
