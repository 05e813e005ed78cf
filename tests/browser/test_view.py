"""Looking at pages, honest and hostile, in real Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from chromium import Chromium, chromium
from playwright.async_api import Browser

from runner.driver.view import MAX_ELEMENTS, Element, View, look


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    """One browser for all pages."""
    with chromium() as running:
        yield running


def seen(chromium: Chromium, html: str, *, every: bool = False) -> View:
    """What is seen of a page; with ``every``, what each selector finds first must be visible."""
    async def script(browser: Browser) -> View:
        page = await browser.new_page()
        await page.set_content(f"<!doctype html><body>{html}</body>")
        view = await look(page)
        for element in view.elements if every else ():
            assert await page.locator(element.selector).first.is_visible()
        await page.close()
        return view
    return chromium.run(script)


def test_elements_in_the_order_of_the_document(browser: Chromium) -> None:
    view = seen(browser, """
      <form><input name="user" placeholder="Who"><input type="password"><textarea>text</textarea>
      <input type="hidden" name="h"><select><option>one</select><button disabled>No</button></form>
      <div><button>First</button><button id="a:b">  Second
      one </button></div><a href="/in">In</a><a href="https://x.invalid/">Out</a><a href="#" role="button">Act</a>
      <button style="display: none">Gone</button><input type="checkbox"><input readonly value="r">""", every=True)
    form = "form:nth-of-type(1) > "
    assert view.elements == (
        Element(form + "input:nth-of-type(1)", "field", "text", "Who", login=True),
        Element(form + "input:nth-of-type(2)", "field", "password", login=True),
        Element(form + "textarea:nth-of-type(1)", "field", "textarea", "text"),
        Element(form + "select:nth-of-type(1)", "choice", "select", "one"),
        Element(form + "button:nth-of-type(1)", "button", "button", "No", enabled=False),
        Element("div:nth-of-type(1) > button:nth-of-type(1)", "button", "button", "First"),
        Element("#a\\:b", "button", "button", "Second one"),
        Element("a:nth-of-type(1)", "link", "a", "In", away=True),
        Element("a:nth-of-type(2)", "link", "a", "Out", away=True),
        Element("a:nth-of-type(3)", "button", "a", "Act"),
        Element("input:nth-of-type(1)", "button", "checkbox"),
        Element("input:nth-of-type(2)", "field", "text", "r", enabled=False),
    )


def test_an_id_that_is_not_unique_is_no_selector(browser: Chromium) -> None:
    view = seen(browser, "<p id=x>one</p><button id=x>two</button>", every=True)
    assert [element.selector for element in view.elements] == ["button:nth-of-type(1)"]


@pytest.mark.parametrize("hostile", [
    "<script>Object.defineProperty(Element.prototype, 'id', {get() { throw 1 }})</script>",
    "<script>Array.prototype.push = Reflect.apply = CSS.escape = document.querySelectorAll = null</script>",
    "<script>Element.prototype.getClientRects = () => []; window.getComputedStyle = () => { throw 1 }</script>",
    "<img name=body><img name=querySelectorAll><img name=createTreeWalker>",
    """<script>const b = document.createElement("b"); document.body.append(b);
    for (let n = 0; n < 2e5; n++) b.append(document.createElement("i"))</script>""",
])
def test_a_page_cannot_hide_by_changing_its_world(browser: Chromium, hostile: str) -> None:
    view = seen(browser, f"{hostile}<form><input name=parentElement><input name=id><input name=matches>"
                         "<button id=go>Go</button></form>")
    assert [element.selector for element in view.elements] == [
        *(f"form:nth-of-type(1) > input:nth-of-type({place})" for place in (1, 2, 3)), "#go"]
    assert not view.blank


def test_at_most_200_elements(browser: Chromium) -> None:
    view = seen(browser, "<button>more</button>" * 6000)
    assert len(view.elements) == MAX_ELEMENTS
    assert view.clipped


def test_nothing_to_see(browser: Chromium) -> None:
    assert seen(browser, "") == View()
    assert not seen(browser, "text").blank
