"""Everything of a browser session that the template shows. Frozen values, all text a stranger's and not yet escaped.

Numbers are ours and make the anchors: a failure is ``#failure-N``, a step ``#step-N``.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner.reports.html.excerpt import Excerpt
from runner.reports.html.facts import Fact


@dataclass(frozen=True, slots=True)
class Media:
    """A picture or a video. ``data`` is its base64, or empty: then it is too large for a page and lies in ``file``."""

    data: str
    file: str
    size: str
    label: str


@dataclass(frozen=True, slots=True)
class FailureRow:
    """A failure over all runs. ``mark`` is a class of the style sheet, ``words`` the verdict on it; ``step`` is on this
    page if ``shown``. ``at`` is when it was first seen in the run that is told.
    """

    number: int
    key: str
    id: str
    mark: str
    words: str
    seen: str
    step: int | None
    shown: bool
    at: str


@dataclass(frozen=True, slots=True)
class StepFailure:
    """A failure at its step. ``number`` is its row's, 0 if it has none."""

    number: int
    key: str
    count: int
    at: str
    known: bool


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step of the timeline; -1 is what came before the first."""

    index: int
    kind: str
    text: str
    state: str
    mark: str
    started: str
    took: str
    detail: str
    failures: tuple[StepFailure, ...]
    picture: Media | None


@dataclass(frozen=True, slots=True)
class Grid:
    """A plain table: a caption, names of columns, rows of texts, and how many rows are left out."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class SessionView:
    """One session. ``run`` is the run that is told step by step; empty grids are left out."""

    run: int
    runs: int
    url: str
    cards: tuple[Fact, ...]
    notes: tuple[str, ...]
    failures: tuple[FailureRow, ...]
    video: Media | None
    steps: tuple[StepRow, ...]
    steps_more: int
    spread: str
    lanes: Grid
    noise: Grid
    api_faults: Grid
    state_faults: Grid
    requests: Grid
    output: tuple[Excerpt, ...]
    environment: tuple[Fact, ...]
