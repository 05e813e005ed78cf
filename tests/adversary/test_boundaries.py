"""The table of differences is true to the tests and to the documentation: nothing in it is left over."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from boundaries import GVISOR

HERE = Path(__file__).parent
DOCUMENT = (HERE.parents[1] / "docs" / "threat-model.md").read_text()
SECTION = DOCUMENT.partition("\n## Inside gVisor\n")[2].partition("\n## ")[0]
ROWS = {line.split("|")[1].strip().strip("*") for line in SECTION.splitlines() if line.startswith("| ")}


def functions() -> dict[str, set[str]]:
    """Tests by name, with the labels that they look up; those that look nothing up are left out."""
    found: dict[str, set[str]] = {}
    for path in HERE.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                labels = {str(ast.literal_eval(call.args[1])) if len(call.args) > 1 else ""
                          for call in ast.walk(node) if isinstance(call, ast.Call)
                          and isinstance(call.func, ast.Name) and call.func.id == "here"}
                if labels:
                    found[node.name] = labels
    return found


def looked_up(key: str) -> tuple[str, str]:
    """The test and the label of a key."""
    name, _, label = key.partition("]")[2].partition(":") if "[" in key else key.partition(":")
    return key.partition("[")[0] if "[" in key else name, label


@pytest.mark.parametrize("key", GVISOR)
def test_each_difference_is_looked_up_and_documented(key: str) -> None:
    name, label = looked_up(key)
    assert label in functions().get(name, set())
    assert GVISOR[key].row in ROWS


def test_whoever_looks_something_up_finds_it() -> None:
    wanted = {(name, label) for name, labels in functions().items() for label in labels}
    assert wanted == {looked_up(key) for key in GVISOR}


def test_every_documented_row_has_a_test() -> None:
    assert {other.row for other in GVISOR.values()} | {"Row"} >= ROWS
