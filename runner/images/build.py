"""One image from its recipe: lower layer, upper layer if it has one, wrap; or take the archive of an earlier build."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.errors import SetupError
from runner.images.archive import ImageConfig, write_archive
from runner.images.base import obtain_base
from runner.images.cache import cached, keep
from runner.images.inputs import Inputs
from runner.images.layer import Layer, normalise
from runner.images.lock import ImageRecord
from runner.images.naming import IMAGE_LABEL, LAYERS_LABEL, RECIPE_LABEL, host_architecture, host_platform, tag_of
from runner.images.process import require_tool
from runner.images.recipe import LABEL_PREFIX
from runner.images.rootfs import make_top
from runner.images.workplace import room, workplace


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
    name, digest, target, architecture = inputs.recipe.name, inputs.digest, host_platform(), host_architecture()
    if use_cache and (hit := cached(cache, name, architecture, digest)) is not None:
        return Built(name, target, tag_of(name, digest), hit[0], hit[1], from_cache=True)
    require_tool()  # first: a controller in a container has neither the tool nor a cache that it could write to
    with _building_in(cache) as folder:
        built = build(inputs, folder, cache if use_cache else None)
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


def build(inputs: Inputs, folder: Path, cache: Path | None = None) -> Built:
    """Build into ``folder``: from scratch or, with a ``cache``, from what it has of an earlier build.

    Raises SetupError.
    """
    require_tool()
    with workplace() as work:
        base = obtain_base(inputs, folder, work, cache)
        layers = [base.layer, *_top(inputs, base.layer, folder, work)]
    name, digest, target = inputs.recipe.name, inputs.digest, host_platform()
    try:
        with (folder / "image.tar").open("wb") as out:
            identity = write_archive(out, layers, _config(inputs, base.record.programs), tag_of(name, digest))
    finally:
        for layer in layers[1:] if base.shared else layers:
            layer.path.unlink()
    record = ImageRecord(**{
        **base.record.model_dump(), "recipe": digest, "id": identity.id, "manifest": identity.manifest,
        "top": layers[1].sha256 if layers[1:] else None, "size": sum(layer.size for layer in layers)})
    return Built(name, target, tag_of(name, digest), record, folder / "image.tar")


def _top(inputs: Inputs, base: Layer, folder: Path, work: Path) -> list[Layer]:
    top = inputs.recipe.top
    if top is None:
        return []
    needed = normalise(base.path, work / "needed.tar", drop=["*"], keep=top.needs)
    raw = make_top(inputs, top, needed.path, room(work, "top"))
    return [normalise(raw, folder / "top.tar", drop=["*"], keep=[f"{top.folder.lstrip('/')}/*"])]


def _config(inputs: Inputs, programs: dict[str, str]) -> ImageConfig:
    recipe = inputs.recipe
    labels = {**recipe.labels, IMAGE_LABEL: recipe.name, RECIPE_LABEL: inputs.digest,
              **({LAYERS_LABEL: "2"} if recipe.top else {}),
              **{LABEL_PREFIX + label: sha256 for label, sha256 in programs.items()}}
    return ImageConfig(architecture=host_architecture(), env=tuple(sorted(recipe.env.items())),
                       user=recipe.user, workdir=recipe.workdir, labels=tuple(sorted(labels.items())))
