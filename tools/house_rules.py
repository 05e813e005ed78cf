"""The house rules that a script can check. Prints each breach as ``file:line: rule`` and exits 1 if any.

Rules: import direction between rooms; the docker SDK only in its backend; no calls that hand bytes or control
to the engine behind our back; no shell; no unpacking of archives; no ``__del__``; no import inside a function
without a stated reason; no function that does nothing without saying so; no mutable state at module level; no bare
``except``; no re-runs and no skips in tests; file and function sizes; top-level entries.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILE, MAX_MEDIAN, MAX_FUNCTION = 350, 120, 40
FORBIDDEN_ATTRIBUTES = {"exec_run", "exec_create", "exec_start", "put_archive", "get_archive", "extractall"}
FORBIDDEN_KEYWORDS = {"auto_remove", "binds"}
FORBIDDEN_TEXT = ("containers.run(",)
TEST_FORBIDDEN = {"skip", "skipif", "flaky", "importorskip", "xfail"}
MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)

LAYERS = (
    ("runner.errors", "runner.resources", "runner.evidence.files"),
    ("runner.payload", "runner.browser", "runner.load", "runner.scrub", "runner.sources.jsontext",
     "runner.sources.reading", "runner.sources.wording"),
    ("runner.sandbox", "runner.evidence.observation", "runner.evidence.leftovers", "runner.workloads", "runner.driver",
     "runner.incidents", "runner.load_driver", "runner.scenarios"),
    ("runner.sandbox.backends", "runner.images"),
    ("runner.oracles",),
    ("runner.case",),
    ("runner.sources",),
    ("runner.bundle", "runner.evidence"),
    ("runner.controller", "runner.reports"),
    ("runner.cli", "runner.__main__", "runner.api"),
)
"""From the bottom up: a module may import its own layer and those below."""

PLAYS_BROWSERS = ("runner.driver", "runner.reports.script.parts")
"""Who imports playwright, and is itself imported by nobody else: the driver runs in its container; the parts of
``repro_test.py``, some of which are the driver's, are read as text and run on a stranger's machine."""


@dataclass(frozen=True)
class Breach:
    """One place that breaks a rule."""

    path: Path
    line: int
    rule: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.rule}"


def layer_of(module: str) -> int | None:
    """Index in LAYERS by the longest matching prefix; ``None`` for what is not ours."""
    best: tuple[int, int] | None = None
    for index, prefixes in enumerate(LAYERS):
        for prefix in prefixes:
            if (module == prefix or module.startswith(prefix + ".")) and (best is None or len(prefix) > best[0]):
                best = (len(prefix), index)
    return best[1] if best is not None else None


def module_name(path: Path) -> str:
    """Dotted name of a file below ROOT."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(node: ast.AST) -> Iterator[str]:
    """Modules that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
        yield node.module


def check_imports(path: Path, tree: ast.Module) -> Iterator[Breach]:
    """Import direction, and the SDK in one place only."""
    module = module_name(path)
    own = layer_of(module)
    for node in ast.walk(tree):
        for name in imported(node):
            theirs = layer_of(name)
            if own is not None and theirs is not None and theirs > own:
                yield Breach(path, node.lineno, f"{module} may not import {name}")  # type: ignore[attr-defined]
            if name.split(".")[0] == "docker" and not module.startswith("runner.sandbox.backends.docker"):
                yield Breach(path, node.lineno, "only the docker backend imports docker")  # type: ignore[attr-defined]
            if name.split(".")[0] == "playwright" and not module.startswith(PLAYS_BROWSERS):
                yield Breach(path, node.lineno, "only the driver and the script's parts import playwright")  # type: ignore[attr-defined]
            for place in PLAYS_BROWSERS:
                if name.startswith(place) and not module.startswith(PLAYS_BROWSERS):
                    yield Breach(path, node.lineno, f"{place} is run elsewhere, never imported")  # type: ignore[attr-defined]
            if own is not None and own <= 1 and name.split(".")[0] not in {*sys.stdlib_module_names, "runner"}:
                yield Breach(path, node.lineno, f"the trust path uses the standard library, not {name}")  # type: ignore[attr-defined]


def check_calls(path: Path, tree: ast.Module) -> Iterator[Breach]:
    """Calls and definitions that have no place here."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in FORBIDDEN_ATTRIBUTES:
            yield Breach(path, node.lineno, f"{node.attr} is not used here")
        if isinstance(node, ast.keyword) and node.arg in FORBIDDEN_KEYWORDS:
            yield Breach(path, node.value.lineno, f"{node.arg}= is not used here")
        if isinstance(node, ast.keyword) and node.arg == "shell" and getattr(node.value, "value", None) is True:
            yield Breach(path, node.value.lineno, "no shell=True")
        if isinstance(node, ast.FunctionDef) and node.name == "__del__":
            yield Breach(path, node.lineno, "no __del__")
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield Breach(path, node.lineno, "no bare except")


