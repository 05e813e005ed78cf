"""Several modules of ours as one file that needs none of them.

From the entry module everything is taken; of the modules that it imports from, only what is used, directly or by what
is used. Statements keep their source text and order; imports of other packages move to the top, those of ours go, and
so do module docstrings. Where two modules use one name for two things, one gets a longer name. The result depends on
our sources only, never on an incident.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache

from runner.reports.script.modules import Module, Place, is_code, names_in

OURS = "runner."
GUARD = """try:
{imports}
except ImportError:
    if __name__ != "__main__":
        raise
    print("COULD NOT RUN: Playwright is missing: pip install playwright")
    sys.exit(2)"""
"""An uncaught error would end the script with 1, which says that the failure was reproduced."""


@cache
def bundle(entry: str) -> str:
    """The source of module ``entry`` and of what it needs of ours. Raises ValueError where that is not possible."""
    modules = _gather(entry)
    order = _ordered(entry, modules)
    names = _final_names(order, modules)
    doc = ast.get_docstring(modules[entry].tree, clean=False) or ""
    body = "\n\n\n".join(modules[name].text({word: names[place] for word, place in _local(name, modules, names)})
                         for name in order)
    return f'"""{doc}"""\n\n{_header(names)}\n\n{body}\n'


def _gather(entry: str) -> dict[str, Module]:
    """Modules with what is chosen of each."""
    first = Module.load(entry)
    modules = {entry: first}
    first.chosen.update(index for index, statement in enumerate(first.tree.body) if is_code(statement))
    wanted = [(entry, word) for word in first.places]
    wanted += [(entry, word) for index in first.chosen for word in names_in(first.tree.body[index])]
    done: set[Place] = set()
    while wanted:
        name, word = wanted.pop()
        if (name, word) not in done:
            done.add((name, word))
            wanted += _choose(name, word, modules)
    return modules


def _choose(name: str, word: str, modules: dict[str, Module]) -> Iterable[Place]:
    """Take what ``word`` is in module ``name``; what it uses in turn."""
    if name not in modules:
        modules[name] = Module.load(name)
    module = modules[name]
    if word in module.places:
        index = module.places[word]
        module.chosen.add(index)
        return [(name, used) for used in names_in(module.tree.body[index])]
    if word in module.imports:
        module.used.add(word)
        source, what = module.imports[word]
        if source.startswith(OURS) and word not in module.for_types:
            return [(source, what)]
    alias, _, attribute = word.partition(".")
    if attribute and alias in module.aliases:
        return [(module.aliases[alias], attribute)]
    return []


def _ordered(entry: str, modules: dict[str, Module]) -> list[str]:
    """Names of modules of which something was chosen, each after those that it imports from."""
    order: list[str] = []
    begun: set[str] = set()

    def visit(name: str) -> None:
        if name in begun or name not in modules:
            return
        begun.add(name)
        for source in sorted(modules[name].early):
            visit(source)
        if modules[name].chosen:
            order.append(name)

    for name in sorted(modules, key=lambda name: (name == entry, name)):
        visit(name)
    return order


def _final_names(order: list[str], modules: dict[str, Module]) -> dict[Place, str]:
    """What each chosen thing is called in the end, ours and what is imported from elsewhere."""
    names: dict[Place, str] = {}
    for place in (*_outside(modules), *((name, word) for name in order for word in modules[name].defined)):
        source, word = place
        free = word or source
        if free in names.values():
            free = f"{word}_{source.rpartition('.')[2]}"
        if free in names.values():
            raise ValueError(f"no name is left for {word} of {source}")
        names[place] = free
    return names


def _outside(modules: dict[str, Module]) -> list[Place]:
    """Where names come from that are not ours."""
    found = {place for module in modules.values() for place in module.outside if module.chosen}
    return sorted(found)


def _local(name: str, modules: dict[str, Module], names: dict[Place, str]) -> Iterator[tuple[str, Place]]:
    """What the words of a module mean."""
    module = modules[name]
    places = {word: (name, word) for word in module.defined} | dict(module.imports)
    places |= {f"{alias}.{word}": (source, word) for alias, source in module.aliases.items() if source in modules
               for word in modules[source].defined}
    yield from ((word, place) for word, place in places.items() if place in names)


def _header(names: dict[Place, str]) -> str:
    """The imports of what is not ours."""
    others = [place for place in names if not place[0].startswith(OURS)]
    playwright = [place for place in others if place[0].partition(".")[0] == "playwright"]
    standard = [place for place in others if place not in playwright]
    guarded = "\n".join(f"    {line}" for line in _statements(playwright, names))
    lines = ["from __future__ import annotations", "", *_statements(standard, names)]
    return "\n".join(lines) + "\n\n" + GUARD.format(imports=guarded)


def _statements(places: list[Place], names: dict[Place, str]) -> Iterator[str]:
    yield from (f"import {source}" for source in sorted({source for source, what in places if not what}))
    for source in sorted({source for source, what in places if what}):
        words = sorted(what if what == names[source, what] else f"{what} as {names[source, what]}"
                       for place, what in places if place == source and what)
        yield f"from {source} import {', '.join(words)}"
