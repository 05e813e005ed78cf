"""The layer that has an image's packages: compiled, unpacked, normalised; or that of an earlier build."""

from __future__ import annotations

import hashlib
import tarfile
from dataclasses import dataclass
from pathlib import Path

from runner.errors import SetupError
from runner.images.cache import WHEELS, cached_base, keep_base
from runner.images.inputs import Inputs
from runner.images.layer import Layer, normalise
from runner.images.lock import LayerRecord
from runner.images.naming import host_architecture
from runner.images.packages import parse_status
from runner.images.rootfs import CompiledProgram, compile_program, make_rootfs
from runner.images.wheels import fetch_wheels, unpack_wheels
from runner.images.workplace import room

_STATUS = "./var/lib/dpkg/status"


@dataclass(frozen=True, slots=True)
class Base:
    """The layer and its record. One that is ``shared`` belongs to the cache and stays there."""

    record: LayerRecord
    layer: Layer
    shared: bool = False


def obtain_base(inputs: Inputs, folder: Path, work: Path, cache: Path | None) -> Base:
    """Make the layer in ``folder``; where another layer lies over it, ``cache`` keeps it. Raises SetupError."""
    name, architecture = inputs.recipe.name, host_architecture()
    if cache is None or inputs.recipe.top is None:
        return _make(inputs, folder, work, cache)
    hit = cached_base(cache, name, architecture, inputs.base_digest)
    if hit is not None:
        return Base(*hit, shared=True)
    made = _make(inputs, folder, work, cache)
    return Base(made.record, keep_base(cache, name, architecture, made.record, made.layer), shared=True)


def _make(inputs: Inputs, folder: Path, work: Path, cache: Path | None) -> Base:
    recipe = inputs.recipe
    program = compile_program(inputs, recipe.program, room(work, "program")) if recipe.program else None
    wheels = _unpacked_wheels(inputs, work, (cache or work) / WHEELS)
    raw = make_rootfs(inputs, program.data if program else None, wheels, room(work, "root"))
    layer = normalise(raw, folder / "layer.tar", recipe.drop, recipe.keep)
    packages = parse_status(_status_of(raw))
    raw.unlink()
    record = LayerRecord(
        recipe=inputs.base_digest, suite=recipe.suite, layer=layer.sha256, size=layer.size, packages=packages,
        programs=_digests(inputs, program), toolchain=parse_status(program.status) if program else {})
    return Base(record, layer)


def _unpacked_wheels(inputs: Inputs, work: Path, store: Path) -> Path | None:
    wheels = inputs.recipe.wheels
    if wheels is None:
        return None
    tree = work / "wheels.tar"
    unpack_wheels(wheels, fetch_wheels(wheels, host_architecture(), store), tree)
    return tree


def _digests(inputs: Inputs, program: CompiledProgram | None) -> dict[str, str]:
    if program is None or inputs.recipe.program is None:
        return {}
    return {inputs.recipe.program.label: hashlib.sha256(program.data).hexdigest()}


def _status_of(raw: Path) -> bytes:
    with tarfile.open(raw, mode="r:") as tree:
        try:
            status = tree.extractfile(_STATUS)
        except KeyError:
            status = None
        if status is None:
            raise SetupError("the built tree has no package list")
        return status.read()
