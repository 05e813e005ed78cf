"""What is different between two builds of an image, in lines that a person can act on."""

from __future__ import annotations

from runner.images.lock import ImageRecord
from runner.images.packages import differences


def changes(old: ImageRecord, new: ImageRecord) -> tuple[str, ...]:
    """Nothing when both are the same image; else why not: recipe, packages, compiler, program, or bytes."""
    if old.id == new.id:
        return ()
    lines = []
    if old.recipe != new.recipe:
        lines.append(f"recipe {old.recipe[:12]} → {new.recipe[:12]}")
    lines += differences(old.packages, new.packages)
    lines += [f"{line} (compiler's chroot)" for line in differences(old.toolchain, new.toolchain)]
    lines += [f"program {name} {old.programs.get(name, '-')[:12]} → {new.programs.get(name, '-')[:12]}"
              for name in sorted({*old.programs, *new.programs}) if old.programs.get(name) != new.programs.get(name)]
    return tuple(lines) or ("the same recipe and packages gave other bytes",)
