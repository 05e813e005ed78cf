"""One image from its recipe: compile, unpack, normalise, wrap; or take the archive of an earlier build."""

from __future__ import annotations

import hashlib
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.errors import SetupError
from runner.images.archive import ImageConfig, write_archive
from runner.images.cache import cached, keep
from runner.images.inputs import Inputs
from runner.images.layer import normalise
from runner.images.lock import ImageRecord
from runner.images.naming import IMAGE_LABEL, RECIPE_LABEL, host_platform, tag_of
from runner.images.packages import parse_status
from runner.images.process import require_tool
from runner.images.recipe import LABEL_PREFIX
from runner.images.rootfs import CompiledProgram, compile_program, make_rootfs

_STATUS = "./var/lib/dpkg/status"


@dataclass(frozen=True, slots=True)
class Built:
    """A built image: its record, and the archive that an engine loads."""

    name: str
    platform: str
    tag: str
    record: ImageRecord
    archive: Path
    from_cache: bool = False


def obtain(inputs: Inputs, cache: Path, *, use_cache: bool = True) -> Built:
    """The image's archive in ``cache``: an earlier build's, or a new one. Raises SetupError."""
    name, digest, target = inputs.recipe.name, inputs.digest, host_platform()
    architecture = target.partition("/")[2]
    if use_cache and (hit := cached(cache, name, architecture, digest)) is not None:
        return Built(name, target, tag_of(name, digest), hit[0], hit[1], from_cache=True)
    require_tool()  # first: a controller in a container has neither the tool nor a cache that it could write to
    with _building_in(cache) as folder:
        built = build(inputs, folder)
        archive = keep(cache, name, architecture, built.record, built.archive)
    return Built(name, target, built.tag, built.record, archive)


@contextmanager
def _building_in(cache: Path) -> Iterator[Path]:
    try:
        folder = tempfile.TemporaryDirectory(prefix=".building-", dir=cache)
    except OSError as error:
        raise SetupError(f"cannot write to the image cache {cache}: {error.strerror}",
                         hint="set XDG_CACHE_HOME to a folder that can be written") from error
    with folder:
        yield Path(folder.name)


def build(inputs: Inputs, folder: Path) -> Built:
    """Build from scratch into ``folder``. Raises SetupError."""
    require_tool()
    name, digest, target = inputs.recipe.name, inputs.digest, host_platform()
    with _work_dir() as work:
        program = _program(inputs, work)
        raw = make_rootfs(inputs, program.data if program else None, _sub(work, "root"))
        layer = normalise(raw, folder / "layer.tar", inputs.recipe.drop, inputs.recipe.keep)
        packages = parse_status(_status_of(raw))
    try:
        programs = _digests(inputs, program)
        with (folder / "image.tar").open("wb") as out:
            identity = write_archive(out, layer, _config(inputs, digest, programs), tag_of(name, digest))
    finally:
        layer.path.unlink()
    record = ImageRecord(
        recipe=digest, suite=inputs.recipe.suite, id=identity.id, manifest=identity.manifest,
        layer=layer.sha256, size=layer.size, packages=packages, programs=programs,
        toolchain=parse_status(program.status) if program else {})
    return Built(name, target, tag_of(name, digest), record, folder / "image.tar")


def _program(inputs: Inputs, work: Path) -> CompiledProgram | None:
    if inputs.recipe.program is None:
        return None
    return compile_program(inputs, inputs.recipe.program, _sub(work, "program"))


def _digests(inputs: Inputs, program: CompiledProgram | None) -> dict[str, str]:
    if program is None or inputs.recipe.program is None:
        return {}
    return {inputs.recipe.program.label: hashlib.sha256(program.data).hexdigest()}


def _config(inputs: Inputs, digest: str, programs: dict[str, str]) -> ImageConfig:
    recipe = inputs.recipe
    labels = {**recipe.labels, IMAGE_LABEL: recipe.name, RECIPE_LABEL: digest,
              **{LABEL_PREFIX + label: sha256 for label, sha256 in programs.items()}}
    return ImageConfig(architecture=host_platform().partition("/")[2], env=tuple(sorted(recipe.env.items())),
                       user=recipe.user, workdir=recipe.workdir, labels=tuple(sorted(labels.items())))


def _status_of(raw: Path) -> bytes:
    with tarfile.open(raw, mode="r:") as tree:
        try:
            status = tree.extractfile(_STATUS)
        except KeyError:
            status = None
        if status is None:
            raise SetupError("the built tree has no package list")
        return status.read()


@contextmanager
def _work_dir() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="runner-images-") as folder:
        work = Path(folder)
        # mmdebstrap in a user namespace is someone else and must reach its folder.
        work.chmod(0o755)
        yield work


def _sub(work: Path, name: str) -> Path:
    folder = work / name
    folder.mkdir()
    # In a user namespace the chroot's owner is a subordinate uid; sticky, as /tmp is.
    folder.chmod(0o1777)
    return folder
