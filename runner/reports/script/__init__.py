"""``repro_test.py``: a script that plays one incident again, for who has Playwright and not this tool."""

from runner.reports.script.render import render_script

__all__ = ["render_script"]
