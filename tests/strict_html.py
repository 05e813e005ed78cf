"""A judge of our HTML that is not ours: html5lib's strict parser, then every node against lists of what is allowed."""

from __future__ import annotations

import re

import html5lib

_TAGS = """
    html head meta title style body a header div p span code svg circle path rect h1 h2 h3 dl dt dd nav ul li main
    section table caption thead tbody tr th td details summary pre mark footer strong ol img video
    figure figcaption g line text desc
"""
TAGS = frozenset(_TAGS.split())
ATTRIBUTES = {
    "html": {"lang"}, "meta": {"charset", "http-equiv", "content", "name"}, "main": {"id", "tabindex"},
    "a": {"class", "href", "aria-label"}, "nav": {"aria-label"}, "section": {"aria-labelledby", "class"},
    "h1": set(), "h2": {"id"}, "details": {"id", "open", "class"},
    "div": {"class", "role", "aria-label", "tabindex"}, "pre": {"class", "role", "aria-label", "tabindex"},
    "span": {"class", "aria-hidden"}, "th": {"scope", "class"},
    "svg": {"class", "viewBox", "aria-hidden", "focusable", "preserveAspectRatio", "role", "aria-labelledby",
            "aria-describedby", "width", "height"},
    "li": {"id", "class"}, "tr": {"id", "class"}, "ul": {"class", "aria-label"}, "title": {"id"}, "desc": {"id"},
    "line": {"x1", "x2", "y1", "y2"}, "text": {"class", "x", "y", "dx", "dy"}, "img": {"class", "alt", "src"},
    "video": {"controls", "preload", "aria-label", "src"},
    "circle": {"cx", "cy", "r"}, "path": {"class", "d"}, "rect": {"class", "width", "height"},
}
"""Per tag; the others may have a class. No tag has ``style`` or an event handler, and ``src`` holds what it shows."""

_CLASSES = """
    skip top wrap eyebrow dot verdict mark lead command prompt strip body reasons warnings scroll facts note plain runs
    n memory bar all badge good bad flag which gap kind added modified removed mode other policy shell
    warn none verdicts timeline failing step fault shot recorded
    plot plots legend key area grid lines s1 s2 s3 plan lost below up across bars figures reached stopped over
    seen printed
    reproduced not-reproduced no-verdict pass fail inconclusive error b d e h i s u v
"""
COLOURS = {*(f"f{number}" for number in range(16)), *(f"g{number}" for number in range(8))}
CLASSES = COLOURS | set(_CLASSES.split())


def document(text: str):
    """The tree of a page. Raises html5lib's ParseError for anything that the standard calls a parse error."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)


def problems(text: str) -> list[str]:
    """What a page must not have, by the tree that a browser would build of it."""
    found = []
    for node in document(text).iter():
        if not isinstance(node.tag, str):
            found.append("a comment")
            continue
        tag = node.tag.rpartition("}")[2]
        if tag not in TAGS:
            found.append(f"<{tag}>")
        for name, value in node.attrib.items():
            found += _of_attribute(tag, name, value)
        if tag == "style" and len(node):
            found.append("markup in the style")
    return found


def _of_attribute(tag: str, name: str, value: str) -> list[str]:
    found = []
    if name not in ATTRIBUTES.get(tag, {"class"}):
        found.append(f"{tag} {name}=")
    if name == "class" and not set(value.split()) <= CLASSES:
        found.append(f"{tag} class={value}")
    if name == "href" and not re.fullmatch(r"#[a-z]+(-[0-9]+)?", value):
        found.append(f"{tag} href={value}")
    if name == "src" and not re.fullmatch(r"data:(image/png|video/webm);base64,[A-Za-z0-9+/]+={0,2}", value):
        found.append(f"{tag} src={value[:80]}")
    if name in ("id", "aria-labelledby", "aria-describedby") and not re.fullmatch(r"[a-z]+(-[0-9]+)?", value):
        found.append(f"{tag} {name}={value}")
    if tag == "meta" and name == "http-equiv" and value != "Content-Security-Policy":
        found.append(f"meta http-equiv={value}")
    return found


def text_of(text: str) -> str:
    """All text of the body."""
    return "".join(document(text).find("body").itertext())
