"""Run inside the controller's image while it is built: leave Python, and no other program.

Removed are all programs but Python (shells, package managers, set-id programs), pip and what belongs to it, and this
file. Python's own library, shared libraries and the authorities' certificates stay.
"""

from __future__ import annotations

import glob
import os
import shutil
import sys
import sysconfig

_PROGRAMS = ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/libexec",
             "/usr/lib/apt", "/usr/lib/dpkg", "/opt/runner/bin")
_PACKAGERS = ("pip", "pip-*", "setuptools", "setuptools-*", "wheel", "wheel-*", "pkg_resources", "_distutils_hack",
              "distutils-precedence.pth")


def main() -> None:
    """Remove, or raise OSError."""
    for folder in {os.path.realpath(name) for name in _PROGRAMS if os.path.isdir(name)}:
        for entry in os.scandir(folder):
            if not entry.name.startswith("python") and entry.name != "runner":
                _remove(entry.path)
    library = sysconfig.get_path("stdlib")
    places = {path for path in sys.path if path.endswith(("-packages",))}
    for place in places:
        for pattern in _PACKAGERS:
            for path in glob.glob(os.path.join(place, pattern)):
                _remove(path)
    for path in (os.path.join(library, "ensurepip"), "/usr/share/python-wheels", "/root", "/var/lib/apt", __file__):
        _remove(path)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


if __name__ == "__main__":
    main()
