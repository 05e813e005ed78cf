"""The file tree of an image, from distribution packages: one mmdebstrap call, and one more each for a program and an
upper layer.

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
from runner.images.overlay import files_tar, overlay_tar
from runner.images.process import run_tool
from runner.images.recipe import Program, Top

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


def make_rootfs(inputs: Inputs, program: bytes | None, wheels: Path | None, work: Path) -> Path:
    """Make the image's raw tree as a tar in ``work``, an empty folder; ``wheels`` is a tar to unpack over the packages.

    Raises SetupError.
    """
    recipe, overlay = inputs.recipe, work / "overlay.tar"
    overlay.write_bytes(overlay_tar(inputs, program))
    return _make_tree(recipe.suite, _of_packages(recipe.packages), [wheels, overlay] if wheels else [overlay],
                      [inputs.scripts[path] for path in recipe.finish], work)


def make_top(inputs: Inputs, top: Top, needed: Path, work: Path) -> Path:
    """Make the tree that holds the recipe's upper layer, as a tar in ``work``, an empty folder; ``needed`` is a tar of
    what its scripts need. No package archive is asked for anything. Raises SetupError.
    """
    overlay = work / "overlay.tar"
    overlay.write_bytes(files_tar(inputs.top_files))
    return _make_tree(inputs.recipe.suite, [_mode(), "--variant=custom", "--skip=update"], [needed, overlay],
                      [inputs.top_scripts[path] for path in top.finish], work)


def _make_tree(suite: str, options: Sequence[str], tars: Sequence[Path], scripts: Sequence[bytes], work: Path) -> Path:
    tree, staged = work / "tree.tar", _stage_scripts(scripts, work)
    run_tool([
        "--quiet", *options, "--format=tar",
        *(f"--extract-hook=tar-in {shlex.quote(str(path))} /" for path in tars),
        *(f"--extract-hook={_run(script)}" for script in staged),
        suite, str(tree),
    ], work)
    return tree


def compile_program(inputs: Inputs, program: Program, work: Path) -> CompiledProgram:
    """Compile the recipe's program in a chroot with the suite's own compiler. Raises SetupError."""
    script, = _stage_scripts([inputs.scripts[program.script]], work)
    sources = {name: work / f"source{number}" for number, name in enumerate(inputs.sources)}
    for name, path in sources.items():
        path.write_bytes(inputs.sources[name])
    result, status = work / "program", work / "status"
    run_tool([
        "--quiet", *_of_packages(program.packages), "--format=null", '--extract-hook=mkdir "$1/build"',
        *(f"--extract-hook=upload {shlex.quote(str(path))} {shlex.quote('/build/' + name)}"
          for name, path in sources.items()),
        f"--extract-hook={_run(script)}",
        f"--extract-hook=download /build/program {shlex.quote(str(result))}",
        f"--extract-hook=download {_STATUS} {shlex.quote(str(status))}",
        inputs.recipe.suite, "-",
    ], work)
    try:
        return CompiledProgram(result.read_bytes(), status.read_bytes())
    except OSError as error:
        raise SetupError(f"images/{program.script} left no /build/program") from error


def _of_packages(packages: Sequence[str]) -> list[str]:
    return [_mode(), "--variant=extract", f"--include={','.join(sorted(packages))}",
            f"--setup-hook={_MERGE_USR}", f"--extract-hook={_RECORD_PACKAGES}"]


def _mode() -> str:
    return f"--mode={'root' if os.geteuid() == 0 else 'unshare'}"


def _run(script: Path) -> str:
    # Through sh, so that neither an executable bit nor a /tmp mounted noexec matters.
    return f'sh {shlex.quote(str(script))} "$1"'


def _stage_scripts(scripts: Sequence[bytes], work: Path) -> list[Path]:
    staged = [work / f"script{number}.sh" for number in range(len(scripts))]
    for place, script in zip(staged, scripts, strict=True):
        place.write_bytes(script)
    return staged
