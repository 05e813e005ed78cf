"""An image's recipe: ``images/NAME/recipe.yaml``, checked field by field."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from runner.errors import InputError, UsageError, printable
from runner.sandbox.policy_yaml import LOADER

RECIPE = "recipe.yaml"
LABEL_PREFIX = "io.sandbox-runner."
_MAX_RECIPE = 64 * 1024


def _inside(path: str) -> str:
    """A relative path that stays where it is looked up."""
    if path.startswith("/") or "\0" in path or posixpath.normpath(path) != path or path[:3] in ("..", "../"):
        raise ValueError("must be a plain relative path")
    return path


def _absolute(path: str) -> str:
    """A place in the image."""
    if not re.fullmatch(r"/[\w./+-]*[\w.+-]", path) or posixpath.normpath(path) != path:
        raise ValueError("must be a plain absolute path")
    return path


def _octal(mode: object) -> object:
    if isinstance(mode, str) and re.fullmatch(r"[01]?[0-7]{3}", mode):
        return int(mode, 8)
    raise ValueError("must be a quoted octal mode without setuid or setgid, such as '0644'")


Relative = Annotated[str, AfterValidator(_inside)]
Absolute = Annotated[str, AfterValidator(_absolute)]
Package = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+$")]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AddedFile(_Strict):
    """Files to add: ``images`` (below the images folder) or ``runner`` (below the package). Last parts may be globs.

    ``to`` is the file's path in the image or, ending in ``/``, the folder it goes into.
    """

    images: Relative | None = None
    runner: Relative | None = None
    to: str
    mode: int = 0o644

    _mode = field_validator("mode", mode="before")(_octal)

    @field_validator("to")
    @classmethod
    def _place(cls, to: str) -> str:
        return _absolute(to.removesuffix("/")) + ("/" if to.endswith("/") else "")

    @model_validator(mode="after")
    def _one_source(self) -> AddedFile:
        if (self.images is None) == (self.runner is None):
            raise ValueError("give either images or runner")
        return self


class AddedDirectory(_Strict):
    """A folder to add, with numeric owner and group."""

    path: Absolute
    mode: int = 0o755
    owner: int = Field(default=0, ge=0, lt=65534)

    _mode = field_validator("mode", mode="before")(_octal)


class Program(_Strict):
    """A program compiled in a chroot of its own, so that the host's compiler has no say.

    ``script`` gets the chroot as its argument; the sources are in its ``/build``, and there it leaves
    ``program``, owned by root and mode 0555 in the image.
    The program's SHA-256 becomes the image label ``io.sandbox-runner.LABEL``.
    """

    packages: tuple[Package, ...] = Field(min_length=1)
    sources: tuple[Relative, ...] = Field(min_length=1)
    script: Relative
    to: Absolute
    label: Name


class Wheel(_Strict):
    """One Python package, pinned by version and by its wheel's SHA-256: of each architecture, or ``any`` for all."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,60}$")]
    version: Annotated[str, Field(pattern=r"^[0-9][A-Za-z0-9.+!]{0,40}$")]
    sha256: dict[Literal["any", "amd64", "arm64"], Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]] = Field(
        min_length=1)


class Wheels(_Strict):
    """Python packages that the distribution does not have, unpacked into the folder ``to`` of the image.

    ``python`` is the version of the suite's own. Nothing of a wheel runs while it is unpacked.
    """

    python: Annotated[str, Field(pattern=r"^3\.[0-9]{1,2}$")]
    to: Absolute
    packages: tuple[Wheel, ...] = Field(min_length=1)


class Top(_Strict):
    """What changes more often than all the rest, in a layer of its own over it: everything below ``folder``.

    It is made from ``files`` by the ``finish`` scripts, in a chroot that has what they need of the lower layer:
    ``needs`` are patterns, in which ``*`` matches ``/`` too.
    """

    folder: Absolute
    needs: tuple[Relative, ...] = Field(min_length=1)
    files: tuple[AddedFile, ...] = Field(min_length=1)
    finish: tuple[Relative, ...] = ()

    @model_validator(mode="after")
    def _below(self) -> Top:
        if any(not file.to.startswith(f"{self.folder}/") for file in self.files):
            raise ValueError(f"files must go below {self.folder}")
        return self


class Recipe(_Strict):
    """Everything that decides what an image is. Script paths are below the images folder.

    ``finish`` scripts run, with the root's path, after packages and ``files`` are in place. ``drop`` and
    ``keep`` are patterns in which ``*`` matches ``/`` too; ``keep`` wins.
    """

    name: Name
    suite: Annotated[str, Field(pattern=r"^[a-z]{2,20}$")]
    variant: Literal["extract"]
    packages: tuple[Package, ...] = Field(min_length=1)
    finish: tuple[Relative, ...] = ()
    files: tuple[AddedFile, ...] = ()
    directories: tuple[AddedDirectory, ...] = ()
    links: dict[Absolute, str] = {}
    program: Program | None = None
    wheels: Wheels | None = None
    top: Top | None = None
    drop: tuple[Relative, ...] = ()
    keep: tuple[Relative, ...] = ()
    env: dict[Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]*$")], str]
    user: Annotated[str, Field(pattern=r"^[1-9][0-9]{0,8}:[1-9][0-9]{0,8}$")]
    workdir: Absolute | Literal["/"]
    labels: dict[str, str] = {}

    @field_validator("labels")
    @classmethod
    def _not_ours(cls, labels: dict[str, str]) -> dict[str, str]:
        if any(label.startswith(LABEL_PREFIX) for label in labels):
            raise ValueError(f"labels under {LABEL_PREFIX} are set by the builder")
        return labels


def recipe_names(root: Path) -> tuple[str, ...]:
    """Names of all images that have a recipe below ``root``."""
    return tuple(sorted(path.parent.name for path in root.glob(f"*/{RECIPE}")))


def load_recipe(root: Path, name: str) -> Recipe:
    """Raises UsageError for a name without a recipe, InputError for a recipe that is not one."""
    known = recipe_names(root)
    if name not in known:
        raise UsageError(f"no image is called {printable(name)[:80]}", hint=f"there are: {', '.join(known)}")
    where = f"images/{name}/{RECIPE}"
    recipe = parse_recipe((root / name / RECIPE).read_bytes(), where)
    if recipe.name != name:
        raise InputError(f"{where}: name is {recipe.name}, but the folder is {name}")
    return recipe


def parse_recipe(raw: bytes, where: str) -> Recipe:
    """Raises InputError naming ``where`` and the first thing wrong."""
    if len(raw) > _MAX_RECIPE:
        raise InputError(f"{where}: larger than {_MAX_RECIPE} bytes")
    try:
        document: Any = yaml.load(raw, LOADER)  # noqa: S506 - a safe one
        return Recipe.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "recipe"
        raise InputError(f"{where}: {printable(place)[:80]}: {printable(first['msg'])[:200]}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(f"{where}: not readable YAML: {printable(str(error))[:200]}") from error
