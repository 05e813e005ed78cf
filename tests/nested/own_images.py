"""Images that only these tests need, from recipes as the project's own: built once, kept in the user's cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docker

from runner.images.build import obtain
from runner.images.cache import cache_dir
from runner.images.inputs import load_inputs
from runner.sandbox.backends.docker.imagestore import EngineImages

_RECIPES = Path(__file__).parent / "images"


@contextmanager
def loaded(api: docker.APIClient, name: str) -> Iterator[str]:
    """The ID of the image ``name`` on that engine, for as long as it is needed."""
    folder = cache_dir().parent / "test-images"
    folder.mkdir(exist_ok=True)
    built = obtain(load_inputs(_RECIPES, name), folder)
    images = EngineImages(api)
    with built.archive.open("rb") as archive:
        image = images.load(archive, built.record).id
    try:
        yield image
    finally:
        images.remove(built.tag)
