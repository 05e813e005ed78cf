"""Which image to use: by digest, by our recipe, or by a person's choice. A report's tag decides nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import docker

from runner.errors import ImageUnavailable, UsageError, printable
from runner.images.inputs import load_inputs
from runner.images.lock import read_lock
from runner.images.naming import REPOSITORY
from runner.resources import data_dir
from runner.sandbox.backends.docker.engine import engine_errors
from runner.sandbox.backends.docker.imagestore import EngineImages
from runner.sandbox.image import ImagePin, ResolvedImage, is_image_id

# [host[:port]/]path[:tag][@digest], as engines read it; no part can climb out of a request's path.
_PART = r"[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)*"
_REFERENCE = re.compile(rf"(?:{_PART}(?::[0-9]{{1,5}})?/)?{_PART}(?:/{_PART})*"
                        r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?")
_MAX_REFERENCE = 400


def find_image(api: docker.APIClient, wanted: ImagePin | str, *, platform: str | None = None) -> ResolvedImage:
    """The image of a pin, by either digest, or the one that a person chose by name or ID. ``platform`` is the
    engine's, where it is known already.

    Raises ImageUnavailable when it is missing or of another platform than the engine's, UsageError for a
    name that is none.
    """
    images = EngineImages(api)
    found = _pinned(images, wanted) if isinstance(wanted, ImagePin) else _named(images, wanted)
    _check_platform(api, found, platform)
    return found


def local_image(api: docker.APIClient, name: str, root: Path | None = None, *,
                platform: str | None = None) -> ResolvedImage:
    """Our own image ``name`` as its recipe now stands; of several builds, the one in ``images.lock``.

    Raises ImageUnavailable.
    """
    folder = data_dir("images") if root is None else root
    digest = load_inputs(folder, name).digest
    builds = EngineImages(api).built(name, digest)
    if not builds:
        raise ImageUnavailable(f"the image {name} (recipe {digest[:12]}) is not on this engine",
                               hint=f"runner images build {name}")
    if len(builds) > 1:
        record = read_lock(folder).record(name, builds[0].platform)
        locked = {record.id, record.manifest} if record else set()
        builds = [build for build in builds if build.id in locked]
        if not builds:
            raise ImageUnavailable(f"the engine has several builds of the image {name} "
                                   f"(recipe {digest[:12]}), and none is the one in images.lock",
                                   hint=f"remove the others, or: runner images build {name} --write-lock")
    _check_platform(api, builds[0], platform)
    return builds[0]


def _pinned(images: EngineImages, pin: ImagePin) -> ResolvedImage:
    if not is_image_id(pin.id) or (pin.manifest and not is_image_id(pin.manifest)):
        raise ImageUnavailable("the recorded image has no usable ID", hint="choose one with --docker-image")
    for digest in _names_of(pin):
        found = images.by_digest(digest)
        if found is not None:
            return replace(found, name=found.name or printable(pin.name),
                           matched="id" if digest == pin.id else "manifest")
    raise _missing(images, pin)


def _names_of(pin: ImagePin) -> Iterator[str]:
    """Every digest this image may have; our lock knows both of our own images'."""
    yield pin.id
    if pin.manifest:
        yield pin.manifest
        return
    other = read_lock(data_dir("images")).other_name(pin.id)
    if other is not None:
        yield other


def _missing(images: EngineImages, pin: ImagePin) -> ImageUnavailable:
    name = pin.name if _is_reference(pin.name) else ""
    called = f" ({name})" if name else ""
    here = images.by_name(name) if name else None
    if here is not None:
        return ImageUnavailable(
            f"the recorded image {pin.id}{called} is not on this engine; what has its name is {here.id}",
            hint=f"to replay on that one instead: --docker-image {name}")
    if name.startswith(f"{REPOSITORY}/"):
        own = name.removeprefix(f"{REPOSITORY}/").partition(":")[0]
        hint = f"runner images build {own}"
    elif name:
        exact = f"{name.partition('@')[0]}@{pin.manifest}" if pin.manifest and ":" not in name else name
        hint = f"docker pull {exact}, or choose another with --docker-image"
    else:
        hint = "choose another with --docker-image"
    return ImageUnavailable(f"the recorded image {pin.id}{called} is not on this engine", hint=hint)


def _named(images: EngineImages, name: str) -> ResolvedImage:
    if is_image_id(name):
        found = images.by_digest(name)
    elif _is_reference(name):
        found = images.by_name(name)
    else:
        raise UsageError(f"not an image name: {printable(name)[:120]}",
                         hint="such as python:3.12, or a full image ID")
    if found is None:
        pull = "" if is_image_id(name) else f"docker pull {name}, or "
        raise ImageUnavailable(f"the image {name} is not on this engine, and nothing is pulled for you",
                               hint=f"{pull}`docker image ls` shows what is there")
    return found


def _is_reference(name: str) -> bool:
    return len(name) <= _MAX_REFERENCE and _REFERENCE.fullmatch(name) is not None


def _check_platform(api: docker.APIClient, image: ResolvedImage, known: str | None) -> None:
    engine = known or _platform_of(api)
    if image.platform != engine:
        raise ImageUnavailable(f"the image {image.name or image.id} is for {printable(image.platform)}, "
                               f"the engine runs {engine}",
                               hint="choose an image of the engine's platform with --docker-image")


def _platform_of(api: docker.APIClient) -> str:
    with engine_errors("ask for its version"):
        version = api.version()
    return f"{version.get('Os', '')}/{version.get('Arch', '')}"
