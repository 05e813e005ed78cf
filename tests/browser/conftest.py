"""Playwright records videos by a program of its own; here Debian's ffmpeg stands where it looks for that one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import playwright
import pytest

FFMPEG = Path("/usr/bin/ffmpeg")


@pytest.fixture(scope="session", autouse=True)
def ffmpeg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Its folder is named by the revision that this Playwright asks for."""
    listed = json.loads((Path(playwright.__file__).parent / "driver/package/browsers.json").read_text())["browsers"]
    revision = next(entry["revision"] for entry in listed if entry["name"] == "ffmpeg")
    folder = tmp_path_factory.mktemp("playwright")
    (folder / f"ffmpeg-{revision}").mkdir()
    (folder / f"ffmpeg-{revision}" / "ffmpeg-linux").symlink_to(FFMPEG)
    before = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    os.environ["PLAYWRIGHT_BROWSERS_PATH"] = str(folder)
    yield
    if before is None:
        del os.environ["PLAYWRIGHT_BROWSERS_PATH"]
    else:
        os.environ["PLAYWRIGHT_BROWSERS_PATH"] = before
