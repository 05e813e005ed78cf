"""Applications with a recorded browser session, and what is right in each of their modes."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / "data"
LOKI = DATA / "loki"
CASES = DATA / "browser"
CODES = {"reproduced": 0, "not_reproduced": 1, "could_not_run": 2, "inconclusive": 3}


@dataclass(frozen=True)
class Mode:
    """One way to start the application of a case, and the codes that are right then."""

    case: str
    name: str
    command: str
    codes: frozenset[int]
    expect: dict[str, Any]

    @property
    def folder(self) -> Path:
        return CASES / self.case

    def __str__(self) -> str:
        return f"{self.case}-{self.name}"


def modes() -> list[Mode]:
    """Every mode of every labelled case."""
    found = []
    for path in sorted(CASES.glob("*/expect.json")):
        expect = json.loads(path.read_text())
        for name, options in expect["modes"].items():
            words = expect["dead_command"] if options is None else [*expect["target_command"], *options]
            right = {expect["verdicts"][name], *expect.get("also_accepted", {}).get(name, ())}
            found.append(Mode(path.parent.name, name, shlex.join(words), frozenset(CODES[word] for word in right),
                              expect))
    return found


def payload_of(app: Path, where: Path, **changes: str) -> Path:
    """A directory with this application, some words of it exchanged."""
    where.mkdir()
    shutil.copy(app, where / "app.py")
    text = (where / "app.py").read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (where / "app.py").write_text(text)
    return where


def shown(result: dict[str, Any], state: str) -> list[dict[str, Any]]:
    """The failures of a result in one state."""
    return [failure for failure in result["session"]["failures"] if failure["state"] == state]


def fits_label(label: dict[str, Any], key: str) -> bool:
    """Whether a labelled failure is the one that a result names."""
    kinds = {"pageerror": "pageerror", "http_error": "http_error", "race": "race"}
    words = [label.get("message", ""), label.get("method", ""), label.get("url", ""), str(label.get("status", ""))]
    pattern = label.get("message_regex")
    return (key.startswith(kinds[label["kind"]]) and all(word in key for word in words)
            and (pattern is None or re.search(pattern, key) is not None))
