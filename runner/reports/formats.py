"""The formats that evidence can be exported to: one line each. A renderer is loaded when it is used.

This module itself loads next to nothing: ``--help`` lists the formats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.evidence.check import Evidence


@dataclass(frozen=True, slots=True)
class Format:
    """One format: a pure function of the evidence, and the media type of what it returns.

    ``media_type`` is also the payload type when an export is signed, so it says what the bytes mean.
    """

    name: str
    media_type: str
    module: str
    function: str

    def render(self, evidence: Evidence) -> str:
        """The whole document, with a newline at its end. Raises EvidenceAltered."""
        renderer: Callable[[Evidence], str] = getattr(import_module(self.module), self.function)
        return renderer(evidence)


_ALL = (
    Format("md", "text/markdown", "runner.reports.markdown", "render_markdown"),
    Format("json", "application/vnd.sandbox-runner.result+json", "runner.reports.canonical", "render_json"),
    Format("html", "text/html", "runner.reports.html", "render_html"),
    Format("junit", "application/xml", "runner.reports.junit", "render_junit"),
    Format("sarif", "application/sarif+json", "runner.reports.sarif", "render_sarif"),
    Format("in-toto", "application/vnd.in-toto+json", "runner.reports.intoto", "render_intoto"),
)

FORMATS = {each.name: each for each in _ALL}
