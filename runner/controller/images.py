"""Builder and engine together: build and load, show, rebuild and compare."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from runner.errors import ImageUnavailable
from runner.images.build import Built, build, obtain
from runner.images.cache import cache_dir
from runner.images.compare import changes
from runner.images.inputs import load_inputs
from runner.images.lock import ImageRecord, read_lock, write_lock
from runner.images.process import require_tool
from runner.images.recipe import load_recipe, recipe_names
from runner.resources import data_dir
from runner.sandbox.backends.docker.engine import connect
from runner.sandbox.backends.docker.images import local_image
from runner.sandbox.backends.docker.imagestate import ImageState, image_states
from runner.sandbox.backends.docker.imagestore import EngineImages

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BuildReport:
    """One image after a build. ``lock`` says how it stands to images.lock, ``changes`` what is different."""

    name: str
    id: str
    platform: str
    tag: str
    archive: str
    from_cache: bool
    lock: str
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One image rebuilt. ``engine`` and ``lock`` are ``same``, ``different`` or ``missing``."""

    name: str
    id: str
    engine: str
    lock: str
    changes: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether rebuild, engine and lock are one image."""
        return self.engine == self.lock == "same"


def build_images(names: Sequence[str], *, use_cache: bool, lock_it: bool, say: Say,
                 root: Path | None = None) -> Iterator[BuildReport]:
    """Build or take from the cache, load, tag; with ``lock_it`` record each in the lock. ``names`` empty: all.

    Raises UsageError, InputError, SetupError, EngineUnavailable.
    """
    folder, chosen = _choose(root, names)
    cache = cache_dir()
    with closing(connect()) as api:
        images = EngineImages(api)
        for name in chosen:
            inputs = load_inputs(folder, name)
            say(f"{name}: recipe {inputs.digest[:12]}")
            started = time.monotonic()
            built = obtain(inputs, cache, use_cache=use_cache)
            _bring(images, built)
            say(f"{name}: ready after {time.monotonic() - started:.1f} s")
            # Read again each time: somebody else may have locked another image meanwhile.
            lock = read_lock(folder)
            report = _report(built, lock.record(name, built.platform))
            if lock_it:
                write_lock(folder, lock.with_record(name, built.platform, built.record))
            yield report


def verify_images(names: Sequence[str], *, say: Say, root: Path | None = None) -> Iterator[Check]:
    """Rebuild without the cache and compare with the engine's image and the lock. ``names`` empty: all.

    Raises UsageError, InputError, SetupError (cannot build), EngineUnavailable.
    """
    folder, chosen = _choose(root, names)
    require_tool()
    with closing(connect()) as api:
        for name in chosen:
            inputs = load_inputs(folder, name)
            say(f"{name}: rebuilding recipe {inputs.digest[:12]}")
            with tempfile.TemporaryDirectory(prefix="runner-images-") as scratch:
                built = build(inputs, Path(scratch))
            try:
                engine = _compared(local_image(api, name, folder).id, built.record)
            except ImageUnavailable:
                engine = "missing"
            locked = read_lock(folder).record(name, built.platform)
            yield Check(name, built.record.id, engine,
                        lock="missing" if locked is None else _compared(locked.id, built.record),
                        changes=() if locked is None else changes(locked, built.record))


def show_images(root: Path | None = None) -> tuple[ImageState, ...]:
    """Where each image stands on the engine. Raises EngineUnavailable."""
    with closing(connect()) as api:
        return image_states(api, data_dir("images") if root is None else root)


def _choose(root: Path | None, names: Sequence[str]) -> tuple[Path, tuple[str, ...]]:
    folder = data_dir("images") if root is None else root
    chosen = tuple(dict.fromkeys(names)) or recipe_names(folder)
    for name in chosen:
        load_recipe(folder, name)
    return folder, chosen


def _bring(images: EngineImages, built: Built) -> None:
    present = images.present(built.record)
    if present is None:
        with built.archive.open("rb") as archive:
            present = images.load(archive, built.record)
    images.tag(present.id, built.tag)


def _report(built: Built, locked: ImageRecord | None) -> BuildReport:
    record = built.record
    if locked is None:
        lock = "not in images.lock"
    else:
        lock = "as in images.lock" if locked.id == record.id else "not the image of images.lock"
    return BuildReport(name=built.name, id=record.id, platform=built.platform, tag=built.tag,
                       archive=str(built.archive), from_cache=built.from_cache, lock=lock,
                       changes=() if locked is None else changes(locked, record))


def _compared(identity: str, record: ImageRecord) -> str:
    return "same" if identity in (record.id, record.manifest) else "different"
