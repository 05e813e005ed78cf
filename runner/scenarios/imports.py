"""What a script imports and opens, found in its text.

Imports by LiteTraffic's rules: names in quotes after ``from``, ``import`` and ``require``, comments and all. What is
opened by k6's ``open()`` LiteTraffic does not look at; here comments do not count, so that nothing new is refused.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.errors import InputError, printable
from runner.load.job import HELPER
from runner.scenarios.files import MAX_SCRIPT, inside, read_inside

_MOST, _MOST_CHARS = 500, 16 << 20
# Possessive throughout: no text, however hostile, is scanned twice.
_IMPORT = re.compile(r"""(?:\bfrom|\bimport\s*+\(?+|\brequire\s*+\()\s*+["']([^"'\n]+)["']""")
_CODE = re.compile(r"""
    //[^\n]*+ | /\*(?:[^*]|\*(?!/))*+(?:\*/)?+
  | (?<![\w.$])(?<!function\s)open\s*+\(\s*+ (?P<opened>'[^'\\\n]*+'|"[^"\\\n]*+"|`[^`\\$\n]*+`)\s*+[,)]
  | (?<![\w.$])(?<!function\s)(?P<computed>open)\s*+\(\s*+(?!\))
  | '(?:[^'\\\n]|\\.)*+'?+ | "(?:[^"\\\n]|\\.)*+"?+
""", re.VERBOSE)
_REFUSED = re.compile(r"/|file:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Closure:
    """Everything that a script reaches by relative imports, itself included, and the files that it opens.

    ``helper``: one of them imports the runtime helper. ``computed`` names scripts that open files by a computed name.
    """

    scripts: tuple[str, ...]
    opened: tuple[str, ...]
    helper: bool
    computed: tuple[str, ...]


@dataclass(slots=True)
class _Found:
    scripts: set[str] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)
    computed: set[str] = field(default_factory=set)
    helper: bool = False


def follow_imports(root: Path, script: str) -> Closure:
    """Follow them. Raises InputError for an import that is refused or leads nowhere, and an open() that does."""
    waiting, found, read = [script], _Found(), 0
    while waiting:
        name = waiting.pop()
        if name in found.scripts:
            continue
        found.scripts.add(name)
        text = read_inside(root, name, MAX_SCRIPT).decode("utf-8", "replace")
        read += len(text)
        if len(found.scripts) > _MOST or read > _MOST_CHARS:
            raise InputError(f"{printable(script)}: imports more than {_MOST} files or {_MOST_CHARS >> 20} MiB",
                             hint="import less")
        waiting += _imported(root, name, text, found)
        _note_opened(root, script, name, text, found)
    return Closure(tuple(sorted(found.scripts)), tuple(sorted(found.opened)), found.helper,
                   tuple(sorted(found.computed)))


def _imported(root: Path, name: str, text: str, found: _Found) -> Iterator[str]:
    for match in _IMPORT.finditer(text):
        target = match[1]
        what = f"{printable(name)}: imports {printable(target)[:200]}"
        if _REFUSED.match(target) or "://" in target:
            raise InputError(f"{what}, and only ./ and ../ files of the scenario can be imported",
                             hint="put the file into the scenario; a comment counts too")
        if target.startswith("k6/x/"):
            raise InputError(f"{what}, and extensions of k6 are not there", hint="a comment counts too")
        if not target.startswith(("./", "../")):
            continue  # k6's own, such as k6/http
        place = _beside(name, target)
        if place == HELPER:
            found.helper = True
            continue
        own = inside(root, place)
        if own is None:
            raise InputError(f"{what}, which is not a file of the scenario",
                             hint="put the file there, or take the line out; a comment counts too")
        yield own


def _note_opened(root: Path, script: str, name: str, text: str, found: _Found) -> None:
    """k6 opens beside the module that calls, which is the main script where it calls what a module exports."""
    for match in _CODE.finditer(text):
        if match["computed"] is not None:
            found.computed.add(name)
        if match["opened"] is None:
            continue
        target = match["opened"][1:-1]
        places = () if target.startswith("/") or "://" in target else (_beside(name, target), _beside(script, target))
        own = next((own for place in places if (own := inside(root, place)) is not None), None)
        if own is None:
            raise InputError(f"{printable(name)}: opens {printable(target)[:200]}, which is not a file of the scenario",
                             hint="put the file into the scenario's directory, and name it from the script's own")
        found.opened.add(own)


def _beside(name: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
