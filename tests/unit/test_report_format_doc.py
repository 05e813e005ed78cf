"""docs/report-format.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from runner.sources.jsontext import MAX_CONTAINERS, MAX_DEPTH, MAX_NUMBER_CHARS, parse_json
from runner.sources.load import parse_case
from runner.sources.native import CommandReport, dump_native, parse_native
from runner.sources.native.oracle import JavaPart, ProcessPart, PythonPart
from runner.sources.reading import MAX_REPORT_BYTES
from runner.sources.repomin.case import MAX_COMMAND_BYTES

DOC = (Path(__file__).parents[2] / "docs" / "report-format.md").read_text(encoding="utf-8")


def example() -> bytes:
    found = re.search(r"```json\n(.*?)```", DOC, re.DOTALL)
    assert found is not None
    return found[1].encode()


def fields(model: type[BaseModel]) -> set[str]:
    """Every JSON key of a model and of the objects in it."""
    names: set[str] = set()
    for name, info in model.model_fields.items():
        names.add(info.alias or name)
        for part in (info.annotation, *get_args(info.annotation)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                names |= fields(part)
    return names


def test_the_example_is_a_report_in_canonical_form() -> None:
    assert parse_case(example(), path="example.json").workload.shell == "sh reproduce.sh"
    assert dump_native(parse_native(parse_json(example()).value)) == example()


@pytest.mark.parametrize("model", [CommandReport, JavaPart, PythonPart, ProcessPart])
def test_every_field_is_described(model: type[BaseModel]) -> None:
    described = {word for span in re.findall(r"`([^`\n]+)`", DOC) for word in re.split(r"\W+", span)}
    assert fields(model) - described == set()


def test_the_bounds_are_the_ones_in_the_code() -> None:
    for text in (f"{MAX_REPORT_BYTES >> 20} MiB", f"{MAX_DEPTH} levels", f"{MAX_CONTAINERS:,} objects",
                 f"{MAX_NUMBER_CHARS:,} digits", f"{MAX_COMMAND_BYTES:,} bytes"):
        assert text in DOC.replace("\n  ", " ")
