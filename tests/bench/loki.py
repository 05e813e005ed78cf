"""LOKI, measured where ``loki`` is on PATH; otherwise the figure that was measured on such a machine before.

It runs as its users run it: on the host, with Debian's Chromium put where Playwright looks for its own builds.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CRASH_SECONDS = 9.87
"""``loki replay`` of the crash sample, 1.11.0 on two cores: the median of 10.13, 9.87 and 9.74."""

PORT = 8801


@contextmanager
def replaying(folder: Path, app: Path) -> Iterator[list[str] | None]:
    """The command that replays a crash run of LOKI's own, while the application runs; ``None`` without a LOKI."""
    program = shutil.which("loki")
    if program is None:
        yield None
        return
    place = folder / "loki"
    place.mkdir()
    words = ["env", "-C", str(place), f"PLAYWRIGHT_BROWSERS_PATH={_browsers(folder / 'browsers', program)}",
             "LITELLM_LOCAL_MODEL_COST_MAP=True", program]
    with _served(app):
        subprocess.run([*words, "run", f"http://127.0.0.1:{PORT}/", "-d", "5", "--seed", "7", "--persona",
                        "rage-clicker"], check=True, stdout=subprocess.DEVNULL)
        yield [*words, "replay"]


@contextmanager
def _served(app: Path) -> Iterator[None]:
    with subprocess.Popen([sys.executable, str(app), "--port", str(PORT)]) as process:
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", PORT)).close()
                    break
                except ConnectionRefusedError:
                    time.sleep(0.01)
            yield
        finally:
            process.kill()


def _browsers(folder: Path, program: str) -> Path:
    """Where its Playwright looks for builds: Debian's Chromium, without a window, and ffmpeg."""
    python = Path(program).read_text(encoding="utf-8").splitlines()[0].removeprefix("#!")
    driver = subprocess.run([python, "-c", "import playwright; print(playwright.__path__[0])"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout.strip()
    listed = json.loads(Path(driver, "driver", "package", "browsers.json").read_text(encoding="utf-8"))["browsers"]
    revisions = {entry["name"]: entry["revision"] for entry in listed}
    for name, places in {"chromium": ("chrome-linux/chrome", "chrome-linux64/chrome"),
                         "chromium-headless-shell": ("chrome-linux/headless_shell",
                                                     "chrome-headless-shell-linux64/chrome-headless-shell"),
                         "ffmpeg": ("ffmpeg-linux",)}.items():
        build = folder / f"{name.replace('-', '_')}-{revisions[name]}"
        for place in places:
            path = build / place
            path.parent.mkdir(parents=True, exist_ok=True)
            real = "/usr/bin/ffmpeg" if name == "ffmpeg" else "/usr/bin/chromium --headless --no-sandbox"
            path.write_text(f'#!/bin/sh\nexec {real} "$@"\n', encoding="utf-8")
            path.chmod(0o755)
        (build / "INSTALLATION_COMPLETE").touch()
    return folder
