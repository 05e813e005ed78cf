"""Where each of our images stands on an engine, measured against its recipe and the lock."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import docker

from runner.images.inputs import load_inputs
from runner.images.lock import read_lock
from runner.images.naming import RECIPE_LABEL, host_platform, tag_of
from runner.images.recipe import recipe_names
from runner.sandbox.backends.docker.imagestore import EngineImages

State = Literal["present", "missing", "different"]


@dataclass(frozen=True, slots=True)
class ImageState:
    """One of our images. ``id`` and ``size`` (bytes) are of what is on the engine, empty and 0 when missing.

    ``present``: built from the recipe as it stands, and the image that ``images.lock`` names, if it names one
    for this platform. ``different``: built from that recipe, but not the locked image. ``locked`` is its ID.
    """

    name: str
    state: State
    tag: str
    recipe: str
    id: str = ""
    size: int = 0
    locked: str = ""
    note: str = ""


def image_states(api: docker.APIClient, root: Path) -> tuple[ImageState, ...]:
    """The state of every image that has a recipe below ``root``."""
    return tuple(_state(EngineImages(api), root, name) for name in recipe_names(root))


def _state(images: EngineImages, root: Path, name: str) -> ImageState:
    digest = load_inputs(root, name).digest
    record = read_lock(root).record(name, host_platform())
    known = {record.id, record.manifest} if record else set()
    locked, tag = record.id if record else "", tag_of(name, digest)
    builds = images.built(name)
    current = [build for build in builds if dict(build.labels).get(RECIPE_LABEL) == digest]
    if not current:
        note = "built from another recipe" if builds else ""
        return ImageState(name, "missing", tag, digest, locked=locked, note=note)
    state: State
    best = next((build for build in current if build.id in known), current[0])
    if record is None:
        state, note = "present", "not in images.lock"
    elif best.id in known:
        state, note = "present", ""
    else:
        state = "different"
        note = "images.lock has another recipe" if record.recipe != digest else "images.lock has another build"
    return ImageState(name, state, tag, digest, best.id, best.size, locked, note)
