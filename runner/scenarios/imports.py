"""What a script imports and opens, found in its text by LiteTraffic's rules: comments count, names are not resolved."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.errors import InputError, printable
from runner.load.job import HELPER
from runner.scenarios.files import MAX_SCRIPT, inside, read_inside

_MOST = 500
_QUOTED = r"""(?:'([^'\\\n]{1,1000})'|"([^"\\\n]{1,1000})"|`([^`\\$\n]{1,1000})`)"""
_IMPORT = re.compile(rf"(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*){_QUOTED}")
_OPEN = re.compile(rf"""(?<![\w.])open\s*\(\s*(?:{_QUOTED}\s*[,)]|([^)\n]))""")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, slots=True)
class Closure:
    """Everything that a script reaches by relative imports, itself included, and the files that it opens.

    ``helper``: one of them imports the runtime helper. ``computed`` names scripts that open files by a computed name.
    """

    scripts: tuple[str, ...]
    opened: tuple[str, ...]
    helper: bool
    computed: tuple[str, ...]


def follow_imports(directory: Path, script: str) -> Closure:
    """Follow them. Raises InputError for an import that is refused or leads nowhere."""
    waiting, scripts, opened, computed = [script], dict[str, None](), dict[str, None](), dict[str, None]()
    helper = False
    while waiting:
        name = waiting.pop()
        if name in scripts:
            continue
        if len(scripts) >= _MOST:
            raise InputError(f"{printable(script)}: imports more than {_MOST} files")
        scripts[name] = None
        text = read_inside(directory, name, MAX_SCRIPT).decode("utf-8", "replace")
        for target in _quoted(_IMPORT, text):
            place = _target(name, target)
            if place == HELPER:
                helper = True
            elif place is not None:
                waiting.append(_there(directory, name, place, f"imports {target}"))
        for found in _OPEN.finditer(text):
            target = found[1] or found[2] or found[3]
            if target is None:
                computed[name] = None
            else:
                opened[_there(directory, name, _beside(name, target), f"opens {target}")] = None
    return Closure(tuple(sorted(scripts)), tuple(sorted(opened)), helper, tuple(sorted(computed)))


def _quoted(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for found in pattern.finditer(text):
        yield next(group for group in found.groups() if group is not None)


def _target(name: str, target: str) -> str | None:
    """Where an import leads, below the directory; ``None`` for what k6 brings itself. Raises InputError."""
    if target.startswith(("/", "file:")) or _SCHEME.match(target):
        raise _refused(name, target, "only ./ and ../ files of the scenario can be imported")
    if target.startswith("k6/x/"):
        raise _refused(name, target, "extensions of k6 are not there")
    return _beside(name, target) if target.startswith(("./", "../")) else None


def _beside(name: str, target: str) -> str:
    if target.startswith("/") or _SCHEME.match(target):
        raise _refused(name, target, "only files of the scenario can be opened")
    place = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
    if place.startswith("../") or place == "..":
        raise _refused(name, target, "it is outside the scenario's directory")
    return place


def _there(directory: Path, name: str, place: str, what: str) -> str:
    found = inside(directory, place)
    if found is None:
        raise InputError(f"{printable(name)}: {printable(what)[:200]}, which is not a file of the scenario",
                         hint="put the file there, or take the line out; a comment counts too")
    return found


def _refused(name: str, target: str, why: str) -> InputError:
    return InputError(f"{printable(name)}: {printable(target)[:200]} is refused: {why}",
                      hint="a comment counts too")
