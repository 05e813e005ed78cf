"""Evidence to one HTML document that loads nothing, runs nothing and holds its own style."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from runner.errors import printable
from runner.evidence.check import Evidence
from runner.reports.html.page import page_of
from runner.reports.html.words import size

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_TITLE = 80


def render_html(evidence: Evidence) -> str:
    """The report. Pure: the same evidence gives the same text.

    Each value of the evidence reaches the page through one door: invisible characters are spelled out, then
    everything is escaped. Raises EvidenceAltered if an output file has changed since the evidence was opened.
    """
    template, style, digest = _prepared()
    return template.render(page=page_of(evidence), style=style, style_digest=digest)


def load() -> None:
    """Compile the templates now rather than at the first page: about 40 ms, once a process."""
    environment = _prepared()[0].environment
    for name in environment.list_templates(extensions=["html"]):
        environment.get_template(name)


@cache
def _prepared() -> tuple[Template, Markup, str]:
    """Template, style sheet, and the digest of the style sheet as a Content-Security-Policy names it."""
    environment = Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined,
                              finalize=_seen, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    environment.filters |= {"size": size, "shortened": _shortened}
    style = Markup((_TEMPLATES / "style.css").read_text(encoding="utf-8"))  # noqa: S704 - our own file
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return environment.get_template("page.html"), style, digest


def _seen(value: object) -> object:
    """What the template writes: markup of ours as it is, any other text without invisible characters."""
    return value if isinstance(value, Markup) else printable(str(value))


def _shortened(text: str) -> str:
    return text if len(text) <= _TITLE else f"{text[:_TITLE]}…"
