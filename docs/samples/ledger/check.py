"""Adds up a ledger and complains when the sum is off: the sample that `make demo` records and replays."""

from pathlib import Path

WANTED = 42


def total(rows: list[str]) -> int:
    """The bug to show: a row that is not a number is counted as zero."""
    return sum(int(row) if row.isdigit() else 0 for row in rows)


def main() -> None:
    """Raise when the books do not balance."""
    found = total(Path("ledger.txt").read_text(encoding="utf-8").split())
    print(f"rows add up to {found}")
    if found != WANTED:
        raise ValueError(f"ledger is off: wanted {WANTED}, found {found}")


main()
