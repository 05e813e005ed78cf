"""Threat: killing or filling the trusted helper through the one thing it touches, the volume (rows 7, 8, 19, 20).

Each attack runs twice under one steward: that the second run begins with the sealed tree shows that it lives.
"""

from __future__ import annotations

import pytest
from boundaries import here
from harness import MIB, POLICY, attack, attacks_with, ending

from runner.evidence.observation import Workspace
from runner.sandbox.policy import Policy

MANY = POLICY.model_copy(update={"work": POLICY.work.model_copy(update={"inodes": 20_000})})


def test_tree_as_deep_as_it_gets() -> None:
    """Row 7: three thousand levels: the walk stops at its depth, says so, and the tree is removed all the same."""
    for seen in attacks_with("""
        import os
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
        """, runs=2):
        assert ending(seen) == ("exited", 0, None)
        assert (seen.after, "too_deep" in seen.changes_note) == (None, True)


def test_longest_names_as_deep_as_it_gets() -> None:
    """Row 7: names of 255 bytes, a path of many thousands: too_deep or path_too_long, never a crash."""
    for seen in attacks_with("""
        import os
        for number in range(1500):
            name = f"{number:04}" + "n" * 251
            os.mkdir(name)
            os.chdir(name)
            open("leaf", "w").close()
        """, runs=2):
        assert ending(seen) == ("exited", 0, None)
        assert seen.after is None
        assert "path_too_long" in seen.changes_note or "too_deep" in seen.changes_note


def test_as_many_long_names_as_the_volume_holds() -> None:
    """Row 7, 20: sixteen thousand names of 250 bytes in deep directories: 24 MiB of text is the cap."""
    for seen in attacks_with("""
        import os
        for _ in range(6):
            os.mkdir("d" * 250)
            os.chdir("d" * 250)
        try:
            for number in range(16_000):
                os.close(os.open(f"{number:06}" + "n" * 244, os.O_CREAT | os.O_WRONLY))
        except OSError:
            pass
        """, runs=2, policy=MANY, timeout=60):
        assert ending(seen) == ("exited", 0, None)
        assert (seen.after, "too_much_text" in seen.changes_note) == (None, True)


def test_as_many_links_as_the_volume_holds() -> None:
    """Row 7: thousands of links with the longest targets: text again."""
    for seen in attacks_with("""
        import os
        try:
            for number in range(10_000):
                os.symlink("t" * 4000, f"{number}")
        except OSError:
            pass
        """, runs=2, policy=MANY, timeout=60):
        assert ending(seen) == ("exited", 0, None)
        assert seen.after is None
        assert "too_much_text" in seen.changes_note


def test_sparse_files_are_not_read_without_end() -> None:
    """Row 7: a thousand files of 24 MiB that take no space: reading stops at the volume's own size."""
    for seen in attacks_with("""
        for number in range(1000):
            with open(f"{number:04}", "wb") as file:
                file.truncate(24 << 20)
        """, runs=2):
        assert ending(seen) == ("exited", 0, None)
        assert (seen.after, seen.workspace) == (None, Workspace.ROOM)
        assert "too_large" in seen.changes_note


def test_hard_links_to_a_large_file_are_not_read_without_end() -> None:
    """Row 7: a thousand names of one file of 20 MiB count as 20 GB, and are not read as such."""
    for seen in attacks_with("""
        import os
        with open("one", "wb") as file:
            file.write(bytes(20_000_000))
        for number in range(1000):
            os.link("one", f"l{number}")
        """, runs=2):
        assert ending(seen) == ("exited", 0, None)
        assert (seen.after, "too_large" in seen.changes_note) == (None, True)


@pytest.mark.parametrize("piece", [0, 4096, MIB], ids=["inodes", "pages", "large files"])
def test_volume_filled_to_the_brim_run_after_run(piece: int) -> None:
    """Row 19, 20: what runs leave is charged to somebody; ten full volumes in a row and the steward still serves."""
    for seen in attacks_with(f"""
        try:
            for number in range(100_000):
                with open(f"{{number}}", "wb", 0) as file:
                    file.write(bytes({piece}))
        except OSError:
            pass
        """, runs=here(10), ahead=1):
        assert ending(seen) == ("exited", 0, None)
        assert seen.workspace in (Workspace.FULL_BYTES, Workspace.FULL_INODES)


def test_memory_of_the_steward_is_not_for_the_taking() -> None:
    """Row 20: the payload's own copies are what it needs memory for; a volume with 30 MiB more is the workload's."""
    policy: Policy = POLICY.model_copy(update={"memory": 128 * MIB})
    for seen in attack({f"{number}": bytes(MIB) for number in range(4)}, "head -c 20000000 /dev/urandom > a; "
                       "head -c 7000000 /dev/urandom > b; rm 0 1 2 3; exit 3", runs=4, jobs=2, ahead=1, policy=policy):
        assert ending(seen) == ("exited", 3, None)
        assert seen.after is not None


def test_removing_everything_is_a_list_of_removals() -> None:
    """Row 7: an empty volume is fine too."""
    for seen in attack({"a/b/c": "x", "d": "y"}, "rm -rf ./* ./.[!.]*", runs=2):
        assert {change.kind for change in seen.changes} == {"removed"}
        assert len(seen.changes) == 4
