"""From a description in a file to a scenario in a new directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from runner.errors import InputError, ReportError, UsageError, printable
from runner.scenarios.generate.bundle import Bundle
from runner.scenarios.generate.idempotent import Idempotent, idempotent_write
from runner.scenarios.generate.parts import Description
from runner.scenarios.generate.tenants import Tenants, tenant_isolation
from runner.scenarios.load import load_scenario
from runner.scenarios.model import Scenario
from runner.scenarios.refusals import checked
from runner.sources.jsontext import parse_json, refuse_duplicates

_MAX_DESCRIPTION = 1 << 20


@dataclass(frozen=True, slots=True)
class Generator:
    """A kind of scenario: what a description must be, and what is made of it."""

    model: type[Description]
    make: Callable[[dict[str, Any], Any, str], Bundle]


GENERATORS: Mapping[str, Generator] = MappingProxyType({
    "tenant-isolation": Generator(Tenants, tenant_isolation),
    "idempotent-write": Generator(Idempotent, idempotent_write)})


@dataclass(frozen=True, slots=True)
class Written:
    """A scenario that is there now, as ``load_scenario`` reads it."""

    scenario: Scenario
    warnings: tuple[str, ...]


def generate(kind: str, raw: dict[str, Any], source: str) -> Bundle:
    """What a description comes to; ``source`` is where it was read. Pure. Raises InputError."""
    generator = GENERATORS[kind]
    return generator.make(raw, checked(generator.model, raw, source, f"a description for {kind}"), source)


def write_scenario(kind: str, description: str | os.PathLike[str], out: Path) -> Written:
    """Make the scenario in ``out``, which is a new directory: all of it or nothing.

    Raises InputError for a description that breaks a rule, and UsageError where nothing can be written.
    """
    source = printable(os.fspath(description))
    bundle = generate(kind, _read(description, source), source)
    if os.path.lexists(out):
        raise UsageError(f"--out {printable(str(out))}: exists already", hint="name a new directory")
    try:
        with TemporaryDirectory(prefix=f".{out.name}.", dir=out.absolute().parent) as folder:
            made = Path(folder, "scenario")
            made.mkdir()
            for name, data in bundle.files().items():
                (made / name).write_bytes(data)
            load_scenario(made)  # what it refuses must not be there afterwards
            made.rename(out)
    except OSError as error:
        raise UsageError(f"--out {printable(str(out))}: {error.strerror}", hint="name a place that can be written"
                         ) from None
    return Written(load_scenario(out), bundle.warnings)


def _read(description: str | os.PathLike[str], source: str) -> dict[str, Any]:
    try:
        with open(description, "rb") as file:
            data = file.read(_MAX_DESCRIPTION + 1)
    except OSError as error:
        raise InputError(f"{source}: {error.strerror}", hint="name the description's file with --config") from None
    if len(data) > _MAX_DESCRIPTION:
        raise InputError(f"{source}: is larger than {_MAX_DESCRIPTION >> 20} MiB", hint="name the description's file")
    try:
        document = parse_json(data)
        refuse_duplicates(document)
    except ReportError as error:
        raise InputError(f"{source}: {error.message}", hint=error.hint) from None
    if not isinstance(document.value, dict):
        raise InputError(f"{source}: is no object", hint="a description starts with {")
    return document.value
