"""The page of a load run in a real Chromium: plots have their size and their lines, and nothing is loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from stored_loads import JOURNEYS, METRICS, TIMELINE, make_load
from test_html_in_chromium import CHROMIUM, CONTRAST, HOSTILE

from runner.reports.html import render_html

LONG = "an-operation-with-a-very-long-name-" * 6


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("load")
    rows, found = TIMELINE["operations"]["browse"], METRICS["by_operation"]["redeem"]
    timeline = {**TIMELINE, "operations": {**TIMELINE["operations"], HOSTILE: rows, LONG: rows}}
    metrics = {**METRICS, "by_operation": {**METRICS["by_operation"], HOSTILE: found, LONG: found}}
    journey = {**JOURNEYS["checkout"], "stages": [*JOURNEYS["checkout"]["stages"], {"name": HOSTILE, "reached": 1}]}
    evidence = make_load(place / "evidence", timeline=timeline, metrics=metrics,
                         journeys={**JOURNEYS, HOSTILE: journey}, limitations=(HOSTILE, LONG))
    file = place / "report.html"
    file.write_text(render_html(evidence), encoding="utf-8")
    return file


@pytest.fixture
def opened(browser: Browser, report: Path) -> Iterator[Callable[..., Page]]:
    """Open the page; at the end nothing may have been asked for, said or run."""
    contexts, heard = [], []

    def open_page(width: int = 1280, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: heard.append(f"request {request.url}"))
        page.on("console", lambda message: heard.append(f"console {message.text}"))
        page.on("pageerror", lambda error: heard.append(f"error {error}"))
        page.on("dialog", lambda dialog: (heard.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.goto(report.as_uri())
        return page

    yield open_page
    for context in contexts:
        assert [page.evaluate("window.pwned") for page in context.pages] == [None]
        context.close()
    assert heard == [f"request {report.as_uri()}"] * len(contexts)


def _unfolded(page: Page) -> Page:
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    return page


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_scrolls_sideways_but_the_tables(opened: Callable[..., Page], width: int) -> None:
    page = _unfolded(opened(width))
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_contrast(opened: Callable[..., Page], scheme: str) -> None:
    found = _unfolded(opened(color_scheme=scheme)).evaluate(CONTRAST)
    assert found["poor"] == []
    assert found["seen"] > 500


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_lines_have_contrast(opened: Callable[..., Page], scheme: str) -> None:
    """At least 3 to 1 against the card, as WCAG asks of graphics."""
    ratios = opened(color_scheme=scheme).evaluate("""() => {
      const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      const luminance = (text) => {
        const [r, g, b] = text.match(/[0-9.]+/g).map(Number);
        return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
      };
      return [...document.querySelectorAll(".lines path:not(.below)")].map((path) => {
        const card = getComputedStyle(path.closest(".plot")).backgroundColor;
        const pair = [luminance(getComputedStyle(path).stroke), luminance(card)].sort((a, b) => b - a);
        return (pair[0] + 0.05) / (pair[1] + 0.05);
      });
    }""")
    assert len(ratios) == 6 + 3 * 5
    assert min(ratios) >= 3


@pytest.mark.parametrize("width", [360, 1280])
def test_plots_are_as_wide_as_their_cards_and_words_lie_within(opened: Callable[..., Page], width: int) -> None:
    plots = opened(width).evaluate("""() => [...document.querySelectorAll(".plot")].map((plot) => {
      const card = plot.getBoundingClientRect(), area = plot.querySelector(".area").getBoundingClientRect();
      const out = (word) => word.left < card.left || word.right > card.right || word.bottom > card.bottom;
      const words = [...plot.querySelectorAll("text")].map((text) => text.getBoundingClientRect());
      const heights = words.map((word) => word.height);
      return {part: area.width / card.width, height: area.height, size: Math.min(...heights),
              out: words.filter(out).length,
              met: words.filter((one, at) => words.some((other, place) => place > at && one.left < other.right &&
                other.left < one.right && one.top < other.bottom && other.top < one.bottom)).length};
    })""")
    assert len(plots) == 3 + 5
    for plot in plots:
        assert plot["part"] > (0.6 if width == 360 else 0.75)
        assert plot["height"] > 150
        assert plot["size"] >= 11
        assert plot["out"] == 0
        assert plot["met"] == 0


def test_a_line_lies_where_its_values_are(opened: Callable[..., Page]) -> None:
    """Six of six a second are planned in the middle: a third of the area is at its top."""
    box = opened().evaluate("""() => {
      const plot = document.querySelector(".plot"), path = plot.querySelector(".lines .plan");
      const area = plot.querySelector(".area").getBoundingClientRect(), at = path.getBoundingClientRect();
      const length = path.getTotalLength();
      const xs = [...Array(1000).keys()].map((part) => path.getPointAtLength(part * length / 1000));
      const top = xs.filter((point) => point.y < 1).map((point) => point.x);
      return {top: [Math.min(...top), Math.max(...top)], width: at.width / area.width, height: at.height / area.height};
    }""")
    assert box["top"] == pytest.approx([1000 / 3, 2000 / 3], abs=5)
    assert box["width"] == pytest.approx(1, abs=0.02)
    assert box["height"] == pytest.approx(5 / 6, abs=0.05)


def test_it_is_whole_without_scripts(opened: Callable[..., Page]) -> None:
    page = opened(java_script_enabled=False)
    assert page.get_by_role("heading", level=2).all_inner_texts()[:10] == [
        "Why", "Limitations", "Assertions", "Load over time", "Latency over time", "Journeys and failures",
        "Operations", "Budgets and schedule", "Observations and fixtures", "Scenario, application, k6"]
    assert page.locator(".area").count() == 8


def test_the_accessibility_tree(opened: Callable[..., Page]) -> None:
    page = opened()
    names = [region.get_attribute("aria-label") for region in page.locator("[role=region]").all()]
    assert len(names) == len(set(names))
    assert page.get_by_role("img", name="Journeys against the schedule", exact=True).count() == 1
    assert page.get_by_role("img", name="Latency of redeem", exact=True).count() == 1
    assert page.get_by_role("table", name="Funnel of checkout").count() == 1


def test_printed_plots_fit_the_paper(opened: Callable[..., Page]) -> None:
    page = opened(width=720)
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
    assert page.locator(".area").first.evaluate("node => node.getBoundingClientRect().width") > 400
    assert page.pdf(format="A4").startswith(b"%PDF-")
