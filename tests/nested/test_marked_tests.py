"""The tests of subset.txt once more: on a nested engine by its socket, and over TCP with mutual TLS."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from controller_image import ROOT
from engine_container import EngineContainer

LISTED = {line for line in (Path(__file__).parent / "subset.txt").read_text().splitlines() if "::" in line}


@pytest.mark.parametrize("way", ["by_socket", "by_tls"])
def test_they_pass_there_too(engine: EngineContainer, way: str, tmp_path: Path) -> None:
    """All of them run: none is left out, none is skipped, and nothing is left on that engine."""
    report = tmp_path / "report.xml"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "nested", "-p", "no:cacheprovider", f"--junitxml={report}",
         f"--basetemp={tmp_path / 'theirs'}", "tests/engine", "tests/adversary"],
        cwd=ROOT, env=getattr(engine, way)(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    cases = list(ET.parse(report).getroot().iter("testcase"))
    assert Counter(child.tag for case in cases for child in case if child.tag != "properties") == {}
    ran = {f"{case.get('classname', '').removeprefix('tests.').replace('.', '/')}.py::"
           f"{case.get('name', '').partition('[')[0]}" for case in cases}
    assert (ran, len(cases) >= len(LISTED) >= 40) == (LISTED, True)
    assert engine.objects() == []
