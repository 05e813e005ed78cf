"""Looking at a page as a user would: what is there to click on and to fill in, in the order of the document."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

from playwright.async_api import Error, Page

from runner.driver.world import ask

MAX_ELEMENTS, MAX_CANDIDATES = 200, 5000
MAX_SELECTOR, MAX_TEXT = 1000, 80
LOOK_SECONDS = 5.0

Role = Literal["button", "link", "field", "choice"]


@dataclass(frozen=True, slots=True)
class Element:
    """Something that can be acted on. ``button``: also whatever says that it is one, boxes to tick and summaries.
    ``field``: text can be put into it. ``choice``: a select. ``type`` is the input's, or the tag. ``away``: a link
    that leaves the application. ``login``: name, label or type speak of a user or a password.
    """

    selector: str
    role: Role
    type: str = ""
    text: str = ""
    enabled: bool = True
    away: bool = False
    login: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """What was seen. ``blank``: neither elements nor text. ``clipped``: there was more than 200 elements of it."""

    elements: tuple[Element, ...] = ()
    blank: bool = True
    clipped: bool = False

    def buttons(self) -> tuple[Element, ...]:
        """What takes clicks and is no link."""
        return tuple(item for item in self.elements if item.role == "button" and item.enabled)

    def targets(self) -> tuple[Element, ...]:
        """Buttons, and links that stay."""
        return tuple(item for item in self.elements
                     if item.role in {"button", "link"} and item.enabled and not item.away)

    def fields(self) -> tuple[Element, ...]:
        """What takes text."""
        return tuple(item for item in self.elements if item.role == "field" and item.enabled)

    def choices(self) -> tuple[Element, ...]:
        """Selects."""
        return tuple(item for item in self.elements if item.role == "choice" and item.enabled)


_LOOK = r"""limits => {
  const getter = (owner, name) => Object.getOwnPropertyDescriptor(owner.prototype, name).get;
  const call = Reflect.apply;
  const parentOf = getter(Node, "parentElement"), before = getter(Element, "previousElementSibling");
  const idOf = getter(Element, "id"), tagOf = getter(Element, "localName");
  const {getAttribute, hasAttribute, getClientRects, closest} = Element.prototype;
  const {querySelectorAll} = Document.prototype;
  const body = call(getter(Document, "body"), document, []);
  const find = selector => call(querySelectorAll, document, [selector]);
  const attribute = (node, name) => call(getAttribute, node, [name]) || "";
  const pathOf = node => {
    const id = call(idOf, node, []);
    if (id && id.length < 200 && find("#" + CSS.escape(id)).length === 1) return "#" + CSS.escape(id);
    const parts = [];
    for (; node && node !== body; node = call(parentOf, node, [])) {
      const tag = call(tagOf, node, []);
      let place = 1, steps = 0;
      for (let other = call(before, node, []); other; other = call(before, other, [])) {
        if (call(tagOf, other, []) === tag) place += 1;
        if (++steps > 10000) return "";
      }
      parts.unshift(`${CSS.escape(tag)}:nth-of-type(${place})`);
      if (parts.length > 60) return "";
    }
    return node ? parts.join(" > ") : "";
  };
  const textOf = node => {
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    let text = "";
    for (let seen = 0; text.length < limits.text && seen < 20 && walker.nextNode(); seen += 1) {
      text += walker.currentNode.data.slice(0, limits.text) + " ";
    }
    return text.replace(/\s+/g, " ").trim().slice(0, limits.text);
  };
  const visible = node => call(getClientRects, node, []).length > 0
    && getComputedStyle(node).visibility === "visible";
  const CLICKED = new Set(["submit", "button", "image", "reset", "checkbox", "radio"]);
  const roleOf = (tag, type) => {
    if (tag === "select") return "choice";
    if (tag === "textarea") return "field";
    if (tag === "input") return CLICKED.has(type) ? "button" : "field";
    return tag === "a" ? "link" : "button";
  };
  const describe = node => {
    const tag = call(tagOf, node, []);
    const type = tag === "input" ? (attribute(node, "type").toLowerCase() || "text") : tag;
    if (type === "hidden" || type === "file" || !visible(node)) return null;
    const isLink = tag === "a" && attribute(node, "role") !== "button";
    const selector = pathOf(node);
    if (!selector || selector.length > limits.selector) return null;
    const words = ["name", "id", "type", "autocomplete", "placeholder", "aria-label"];
    let away = false;
    if (tag === "a" && call(hasAttribute, node, ["href"])) {
      try {
        const url = new URL(attribute(node, "href"), document.baseURI);
        away = url.protocol !== "javascript:" && url.origin !== location.origin;
      } catch (error) { away = true; }
    }
    return {selector, role: isLink ? "link" : roleOf(tag === "a" ? "button" : tag, type), type, away,
      text: textOf(node) || (attribute(node, "value") || attribute(node, "placeholder")).slice(0, limits.text),
      enabled: !node.matches(":disabled") && attribute(node, "aria-disabled") !== "true"
        && !(call(hasAttribute, node, ["readonly"])),
      login: tag === "input" && /user|login|e-?mail|passw|account/i.test(
        words.map(word => attribute(node, word).slice(0, 100)).join(" "))};
  };
  if (!body) return {elements: [], blank: true, clipped: false};
  const elements = [], seen = new Set();
  const wanted = "button, input, textarea, select, a[href], summary, [role=button], [onclick]";
  let tried = 0, clipped = false;
  for (const node of find(wanted)) {
    if (elements.length >= limits.elements || ++tried > limits.candidates) { clipped = true; break; }
    if (node === body || call(closest, node, ["body"]) !== body) continue;
    const found = describe(node);
    if (found && !seen.has(found.selector)) { seen.add(found.selector); elements.push(found); }
  }
  const bare = textOf(body) === "" && find("img, svg, canvas, video").length === 0;
  return {elements, clipped, blank: elements.length === 0 && bare};
}"""


async def look(page: Page) -> View:
    """What there is to act on now, up to 200 elements. A page that cannot be asked, or not within 5 s, is blank."""
    limits = {"text": MAX_TEXT, "elements": MAX_ELEMENTS, "candidates": MAX_CANDIDATES, "selector": MAX_SELECTOR}
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            found: dict[str, Any] = await ask(page, _LOOK, limits)
    except (Error, TimeoutError):
        return View()
    elements = tuple(Element(**element) for element in found["elements"])
    return View(elements, found["blank"], found["clipped"])
