"""Everything of a load run that the template shows. Frozen values, all text a stranger's and not yet escaped."""

from __future__ import annotations

from dataclasses import dataclass

from runner.reports.html.excerpt import Excerpt
from runner.reports.html.facts import Fact
from runner.reports.html.load.plot import Plot
from runner.reports.html.session.view import Grid


@dataclass(frozen=True, slots=True)
class AssertionRow:
    """A declared assertion. ``mark`` is a class of the style sheet; ``facts`` are what was wanted and seen, and the
    first samples that failed.
    """

    id: str
    mark: str
    words: str
    samples: str
    reason: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart: its name, what it counts, its share in words, and its length in percent."""

    name: str
    count: str
    share: str
    length: int


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars below each other. ``kind`` is a class of the style sheet; ``columns`` name them, the count and the share."""

    caption: str
    kind: str
    columns: tuple[str, str, str]
    bars: tuple[Bar, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """A budget: what the run took of it, and what it could have taken by the manifest. ``length`` is in percent of the
    bar, ``share`` the same in words; it is empty where nothing is known.
    """

    name: str
    used: str
    declared: str
    allowed: str
    share: str
    length: int
    over: bool


@dataclass(frozen=True, slots=True)
class LoadView:
    """One load run; empty grids, charts and plots are left out. ``plots_note`` says why there is none."""

    cards: tuple[Fact, ...]
    assertions: tuple[AssertionRow, ...]
    assertions_more: int
    limitations: tuple[str, ...]
    notes: tuple[str, ...]
    plots: tuple[Plot, ...]
    plots_note: str
    numbers: Grid
    latencies: tuple[Plot, ...]
    latencies_more: int
    latency_numbers: Grid
    failures: tuple[Chart, ...]
    funnels: tuple[Chart, ...]
    stages_note: tuple[str, ...]
    operations: Grid
    figures: tuple[Fact, ...]
    budgets: tuple[BudgetRow, ...]
    schedule: Grid
    observations: Grid
    fixture: Grid
    fixture_failures: tuple[str, ...]
    cleaned: str
    environment: tuple[Fact, ...]
    output: tuple[Excerpt, ...]
    engine: tuple[Excerpt, ...]
