"""Built archives, kept so that another engine gets the very same image without another build.

``$XDG_CACHE_HOME/sandbox-runner/images/NAME-ARCH-DIGEST.tar`` and ``.json`` (its record) beside it; the
digest is the recipe's. A damaged entry does no harm: the engine checks the layers, and we check the image ID.

``NAME-ARCH-base-DIGEST.*`` are likewise the lower layers of images that have two: what lies over them changes often,
and is quickly made anew.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from runner.errors import SetupError
from runner.evidence.files import write_atomically
from runner.images.layer import Layer
from runner.images.lock import ImageRecord, LayerRecord

WHEELS = "wheels"
"""The folder of Python packages in it, each called by its SHA-256."""

_KEPT = 2
_BASE = "base"


def cache_dir() -> Path:
    """Where archives are kept; made when missing. Raises SetupError."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    folder = root / "sandbox-runner" / "images"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f"cannot make the image cache {folder}: {error.strerror}",
                         hint="set XDG_CACHE_HOME to a folder that can be written") from error
    return folder


def cached(folder: Path, name: str, architecture: str, digest: str) -> tuple[ImageRecord, Path] | None:
    """The record and archive of an earlier build of this very recipe, if both are there and readable."""
    archive = _archive(folder, name, architecture, digest)
    try:
        record = ImageRecord.model_validate_json(archive.with_suffix(".json").read_bytes())
    except (OSError, ValidationError):
        return None
    return (record, archive) if record.recipe == digest and archive.is_file() else None


def keep(folder: Path, name: str, architecture: str, record: ImageRecord, built: Path) -> Path:
    """Move a finished archive (from the same folder) into the cache; older ones of the image go."""
    archive = _archive(folder, name, architecture, record.recipe)
    built.replace(archive)
    write_atomically(archive.with_suffix(".json"), record.model_dump_json().encode(), mode=0o644)
    _forget(folder, f"{name}-{architecture}", archive, _KEPT - 1)
    return archive


def cached_base(folder: Path, name: str, architecture: str, digest: str) -> tuple[LayerRecord, Layer] | None:
    """The lower layer that an earlier build made from the very same, if it is there and readable."""
    path = _archive(folder, f"{name}-{architecture}", _BASE, digest)
    try:
        record = LayerRecord.model_validate_json(path.with_suffix(".json").read_bytes())
        whole = path.stat().st_size == record.size and record.recipe == digest
    except (OSError, ValidationError):
        return None
    return (record, Layer(path, record.layer, record.size)) if whole else None


def keep_base(folder: Path, name: str, architecture: str, record: LayerRecord, made: Layer) -> Layer:
    """Move a finished lower layer (from the same file system) into the cache; the image's others go."""
    path = _archive(folder, f"{name}-{architecture}", _BASE, record.recipe)
    made.path.replace(path)
    write_atomically(path.with_suffix(".json"), record.model_dump_json().encode(), mode=0o644)
    _forget(folder, f"{name}-{architecture}-{_BASE}", path, 0)
    return Layer(path, made.sha256, made.size)


def _archive(folder: Path, name: str, architecture: str, digest: str) -> Path:
    return folder / f"{name}-{architecture}-{digest}.tar"


def _forget(folder: Path, prefix: str, new: Path, kept: int) -> None:
    others = [path for path in folder.glob(f"{prefix}-{'?' * 64}.tar") if path != new]
    for stale in sorted(others, key=_age)[:max(0, len(others) - kept)]:
        for path in (stale, stale.with_suffix(".json")):
            with suppress(FileNotFoundError):
                path.unlink()


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
