"""What goes into the controller's image is pinned as everything else is."""

from __future__ import annotations

import re
from importlib.metadata import requires
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMPILE = ("echo hatchling | uv pip compile pyproject.toml - -c constraints.txt --generate-hashes "
           "--python-version 3.11 --universal --no-header --no-annotate --no-emit-index-url --no-emit-find-links "
           "-o constraints-image.txt")


def pins(name: str) -> dict[str, str]:
    """Each requirement's version and hashes by its name; where it is needed may differ."""
    text = re.sub(r" ; .*(?= \\)", "", (ROOT / name).read_text(encoding="utf-8").strip())
    return {block.partition("==")[0]: block for block in re.split(r"\n(?=\S)", text)}


def test_it_is_a_part_of_the_constraints() -> None:
    ours, all_of_them = pins("constraints-image.txt"), pins("constraints.txt")
    assert {name for name, block in ours.items() if all_of_them.get(name) != block} == set(), COMPILE


def test_it_holds_what_the_program_needs() -> None:
    """With all that those need in turn, and what builds the program."""
    ours, wanted = pins("constraints-image.txt"), ["hatchling"]
    wanted += [text for text in requires("sandbox-runner") or () if "extra ==" not in text]
    seen: set[str] = set()
    while wanted:
        text = wanted.pop()
        name = re.match(r"[\w.-]+", text)[0].lower().replace("_", "-")  # type: ignore[index]
        if name not in seen and "extra ==" not in text and not re.search(r"python_version|win32|PyPy", text):
            seen.add(name)
            wanted += requires(name) or ()
    assert seen - set(ours) == set(), COMPILE
