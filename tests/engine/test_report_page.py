"""A replay leaves a page for people beside its evidence."""

import pytest
from strict_html import problems, text_of

from tests.engine.cli import runner

PROGRAM = r"""
print("\033]0;title\007<script>alert(1)</script>\033[31mred\033[0m")
raise SystemExit("off by one")
"""


@pytest.fixture
def report(tmp_path):
    (tmp_path / "payload").mkdir()
    (tmp_path / "payload/check.py").write_text(PROGRAM)
    done = runner("record", "--payload", "payload", "--command", "python3 check.py", "-o", "report.json", "--runs", 1,
                  cwd=tmp_path)
    assert done.code == 0, done.err
    return tmp_path / "report.json"


def test_a_replay_writes_its_page(report, tmp_path):
    done = runner("replay", report, "--payload", tmp_path / "payload", "--yes", "--json", "--runs", 2, "--out",
                  tmp_path / "evidence", cwd=tmp_path)
    assert done.code == 0, done.err
    file = tmp_path / "evidence/report.html"
    assert file.stat().st_mode & 0o777 == 0o600
    page = file.read_text()
    assert problems(page) == []
    said = text_of(page)
    assert "All 2 runs failed the way the report claims." in said
    assert "^[]0;title^G<script>alert(1)</script>red" in said
    assert done.json["events"]["head"] in said
    assert '<span class="f1">red</span>' in page
