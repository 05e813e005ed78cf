"""Sample applications of ``tests/data``, each as a process of its own on a free port."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

DATA = Path(__file__).resolve().parents[1] / "data"


@contextmanager
def application(folder: str, ready: str, *options: str) -> Iterator[str]:
    """The URL of ``FOLDER/app.py``, started with these options, once the path ``ready`` answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(DATA / folder / "app.py"), "--port", str(port), *options])
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + 30
    try:
        while True:
            try:
                urlopen(url + ready, timeout=5).close()
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait()
