"""One self-contained page for a person: what was claimed, what was seen, and how to check it."""

from runner.reports.html.render import load, render_html

__all__ = ["load", "render_html"]
