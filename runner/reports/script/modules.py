"""A module's source, taken apart: what its names are, what it imports, and its text with other names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

Place = tuple[str, str]
"""A module and a name in it; an empty name is the module itself."""


@dataclass
class Module:
    """One module. ``places`` says which statement defines a name, ``imports`` where one comes from, ``aliases`` which
    of them are modules of ours; ``early`` are modules that must be there before it; ``chosen`` are indices of
    statements, ``used`` imported names.
    """

    name: str
    lines: list[str]
    tree: ast.Module
    places: dict[str, int] = field(default_factory=dict)
    imports: dict[str, Place] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    for_types: set[str] = field(default_factory=set)
    early: set[str] = field(default_factory=set)
    chosen: set[int] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    @classmethod
    def load(cls, name: str) -> Module:
        """By its name. It is found without being run. Raises ValueError if there is none."""
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            raise ValueError(f"no module {name}")
        text = Path(spec.origin).read_text(encoding="utf-8")
        module = cls(name, text.splitlines(), ast.parse(text))
        for index, statement in enumerate(module.tree.body):
            module._read(index, statement)
        return module

    def _read(self, index: int, statement: ast.stmt) -> None:
        if isinstance(statement, ast.If) and not is_code(statement):
            for one in statement.body:
                self.for_types |= set(found := dict(_imported(one)))
                self.imports |= found
        for inner in ast.walk(statement):
            for word, (source, what) in _imported(inner):
                if source.startswith("runner") and what and find_spec_of(f"{source}.{what}"):
                    self.aliases[word] = f"{source}.{what}"
                elif inner is statement or source.startswith("runner"):
                    self.imports[word] = (source, what)
                if inner is statement:
                    self.early.add(self.aliases.get(word, source))
        self.places |= dict.fromkeys(_defined(statement), index)

    @property
    def defined(self) -> list[str]:
        """Chosen names of its own."""
        return [word for word, index in self.places.items() if index in self.chosen]

    @property
    def outside(self) -> list[Place]:
        """Where its used names come from, if not from us."""
        return [self.imports[word] for word in self.used if not self.imports[word][0].startswith("runner")]

    def text(self, names: dict[str, str]) -> str:
        """The chosen statements, with the comments above them; ``names`` are words that are called otherwise now."""
        lines = self._renamed(names)
        parts: list[str] = []
        for index in sorted(self.chosen):
            statement = self.tree.body[index]
            begin = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", []))]) - 1
            end = statement.end_lineno or statement.lineno
            while begin and lines[begin - 1].startswith("#"):
                begin -= 1
            small = isinstance(statement, ast.Assign | ast.AnnAssign)
            gap = "" if not parts else "\n" if small and parts[-1].count("\n") < 2 else "\n\n\n"
            gone = self._gone(statement)
            parts.append(gap + "\n".join(line for number, line in enumerate(lines[begin:end], begin + 1)
                                         if number not in gone))
        return "".join(parts)

    def _gone(self, statement: ast.stmt) -> set[int]:
        """Lines of imports of ours inside a function, with the comment that gives their reason."""
        gone: set[int] = set()
        for node in ast.walk(statement):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runner"):
                gone.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
                above = node.lineno - 1
                while self.lines[above - 1].lstrip().startswith("#"):
                    gone.add(above)
                    above -= 1
                if not self.lines[(node.end_lineno or node.lineno)].strip():
                    gone.add((node.end_lineno or node.lineno) + 1)
        return gone

    def _renamed(self, names: dict[str, str]) -> list[str]:
        changes = {word: new for word, new in names.items() if word != new}
        lines = [line.encode() for line in self.lines]
        spots = sorted((spot for index in self.chosen for spot in _spots(self.tree.body[index], changes, lines)),
                       reverse=True)
        for number, begin, end, new in spots:
            lines[number - 1] = lines[number - 1][:begin] + new.encode() + lines[number - 1][end:]
        return [line.decode() for line in lines]


def find_spec_of(name: str) -> bool:
    """Whether there is a module of this name."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def is_code(statement: ast.stmt) -> bool:
    """Whether it does something at the top level besides naming something and importing."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test) != "TYPE_CHECKING"


def names_in(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement uses, and attributes of names: ``a.b``."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def _imported(statement: ast.AST) -> Iterator[tuple[str, Place]]:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield alias.asname or alias.name, (alias.name, "")
    elif isinstance(statement, ast.ImportFrom) and statement.module != "__future__":
        for alias in statement.names:
            yield alias.asname or alias.name, (statement.module or "", alias.name)


def _defined(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _spots(statement: ast.stmt, names: dict[str, str], lines: list[bytes]) -> Iterator[tuple[int, int, int, str]]:
    """Where names stand that are called otherwise now: line, first and last byte, and the new name."""
    for node in ast.walk(statement):
        if isinstance(node, ast.arg) and node.arg in names:
            raise ValueError(f"a parameter is called {node.arg}, as something that must be renamed")
        if isinstance(node, ast.Name) and node.id in names:
            yield node.lineno, node.col_offset, node.end_col_offset or 0, names[node.id]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            new = names.get(f"{node.value.id}.{node.attr}")
            if new is not None:
                yield node.lineno, node.col_offset, node.end_col_offset or 0, new
    name = getattr(statement, "name", "")
    if name in names:
        begin = lines[statement.lineno - 1].index(name.encode())
        yield statement.lineno, begin, begin + len(name), names[name]
