"""Numbers and names as a person reads them."""

from __future__ import annotations

import signal
from collections.abc import Iterable

_SECONDS_A_MINUTE = 60
_DASH = "\N{EN DASH}"
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(count: int) -> str:
    """Bytes with three significant digits: ``262 B``, ``9.42 MiB``."""
    value, unit = float(count), 0
    while value >= 1000 and unit + 1 < len(_UNITS):
        value, unit = value / 1024, unit + 1
    return f"{count} B" if unit == 0 else f"{value:.3g} {_UNITS[unit]}"


def seconds(value: float) -> str:
    """``0.146 s``, ``12.3 s``, ``2 min 5 s``."""
    if value < _SECONDS_A_MINUTE:
        return f"{value:.3f} s" if value < 10 else f"{value:.1f} s"
    return f"{int(value // _SECONDS_A_MINUTE)} min {value % _SECONDS_A_MINUTE:.0f} s"


def count(number: int, thing: str) -> str:
    """``1 run``, ``3 runs``."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def ranges(indices: Iterable[int]) -> str:
    """Sorted numbers with neighbours drawn together: ``1-3, 5`` with an en dash."""
    spans: list[list[int]] = []
    for index in indices:
        if spans and index == spans[-1][1] + 1:
            spans[-1][1] = index
        else:
            spans.append([index, index])
    return ", ".join(str(first) if first == last else f"{first}{_DASH}{last}" for first, last in spans)


def which_runs(indices: tuple[int, ...]) -> str:
    """``Run 4``, or ``Runs 1-3, 5 (4 in all)``; a very long list is cut, its count is not."""
    said = ranges(indices)
    if len(said) > 120:
        said = f"{said[:said.rindex(',', 0, 120)]}, …"
    return f"Run {said}" if len(indices) == 1 else f"Runs {said} ({len(indices):,} in all)" if "," in said \
        else f"Runs {said}"


def signal_name(number: int) -> str:
    """``SIGSEGV``, or ``signal 40`` where it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
