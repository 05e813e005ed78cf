"""The page of a browser session in a real Chromium: pictures and video show, links lead, and nothing is loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from stored_sessions import RUN, SEEN, make_session
from test_html_in_chromium import CHROMIUM, CONTRAST, HOSTILE

from runner.reports.html import render_html


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("session")
    run = RUN.model_copy(update={"detail": HOSTILE, "uncontrolled": (HOSTILE,), "failures": (
        SEEN[0].model_copy(update={"key": HOSTILE}), *SEEN[1:])})
    file = place / "report.html"
    file.write_text(render_html(make_session(place / "evidence", run=run, url=f"http://127.0.0.1/{HOSTILE}")),
                    encoding="utf-8")
    return file


@pytest.fixture
def opened(browser: Browser, report: Path) -> Iterator[Callable[..., Page]]:
    """Open the page; at the end nothing may have been asked for, said or run."""
    contexts, heard = [], []

    def open_page(width: int = 1280, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: heard.append(f"request {request.url[:80]}"))
        page.on("console", lambda message: heard.append(f"console {message.text}"))
        page.on("pageerror", lambda error: heard.append(f"error {error}"))
        page.on("dialog", lambda dialog: (heard.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.goto(report.as_uri())
        return page

    yield open_page
    for context in contexts:
        assert [page.evaluate("window.pwned") for page in context.pages] == [None]
        context.close()
    assert heard == [f"request {report.as_uri()}"[:88]] * len(contexts)


def test_the_video_plays(opened: Callable[..., Page]) -> None:
    page = opened()
    page.wait_for_function("document.querySelector('video').readyState >= 1", timeout=60_000)
    facts = "(({videoWidth, videoHeight, duration, controls}) => [videoWidth, videoHeight, duration, controls])"
    assert page.evaluate(f"{facts}(document.querySelector('video'))") == [160, 120, 1, True]
    page.evaluate("document.querySelector('video').play()")
    page.wait_for_function("document.querySelector('video').currentTime > 0", timeout=60_000)


def test_the_pictures_show(opened: Callable[..., Page]) -> None:
    images = opened().locator("img")
    assert images.evaluate_all("all => all.map((one) => [one.complete, one.naturalWidth, one.alt])") == [
        [True, 160, "The page at step 0"]]


def test_links_lead_from_a_failure_to_its_step_and_back(opened: Callable[..., Page]) -> None:
    page = opened(reduced_motion="reduce")
    page.locator("#failure-2").get_by_role("link", name="step 220").click()
    assert page.evaluate("location.hash") == "#step-220"
    step = page.locator("#step-220")
    top, bottom = step.evaluate("node => [node.getBoundingClientRect().top, node.getBoundingClientRect().bottom]")
    assert top < 900
    assert bottom > 0
    step.get_by_role("link", name="Failure 2").click()
    assert page.evaluate("document.querySelector(':target').id") == "failure-2"


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_scrolls_sideways_but_the_tables(opened: Callable[..., Page], width: int) -> None:
    page = opened(width)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_contrast(opened: Callable[..., Page], scheme: str) -> None:
    page = opened(color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = page.evaluate(CONTRAST)
    assert found["poor"] == []
    assert found["seen"] > 500


def test_it_is_whole_without_scripts(opened: Callable[..., Page]) -> None:
    page = opened(java_script_enabled=False)
    assert page.get_by_role("heading", level=2).all_inner_texts()[:10] == [
        "Why", "Failures", "Video", "Timeline", "Lanes", "Noise", "Faults put in", "Requests", "Application",
        "What drifted"]
    assert page.locator(".timeline > li").count() == 203


def test_the_accessibility_tree(opened: Callable[..., Page]) -> None:
    page = opened()
    names = [region.get_attribute("aria-label") for region in page.locator("[role=region]").all()]
    assert len(names) == len(set(names))
    assert page.get_by_role("table", name="Each failure by its stable name").count() == 1
    assert page.get_by_role("img", name="The page at step 0").count() == 1


def test_the_policy_lets_no_picture_come_from_elsewhere(browser: Browser, report: Path) -> None:
    """The second wall, with our escaping out of the way."""
    broken = report.with_name("broken.html")
    broken.write_text(report.read_text().replace(
        "<main", "<img id=probe src='https://x.invalid/a.png'><video src='https://x.invalid/b.webm'></video><main", 1))
    context, ended = browser.new_context(offline=True), {}
    page = context.new_page()
    page.on("requestfailed", lambda request: ended.update({request.url: request.failure}))
    page.goto(broken.as_uri())
    page.wait_for_load_state("networkidle")
    assert page.locator("#probe").count() == 1
    assert set(ended.values()) <= {"csp"}
    assert page.evaluate("document.querySelector('#probe').naturalWidth") == 0
    context.close()
