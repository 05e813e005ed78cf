"""The HTML report in a real Chromium. Needs the ``chromium`` package (`tools/packages` installs it); fails without.

Each page is opened from its file with the network off, and must load nothing, run nothing and complain of nothing.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import sync_playwright
from stored_runs import FAILS, PASSES, TIMED_OUT, make_evidence, silent

from runner.payload.fingerprint import Change
from runner.reports.html import render_html
from runner.sandbox.exit import Cause, ExitStatus

CHROMIUM = "/usr/bin/chromium"
HOSTILE = ("<script>window.pwned = 1; alert(1)</script><img src=x onerror='window.pwned = 1'>"
           "<svg onload='window.pwned = 1'><iframe srcdoc='<script>parent.pwned = 1</script>'></iframe>"
           "</pre></style></title></template>--><link rel=stylesheet href=//x.invalid/y.css>"
           "<style>body { display: none }</style><p style='position: fixed; inset: 0'>over")
COLOURS = b"".join(b"\x1b[%d;%dm %d on %d \x1b[0m" % (text, ground, text, ground)
                   for text in (39, *range(30, 38), *range(90, 98))
                   for ground in (49, *range(40, 48), *range(100, 108)))
STYLES = b"".join(b"\x1b[%dm style %d \x1b[0m\x1b[31;%dm red \x1b[0m" % (code, code, code) for code in range(1, 10))
LOUD = replace(FAILS, peak_memory=900 << 20,
               stdout=b"\x1b]0;title\x07\x1b[2J" + COLOURS + STYLES + HOSTILE.encode() + b"\n",
               changes=(Change("added", b"a" * 200, "file, 4 bytes"), Change("mode", b"x", "644 -> 755"),
                        Change("modified", b"y", ""), Change("removed", HOSTILE.encode(), "")))
SCRIPT = (LOUD, FAILS, PASSES, TIMED_OUT, replace(silent(FAILS), status=ExitStatus(Cause.SIGNALED, 139, 11)),
          replace(FAILS, stdout=b"w" * 3000 + b"\n" + b"line\n" * 20_000))

CONTRAST = """() => {
  const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const colour = (text) => text.match(/[0-9.]+/g).map(Number);
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const found = colour(getComputedStyle(node).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found;
      if (found[3] !== 0) throw new Error("a background that lets another through");
    }
    throw new Error("no background");
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const poor = [];
  let seen = 0;
  for (let text; (text = walker.nextNode());) {
    if (!text.data.trim()) continue;
    const style = getComputedStyle(text.parentElement);
    if (style.opacity !== "1") throw new Error("opacity");
    const [light, dark] = [luminance(colour(style.color)), luminance(ground(text.parentElement))].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    seen += 1;
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${text.parentElement.className}: ${text.data.trim().slice(0, 40)}`);
  }
  return {seen, poor: [...new Set(poor)]};
}"""


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    place = tmp_path_factory.mktemp("report")
    evidence = make_evidence(place, SCRIPT, command=f"python3 check.py {HOSTILE}")
    result = evidence.result.model_copy(update={"warnings": (HOSTILE,), "reasons": (*evidence.result.reasons, HOSTILE)})
    file = place / "report.html"
    file.write_text(render_html(replace(evidence, result=result)), encoding="utf-8")
    return file


@pytest.fixture
def opened(browser, report):
    """Open the report; at the end nothing may have been asked for, said or run."""
    contexts, heard = [], []

    def open_page(width=1280, height=900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, offline=True, **options)
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


def test_hostile_output_loads_nothing_and_runs_nothing(opened):
    page = opened()
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.wait_for_load_state("networkidle")
    assert page.locator("script, img, iframe, link, object, form, [style], [onerror]").count() == 0
    assert page.locator("pre", has_text="window.pwned = 1; alert(1)").count() == 1


def test_the_policy_stops_what_would_be_there(browser, report):
    """The second wall: with our escaping out of the way, the page's own policy still runs and loads nothing."""
    broken = report.with_name("broken.html")
    broken.write_text(report.read_text().replace("<main", f"{HOSTILE}<main", 1))
    context, ended = browser.new_context(offline=True), {}
    page = context.new_page()
    page.on("requestfinished", lambda request: ended.update({request.url: "loaded"}))
    page.on("requestfailed", lambda request: ended.update({request.url: request.failure}))
    page.goto(broken.as_uri())
    page.wait_for_load_state("networkidle")
    assert page.locator("img[onerror]").count() == 1
    assert page.evaluate("[window.pwned, getComputedStyle(document.body).display]") == [None, "block"]
    assert {failure for url, failure in ended.items() if url != broken.as_uri()} == {"csp"}
    context.close()


@pytest.mark.parametrize("width", [360, 390, 768, 1024, 1280, 1600])
def test_nothing_scrolls_sideways_but_the_tables(opened, width):
    page = opened(width)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    regions = page.locator(".scroll")
    assert regions.count() >= 4
    for region in regions.all():
        assert region.get_attribute("tabindex") == "0"
        assert region.get_attribute("aria-label")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("media", ["screen", "print"])
def test_all_text_has_contrast(opened, scheme, media):
    page = opened(color_scheme=scheme)
    page.emulate_media(media=media)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = page.evaluate(CONTRAST)
    assert found["poor"] == []
    assert found["seen"] > 500


def test_light_and_dark_differ(opened):
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    grounds = {scheme: opened(color_scheme=scheme).evaluate(ground) for scheme in ("light", "dark")}
    assert grounds["light"] != grounds["dark"]


def test_the_keyboard_reaches_everything(opened):
    page = opened()
    reached = []
    while len(reached) < 200 and (len(reached) < 2 or reached[-1][1] != "skip"):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("""() => {
            const node = document.activeElement, style = getComputedStyle(node);
            return [node.tagName, node.className, node.getAttribute("href"), style.outlineStyle !== "none"];
        }"""))
    assert reached[0] == ["A", "skip", "#main", True]
    assert reached.pop() == reached[0]
    assert all(seen for tag, _, _, seen in reached if tag != "BODY")
    assert sum(1 for tag, *_ in reached if tag == "SUMMARY") == page.locator("summary").count()
    assert sum(1 for tag, name, *_ in reached if (tag, name) == ("DIV", "scroll")) == page.locator(
        ".scroll:visible").count()


def test_the_skip_link_goes_to_the_reasons(opened):
    page = opened()
    page.keyboard.press("Tab")
    assert page.locator(".skip").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_details_opens_by_keyboard_and_is_read_as_a_button(opened):
    page = opened()
    second = page.locator("#output-2 > summary")
    assert not page.locator("#output-2 pre").first.is_visible()
    second.focus()
    page.keyboard.press("Enter")
    assert page.locator("#output-2 pre").first.is_visible()


def test_the_accessibility_tree(opened):
    page = opened()
    for role in ("banner", "navigation", "main", "contentinfo"):
        assert page.get_by_role(role).count() == 1
    assert page.get_by_role("heading", level=1).all_inner_texts() == ["NOT REPRODUCED"]
    assert page.get_by_role("heading", level=2).all_inner_texts() == [
        "Why", "Warnings", "What drifted", "The claim", "Runs", "Output", "What the runs changed", "Artifacts",
        "Payload", "Image", "Sandbox and policy", "Event log", "Replay it", "Check it"]
    assert page.get_by_role("table", name="Each run, on a fresh copy of the payload").count() == 1
    assert page.get_by_role("columnheader", name="Peak memory").count() == 1
    assert page.get_by_role("rowheader", name="3", exact=True).count() == 1
    names = [region.get_attribute("aria-label") for region in page.locator("[role=region]").all()]
    assert len(names) == len(set(names))


def test_the_verdict_is_not_told_by_colour_alone(opened):
    page = opened(forced_colors="active")
    assert page.locator("h1").inner_text() == "NOT REPRODUCED"
    assert page.locator(".badge", has_text="✓ matched").count() > 0
    assert page.locator(".badge", has_text="✕ did not match").count() > 0


def test_print_shows_what_is_folded_on_the_screen(opened):
    page = opened()
    folded = page.locator("#output-2 pre").first
    assert not folded.is_visible()
    page.emulate_media(media="print")
    assert folded.is_visible()
    assert page.locator("#output-2 pre").first.bounding_box()["height"] > 20
    assert not page.locator("nav").is_visible()
    assert page.locator("pre").evaluate_all("all => all.every((one) => one.scrollHeight <= one.clientHeight)")


def test_nothing_moves_for_those_who_asked_for_calm(opened):
    behaviour = "getComputedStyle(document.documentElement).scrollBehavior"
    assert opened(reduced_motion="reduce").evaluate(behaviour) == "auto"
    assert opened(reduced_motion="no-preference").evaluate(behaviour) == "smooth"
