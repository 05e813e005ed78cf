"""``images/images.lock``: what each image was when it was last looked at and found good.

JSON, sorted: schema ``runner.images-lock/1``, then by image name and platform one :class:`ImageRecord`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runner.errors import InputError, printable
from runner.evidence.files import write_atomically

LOCK = "images.lock"
_MAX_LOCK = 4 << 20

ImageId = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class LayerRecord(BaseModel):
    """One build of the layer that has an image's packages.

    ``recipe`` is the digest of what it was made from, ``layer`` its SHA-256, ``size`` its bytes. ``programs`` are
    digests of what was compiled, by label name, ``toolchain`` the packages of the chroot that compiled it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    recipe: Sha256
    suite: str
    layer: Sha256
    size: Annotated[int, Field(ge=0)]
    packages: dict[str, str]
    programs: dict[str, Sha256] = {}
    toolchain: dict[str, str] = {}


class ImageRecord(LayerRecord):
    """One build of one image: the layer with its packages, and the image around it.

    ``id`` is the config digest, ``manifest`` the manifest digest (the ID on a containerd image store), ``recipe`` the
    recipe digest, ``top`` the SHA-256 of the layer over the first, if there is one, ``size`` the bytes of both.
    """

    id: ImageId
    manifest: ImageId
    top: Sha256 | None = None


class ImagesLock(BaseModel):
    """The whole file: records by image name, then by platform (``linux/amd64``)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_: Literal["runner.images-lock/1"] = Field(default="runner.images-lock/1", alias="schema")
    images: dict[str, dict[str, ImageRecord]] = {}

    def record(self, name: str, platform: str) -> ImageRecord | None:
        """What is locked for this image on this platform, if anything."""
        return self.images.get(name, {}).get(platform)

    def with_record(self, name: str, platform: str, record: ImageRecord) -> ImagesLock:
        """A lock in which this record replaces any earlier one."""
        platforms = {**self.images.get(name, {}), platform: record}
        return self.model_copy(update={"images": {**self.images, name: platforms}})

    def other_name(self, digest: str) -> str | None:
        """The manifest digest of an image named by its config digest, or the other way round."""
        record = self.by_digest(digest)
        if record is None:
            return None
        return record.manifest if digest == record.id else record.id

    def by_digest(self, digest: str) -> ImageRecord | None:
        """The build that has this config or manifest digest."""
        records = (record for platforms in self.images.values() for record in platforms.values())
        return next((record for record in records if digest in (record.id, record.manifest)), None)


def parse_lock(raw: bytes, where: str) -> ImagesLock:
    """Raises InputError naming ``where`` and the first thing wrong."""
    if len(raw) > _MAX_LOCK:
        raise InputError(f"{where}: larger than {_MAX_LOCK} bytes")
    try:
        return ImagesLock.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "lock"
        raise InputError(f"{where}: {printable(place)[:120]}: {printable(first['msg'])[:200]}",
                         hint="`runner images build --write-lock` writes it anew") from error


def read_lock(root: Path) -> ImagesLock:
    """The lock beside the recipes; empty when there is none. Raises InputError."""
    try:
        raw = (root / LOCK).read_bytes()
    except FileNotFoundError:
        return ImagesLock()
    except OSError as error:
        raise InputError(f"cannot read images/{LOCK}: {error.strerror}") from error
    return parse_lock(raw, f"images/{LOCK}")


def write_lock(root: Path, lock: ImagesLock) -> None:
    """Replace the lock, whole or not at all. Raises UsageError or SetupError when it cannot be written."""
    text = json.dumps(lock.model_dump(mode="json", by_alias=True, exclude_none=True), indent=1, sort_keys=True) + "\n"
    write_atomically(root / LOCK, text.encode(), mode=0o644)
