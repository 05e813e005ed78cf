"""How an image is named so that it cannot change under us."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ID = re.compile(r"sha256:[0-9a-f]{64}")


def is_image_id(text: object) -> bool:
    """Whether ``text`` is a full image ID."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class ImagePin:
    """A recorded image. ``id`` is the config digest; ``manifest`` the manifest digest where one is known:
    a containerd image store names the same image by the latter. ``name`` is for people only.
    """

    id: str
    name: str = ""
    platform: str = ""
    manifest: str = ""
    tools: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedImage:
    """An image that is present on the engine.

    ``env`` is the image's own environment, ``volumes`` the paths it declares as VOLUME.
    ``matched`` says which digest of the pin was met: ``id``, ``manifest``, or ``name`` (chosen by a person).
    """

    id: str
    name: str
    platform: str
    matched: str
    digests: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    size: int = 0
