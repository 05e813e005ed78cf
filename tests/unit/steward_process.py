"""The real steward program as a child process, over pipes, on directories of a test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from trees import REPO, as_plain_user, plain_python

from runner.errors import StewardLost
from runner.sandbox.steward import Steward


class PipeChannel:
    """Channel over a child's stdin and stdout."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self._in, self._out = process, process.stdin, process.stdout

    def send(self, data: bytes) -> None:
        try:
            self._in.write(data)
            self._in.flush()
        except BrokenPipeError as error:
            raise StewardLost("the steward closed its input") from error

    def receive(self, count: int) -> bytes:
        data = self._out.read(count)
        if len(data) < count:
            raise StewardLost("the steward ended")
        return data


class StewardProcess:
    """Laid out as in the image: the program with the package beside it, its mounts as directories."""

    def __init__(self, folder: Path, volumes: int = 2, options: tuple[str, ...] = (), *, plain: bool = False) -> None:
        self.folder = folder
        home = folder / "opt"
        home.mkdir()
        shutil.copy(REPO / "images" / "steward" / "steward.py", home)
        os.symlink(REPO / "runner", home / "runner")
        self.pristine, self.volumes = folder / "pristine", [folder / f"volumes/{k}" for k in range(1, volumes + 1)]
        (folder / "tools").mkdir()
        (folder / "tools" / "init").write_bytes(b"init")
        for path in (self.pristine, *self.volumes):
            path.mkdir(parents=True)
            path.chmod(0o1777)
        places = [part for name in ("pristine", "volumes", "tools") for part in (f"--{name}", str(folder / name))]
        user: dict[str, Any] = as_plain_user() if plain else {}
        self.process = subprocess.Popen(
            [*(plain_python() if plain else [sys.executable]), "-I", "-B", "-S", str(home / "steward.py"),
             *places, *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/", env={}, **user)
        self.channel = PipeChannel(self.process)
        self.client = Steward(self.channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()
        self.process.wait(timeout=30)
