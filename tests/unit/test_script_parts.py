"""The script's source as it is put together: whole, the same every time, and with our imports gone."""

from __future__ import annotations

import ast
import builtins
import symtable

import pytest

from runner.reports.script.bundle import bundle
from runner.reports.script.modules import Module

ENTRIES = ("runner.reports.script.parts.sequence", "runner.reports.script.parts.race")


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_global_name_that_is_used_is_there(entry: str) -> None:
    """Nothing was forgotten: a name that is missing would end the script at the step that needs it."""
    source = bundle(entry)
    top = symtable.symtable(source, entry, "exec")
    known = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    known |= set(dir(builtins)) | {"__name__", "__file__"}
    tables, missing = [top], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        used = [symbol for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()]
        missing |= {symbol.get_name() for symbol in used}
    assert missing - known == set()


@pytest.mark.parametrize("entry", ENTRIES)
def test_none_of_our_modules_is_imported(entry: str) -> None:
    nodes = list(ast.walk(ast.parse(bundle(entry))))
    assert [node.module for node in nodes if isinstance(node, ast.ImportFrom) and "runner" in (node.module or "")] == []
    assert "runner." not in bundle(entry).replace(":mod:`runner.", "")


def test_playwright_is_imported_once_where_its_absence_is_told() -> None:
    tree = ast.parse(bundle(ENTRIES[0]))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    places = [node for node in imports if node.module == "playwright.async_api"]
    guards = [node for node in tree.body if isinstance(node, ast.Try)]
    assert len(places) == len(guards) == 1
    assert places[0] in guards[0].body


def test_a_name_in_two_modules_is_told_apart() -> None:
    """Playwright's Response and the driver's, and private helpers of one name."""
    tree = ast.parse(bundle(ENTRIES[1]))
    imported = [alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
                for alias in node.names]
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    assert "Response" in imported
    assert "Response_outcome" in classes
    helpers = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert {"_path", "_path_noise"} <= set(helpers)


def test_text_is_renamed_where_it_is_a_name_and_nowhere_else() -> None:
    module = Module("x", [], ast.parse(""))
    module.lines = ["def old(other):", '    """Say old."""', '    return "old", other.old, old']
    module.tree = ast.parse("\n".join(module.lines))
    module.chosen = {0}
    assert module.text({"old": "new"}) == 'def new(other):\n    """Say old."""\n    return "old", other.old, new'


def test_an_argument_that_would_hide_a_renamed_name_is_refused() -> None:
    module = Module("x", ["def one(old):", "    return old"], ast.parse("def one(old):\n    return old"))
    module.chosen = {0}
    with pytest.raises(ValueError, match="a parameter is called old"):
        module.text({"old": "new"})


def test_a_module_that_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match=r"no module runner\.nowhere"):
        Module.load("runner.nowhere")


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_import_hides_a_name_of_pythons_own(entry: str) -> None:
    """Modules that import Playwright's TimeoutError under another name would bring it to all others as their own."""
    tree = ast.parse(bundle(entry))
    names = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
             for alias in node.names}
    assert not names & set(dir(builtins))
