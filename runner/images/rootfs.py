"""The file tree of an image, from distribution packages: one mmdebstrap call, and one more for a program.

Packages are unpacked only (``--variant=extract``): no maintainer script runs, which is what makes the tree a
function of the packages alone. The suite's name is all that mmdebstrap gets; where the archive is, it knows.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.errors import SetupError
from runner.images.inputs import Inputs
from runner.images.overlay import overlay_tar
from runner.images.process import run_tool
from runner.images.recipe import Program

_STATUS = "/var/lib/dpkg/status"
# Programs name /usr/bin/sh and /bin/env alike, as on an installed system.
_MERGE_USR = 'for d in bin sbin lib lib64; do mkdir -p "$1/usr/$d" && ln -s "usr/$d" "$1/$d" || exit 1; done'
# Unpacked packages are not in dpkg's database; scanners, and our lock, look there.
_RECORD_PACKAGES = ('for deb in "$1"/var/cache/apt/archives/*.deb; do echo "Status: install ok installed" && '
                    f'dpkg-deb --field "$deb" && echo || exit 1; done > "$1{_STATUS}"')


@dataclass(frozen=True, slots=True)
class CompiledProgram:
    """A program and the dpkg status of the chroot in which it was compiled."""

    data: bytes
    status: bytes


def make_rootfs(inputs: Inputs, program: bytes | None, work: Path) -> Path:
    """Make the image's raw tree as a tar in ``work``, an empty folder. Raises SetupError."""
    scripts = _stage_scripts(inputs, work)
    overlay, tree = work / "overlay.tar", work / "tree.tar"
    overlay.write_bytes(overlay_tar(inputs, program))
    recipe = inputs.recipe
    run_tool([
        *_common(recipe.packages), "--format=tar",
        f"--extract-hook=tar-in {shlex.quote(str(overlay))} /",
        *(f"--extract-hook={_run(scripts[path])}" for path in recipe.finish),
        recipe.suite, str(tree),
    ], work)
    return tree


def compile_program(inputs: Inputs, program: Program, work: Path) -> CompiledProgram:
    """Compile the recipe's program in a chroot with the suite's own compiler. Raises SetupError."""
    scripts = _stage_scripts(inputs, work)
    sources = {name: work / f"source{number}" for number, name in enumerate(inputs.sources)}
    for name, path in sources.items():
        path.write_bytes(inputs.sources[name])
    result, status = work / "program", work / "status"
    run_tool([
        *_common(program.packages), "--format=null", '--extract-hook=mkdir "$1/build"',
        *(f"--extract-hook=upload {shlex.quote(str(path))} {shlex.quote('/build/' + name)}"
          for name, path in sources.items()),
        f"--extract-hook={_run(scripts[program.script])}",
        f"--extract-hook=download /build/program {shlex.quote(str(result))}",
        f"--extract-hook=download {_STATUS} {shlex.quote(str(status))}",
        inputs.recipe.suite, "-",
    ], work)
    try:
        return CompiledProgram(result.read_bytes(), status.read_bytes())
    except OSError as error:
        raise SetupError(f"images/{program.script} left no /build/program") from error


def _common(packages: Sequence[str]) -> list[str]:
    mode = "root" if os.geteuid() == 0 else "unshare"
    return ["--quiet", f"--mode={mode}", "--variant=extract", f"--include={','.join(sorted(packages))}",
            f"--setup-hook={_MERGE_USR}", f"--extract-hook={_RECORD_PACKAGES}"]


def _run(script: Path) -> str:
    # Through sh, so that neither an executable bit nor a /tmp mounted noexec matters.
    return f'sh {shlex.quote(str(script))} "$1"'


def _stage_scripts(inputs: Inputs, work: Path) -> dict[str, Path]:
    staged = {path: work / f"script{number}.sh" for number, path in enumerate(inputs.scripts)}
    for path, place in staged.items():
        place.write_bytes(inputs.scripts[path])
    return staged
