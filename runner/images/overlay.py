"""What a recipe adds to the packages, as one tar that mmdebstrap unpacks over them."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Iterator

from runner.images.inputs import EPOCH, InputFile, Inputs

_EXECUTABLE = 0o555


def overlay_tar(inputs: Inputs, program: bytes | None) -> bytes:
    """Folders, files, the compiled program and links, in this order, all owned by root unless told."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for directory in inputs.recipe.directories:
            entry = _entry(directory.path, tarfile.DIRTYPE, directory.mode)
            entry.uid = entry.gid = directory.owner
            tar.addfile(entry)
        _add_files(tar, _files(inputs, program))
        for path, target in sorted(inputs.recipe.links.items()):
            entry = _entry(path, tarfile.SYMTYPE, 0o777)
            entry.linkname = target
            tar.addfile(entry)
    return buffer.getvalue()


def files_tar(files: Iterable[InputFile]) -> bytes:
    """Files alone, owned by root."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        _add_files(tar, files)
    return buffer.getvalue()


def _add_files(tar: tarfile.TarFile, files: Iterable[InputFile]) -> None:
    for file in files:
        entry = _entry(file.path, tarfile.REGTYPE, file.mode)
        entry.size = len(file.data)
        tar.addfile(entry, io.BytesIO(file.data))


def _files(inputs: Inputs, program: bytes | None) -> Iterator[InputFile]:
    yield from inputs.files
    if program is not None and inputs.recipe.program is not None:
        yield InputFile(inputs.recipe.program.to, _EXECUTABLE, program)


def _entry(path: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path.lstrip("/"))
    entry.type, entry.mode, entry.mtime = kind, mode, EPOCH
    return entry