def check_functions(path: Path, tree: ast.Module, lines: list[str]) -> Iterator[Breach]:
    """Function sizes, and imports inside functions (a comment on or above the line states the reason)."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        size = (node.end_lineno or node.lineno) - node.lineno + 1
        if size > MAX_FUNCTION:
            yield Breach(path, node.lineno, f"{node.name} has {size} lines, more than {MAX_FUNCTION}")
        inner = [item for item in ast.walk(node) if isinstance(item, ast.Import | ast.ImportFrom)]
        if inner and not any("#" in line for line in lines[node.lineno - 1:inner[0].lineno]):
            yield Breach(path, inner[0].lineno, "an import inside a function states its reason in a comment")


def check_bodies(path: Path, tree: ast.Module) -> Iterator[Breach]:
    """A function that does nothing is a stub, unless a protocol describes it, a decorator makes something of it, or its
    docstring begins with "Nothing".
    """
    described = {id(item) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
                 and any(ast.unparse(base) == "Protocol" for base in node.bases) for item in node.body}
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.decorator_list or id(node) in described:
            continue
        does = [item for item in node.body if not isinstance(item, ast.Pass) and not (
            isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
        if not does and not (ast.get_docstring(node) or "").startswith("Nothing"):
            yield Breach(path, node.lineno, f"{node.name} does nothing")


def check_state(path: Path, tree: ast.Module) -> Iterator[Breach]:
    """Module-level names bound to mutable values are constants by name, and never rebound by ``global``."""
    for statement in tree.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(value, MUTABLE):
            name = target.id if isinstance(target, ast.Name) else "?"
            if not name.strip("_").isupper() and not name.startswith("__"):
                yield Breach(path, statement.lineno, f"{name}: no mutable state at module level")
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield Breach(path, node.lineno, "no global statement")


def check_tests(path: Path, tree: ast.Module) -> Iterator[Breach]:
    """Tests are neither skipped nor re-run, and nothing sleeps to be right (a poll under a deadline may)."""
    polls = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.While) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in TEST_FORBIDDEN:
            base = ast.unparse(node.value)
            if base in ("pytest", "pytest.mark", "unittest"):
                yield Breach(path, node.lineno, f"{base}.{node.attr}: tests run, or fail")
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "time.sleep" and id(node) not in polls:
            yield Breach(path, node.lineno, "nothing sleeps to be right")


def check_package() -> Iterator[Breach]:
    """All rules over ``runner/`` and the programs inside images."""
    paths = [*sorted((ROOT / "runner").rglob("*.py")), *sorted((ROOT / "images").rglob("*.py"))]
    sizes = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        tree = ast.parse(text, str(path))
        if lines:
            sizes.append(len(lines))
        if len(lines) > MAX_FILE:
            yield Breach(path, len(lines), f"{len(lines)} lines, more than {MAX_FILE}")
        yield from (Breach(path, 1, f"{word} is not used here") for word in FORBIDDEN_TEXT if word in text)
        for check in (check_imports, check_calls, check_bodies, check_state):
            yield from check(path, tree)
        yield from check_functions(path, tree, lines)
    if statistics.median(sizes) > MAX_MEDIAN:
        yield Breach(ROOT / "runner" / "__init__.py", 1, f"median file has {statistics.median(sizes):.0f} lines")


def main() -> int:
    """Check everything; print what is wrong."""
    breaches = list(check_package())
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if "data" not in path.relative_to(ROOT / "tests").parts:
            breaches += check_tests(path, ast.parse(path.read_text(encoding="utf-8"), str(path)))
    for breach in breaches:
        print(breach)
    print(f"house rules: {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
