"""Every byte that goes into an image besides the packages, read once; the recipe digest covers just these."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from runner.errors import InputError, printable
from runner.images.recipe import AddedFile, Recipe, load_recipe

EPOCH = 1_700_000_000
"""The one time stamp of everything in our images, seconds."""

CREATED = "2023-11-14T22:13:20Z"
"""``EPOCH`` as an image configuration writes it."""

BUILDER = "1"
"""Part of every digest: raise it when this package turns the same inputs into other bytes."""

_LATER_FIELDS = frozenset({"wheels"})
_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file to add to the image."""

    path: str
    mode: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Inputs:
    """A recipe and its files, as they were when they were read. ``scripts`` and ``sources`` are by path.

    ``top_files`` and ``top_scripts`` are those of its upper layer, if it has one.
    """

    recipe: Recipe
    files: tuple[InputFile, ...]
    scripts: dict[str, bytes]
    sources: dict[str, bytes]
    top_files: tuple[InputFile, ...] = ()
    top_scripts: dict[str, bytes] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The recipe digest: SHA-256, hex, of the canonical JSON of recipe, builder and files' digests."""
        if self.recipe.top is None:
            return self.base_digest
        above = {"files": _told(self.top_files), "scripts": _each_sha256(self.top_scripts)}
        return _of_json({"base": self.base_digest, "top": {**self.recipe.top.model_dump(mode="json"), **above}})

    @property
    def base_digest(self) -> str:
        """Likewise, of all that the lower layer, or the only one, is made from."""
        return _of_json({
            "builder": BUILDER,
            "epoch": EPOCH,
            "recipe": _meaning(self.recipe),
            "files": _told(self.files),
            "scripts": _each_sha256(self.scripts),
            "sources": _each_sha256(self.sources),
        })


def load_inputs(root: Path, name: str) -> Inputs:
    """Recipe and files of image ``name``; ``root`` is the images folder. Raises UsageError or InputError."""
    return gather(load_recipe(root, name), root)


def gather(recipe: Recipe, root: Path, package: Path = _PACKAGE) -> Inputs:
    """Read all inputs of a recipe: ``root`` is the images folder. Raises InputError for a missing file."""
    program, top = recipe.program, recipe.top
    sources = [path for pattern in (program.sources if program else ()) for path in _matches(root, pattern)]
    return Inputs(
        recipe, _all_added(recipe.files, recipe.name, root, package),
        _scripts({*recipe.finish, *((program.script,) if program else ())}, root),
        {path.name: _read(path) for path in sorted(sources)},
        _all_added(top.files if top else (), recipe.name, root, package),
        _scripts(set(top.finish if top else ()), root))


def _all_added(several: Iterable[AddedFile], name: str, root: Path, package: Path) -> tuple[InputFile, ...]:
    files: dict[str, InputFile] = {}
    for added in several:
        for file in _added(added, root, package):
            if file.path in files:
                raise InputError(f"images/{name}: two files go to {file.path}")
            files[file.path] = file
    return tuple(files[path] for path in sorted(files))


def _scripts(paths: set[str], root: Path) -> dict[str, bytes]:
    return {path: _read(root / path) for path in sorted(paths)}


def _added(added: AddedFile, root: Path, package: Path) -> list[InputFile]:
    base, pattern = (root, added.images) if added.images is not None else (package, added.runner or "")
    found = _matches(base, pattern)
    if not added.to.endswith("/") and len(found) > 1:
        raise InputError(f"{pattern}: several files cannot all go to {added.to}")
    return [InputFile(added.to + path.name if added.to.endswith("/") else added.to, added.mode, _read(path))
            for path in found]


def _matches(base: Path, pattern: str) -> list[Path]:
    """Each start of a replay asks for its images' digests, so no file is looked at more often than it must be."""
    place = base / pattern
    if "*" not in pattern:
        return [place]
    found: list[Path] = []
    with suppress(FileNotFoundError), os.scandir(place.parent) as entries:
        found = [place.parent / entry.name for entry in entries
                 if fnmatchcase(entry.name, place.name) and not entry.is_dir(follow_symlinks=False)]
    if not found:
        raise _nothing(base, pattern)
    return sorted(found)


def _nothing(base: Path, pattern: str) -> InputError:
    return InputError(f"nothing matches {printable(pattern)[:120]} below {base.name}/",
                      hint="the installation is incomplete; install it again")


def _read(path: Path) -> bytes:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb", buffering=0) as file:
            return file.readall()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InputError(f"{printable(path.name)[:80]} is a symbolic link; recipes take regular files only"
                             ) from None
        raise InputError(f"cannot read {printable(str(path))[:200]}: {error.strerror}",
                         hint="the installation is incomplete; install it again") from error


def _meaning(recipe: Recipe) -> dict[str, object]:
    """A field that recipes did not always have counts only where it is used: the other images stay what they are."""
    meaning = recipe.model_dump(mode="json", exclude={"top"})
    return {name: value for name, value in meaning.items() if name not in _LATER_FIELDS or value}


def _told(files: Iterable[InputFile]) -> list[list[str | int]]:
    return [[file.path, file.mode, _sha256(file.data)] for file in files]


def _each_sha256(several: dict[str, bytes]) -> dict[str, str]:
    return {path: _sha256(data) for path, data in several.items()}


def _of_json(document: dict[str, object]) -> str:
    return _sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode())


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
