"""Threat: a work tree that lies, hangs its reader, or leads out of itself (rows 5, 6, 7, 8, 9, 10, 11)."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from boundaries import here
from harness import POLICY, attack, attack_with, attacks_with, changes, ending

SECRET_LINKS = {"passwd": "/etc/passwd", "environ": "/proc/1/environ", "shadow": "/etc/shadow", "zero": "/dev/zero",
                "self": "self", "up": "../../../../etc/passwd", "memory": "/proc/self/mem",
                "volume": "/volumes/2/report.txt", "pristine": "/pristine/report.txt", "tools": "/opt/tools/init"}


@pytest.mark.parametrize("name", SECRET_LINKS)
def test_declared_artifact_swapped_for_a_link_is_not_followed(name: str) -> None:
    """Row 5, 6: the link itself is the change; where it leads is never opened, in neither container."""
    seen, = attack({"report.txt": "sealed"}, f"ln -sfn {SECRET_LINKS[name]} report.txt", artifacts=("report.txt",))
    assert seen.artifacts == ()
    assert changes(seen) == {b"report.txt": ("modified", f"file, 6 bytes -> link to {SECRET_LINKS[name]}")}
    assert "not_a_file at report.txt" in seen.changes_note


def test_directory_swapped_for_a_link_is_not_followed() -> None:
    """Row 5: a pattern through a directory that has become a link to /etc finds nothing."""
    seen, = attack({"out/r.txt": "sealed"}, "rm -r out && ln -s /etc out", artifacts=("out/*", "out/**"))
    assert seen.artifacts == ()
    assert changes(seen) == {b"out": ("modified", "directory -> link to /etc"),
                             b"out/r.txt": ("removed", "file, 6 bytes")}


def test_swapping_while_running_ends_before_anybody_looks() -> None:
    """Row 5: a child that swaps file and link as fast as it can is dead before the tree is read."""
    for seen in attacks_with("""
        import os
        read, write = os.pipe()
        if os.fork() == 0:
            os.setsid()
            while True:
                for target in ("/etc/passwd", "/proc/1/environ"):
                    os.symlink(target, "next")
                    os.replace("next", "report.txt")
                with open("next", "w") as file:
                    file.write("root:x:fake")
                os.replace("next", "report.txt")
                os.write(write, b"x")
        os.read(read, 1)
        os._exit(0)
        """, payload={"report.txt": "sealed"}, artifacts=("report.txt",), runs=3):
        assert ending(seen) == ("exited", 0, None)
        assert [taken.data for taken in seen.artifacts] in ([], [b"root:x:fake"], [b""])


def test_rewrite_with_restored_size_and_time_is_modified() -> None:
    """Row 11: same size, same mtime to the nanosecond: content is always read."""
    seen = attack_with("""
        import os
        before = os.stat("data")
        with open("data", "r+") as file:
            file.write("2")
        os.utime("data", ns=(before.st_atime_ns, before.st_mtime_ns))
        assert os.stat("data").st_mtime_ns == before.st_mtime_ns
        """, payload={"data": "1 same size"})
    assert ending(seen) == ("exited", 0, None)
    assert changes(seen) == {b"data": ("modified", "file, 11 bytes, other content")}
    assert seen.before is not None
    assert seen.after is not None
    assert seen.after.exact != seen.before.exact


def test_program_that_rewrites_itself_is_modified_in_its_own_run_only() -> None:
    """Row 3, 11: the next run starts from what was sealed."""
    for seen in attacks_with("""
        with open("attack.py", "a") as file:
            file.write("# grown\\n")
        """, runs=3):
        assert [(change.kind, change.path) for change in seen.changes] == [("modified", b"attack.py")]


def test_files_that_hang_their_reader_are_only_listed() -> None:
    """Row 8: fifo, socket, and links to endless devices, declared as artifacts: listed by kind, never opened."""
    seen, = attack({}, "mkfifo fifo.txt; ln -s /dev/zero zero.txt; ln -s /dev/tty tty.txt; ln -s fifo.txt to-fifo.txt; "
                   "python3 -c 'import socket; socket.socket(1).bind(\"socket.txt\")'", artifacts=("*.txt",))
    assert ending(seen) == ("exited", 0, None)
    assert changes(seen) == {
        b"zero.txt": ("added", "link to /dev/zero"), b"tty.txt": ("added", "link to /dev/tty"),
        b"to-fifo.txt": ("added", "link to fifo.txt"),
        **here({b"fifo.txt": ("added", "fifo"), b"socket.txt": ("added", "socket")})}
    assert seen.artifacts == ()


def test_names_of_any_bytes_are_kept_and_printed_safely() -> None:
    """Row 9: newline, escape, bad UTF-8 and 255 bytes: exact as bytes in evidence."""
    names = [b"new\nline", b"\x1b[2Jcleared", b"bad\xff\xfeutf8", b"n" * 255, b" ", b"-rf", b"..\\..\\up", b"%2e%2e",
             b"a\\b", "ünï".encode(), b"tab\tquote\"'"]
    seen = attack_with(f"""
        import os
        for name in {names!r}:
            with open(name, "wb") as file:
                file.write(name)
            os.symlink(name, b"l" + name[:200])
        """, artifacts=("**",))
    assert set(changes(seen)) == {*names, *(b"l" + name[:200] for name in names)}
    taken = {artifact.path: artifact.data for artifact in seen.artifacts}
    assert {name: taken[name] for name in names} == {name: name for name in names}
    assert all(text.isprintable() for text in (*(change.detail for change in seen.changes), seen.changes_note))


def test_names_that_differ_by_case_or_normalisation_stay_two() -> None:
    """Row 10: what a run makes is listed as it is, without folding."""
    seen = attack_with("""
        for name in ("a", "A", "\\u00e9", "e\\u0301"):
            open(name, "w").write(name)
        """)
    assert set(changes(seen)) == {b"a", b"A", "\u00e9".encode(), "e\u0301".encode()}


def test_modes_that_lock_the_reader_out_are_no_hindrance() -> None:
    """Row 8: directories and files of mode 0 are looked at, listed with their modes, and removed."""
    for seen in attack({"d/f": "x"}, "echo y > d/g; chmod 0 d/f d/g d; mkdir -p p/q/r; chmod 0 p/q/r p/q p", runs=2):
        listed = changes(seen)
        assert set(listed) == {b"d", b"d/f", b"d/g", b"p", b"p/q", b"p/q/r"}
        assert listed[b"d"] == ("mode", "0755 -> 0000")
        assert listed[b"d/f"] == ("mode", "0644 -> 0000")


def test_volume_itself_cannot_be_moved_locked_or_replaced() -> None:
    """Row 3: the volume's root belongs to nobody inside: no chmod, rename, removal or mount over it."""
    seen, = attack({}, "chmod 0 .; mv /workspace /tmp/w; rm -r /workspace; ln -sfn /tmp /workspace; echo x > made")
    assert ending(seen) == ("exited", 0, None)
    assert changes(seen) == {b"made": ("added", "file, 2 bytes"), b"tmp": ("added", "link to /tmp")}


def test_set_id_bits_and_attributes_left_behind_are_recorded_not_used() -> None:
    """Row 2: modes are evidence; extended attributes change nothing."""
    seen = attack_with("""
        import os
        open("root", "w").close()
        os.chmod("root", 0o6777)
        try:
            os.setxattr("root", "user.note", b"x" * 100)
        except OSError:
            pass
        """, artifacts=("root",))
    assert changes(seen) == {b"root": ("added", "file, 0 bytes")}
    assert [taken.data for taken in seen.artifacts] == [b""]


def test_hard_links_within_the_volume_are_counted_as_files() -> None:
    """Row 7: five hundred names of one file are five hundred files, within the caps."""
    seen = attack_with("import os\nfor n in range(500): os.link('one', f'l{n}')\nos.unlink('attack.py')",
                       payload={"one": bytes(1000)})
    assert len(seen.changes) == 501
    assert seen.after is not None
    assert (seen.after.files, seen.after.bytes) == (501, 501_000)


def test_hard_links_to_files_outside_cannot_be_made() -> None:
    """Row 5: neither /etc/passwd nor our init can be linked into the volume."""
    seen, = attack({}, "ln /etc/passwd p; ln /.runner/init i; ln /proc/self/environ e; exit 0")
    assert seen.changes == ()


def _evil_tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, kind, target in (("../../escaped", tarfile.REGTYPE, ""), ("/tmp/absolute", tarfile.REGTYPE, ""),
                                   ("link", tarfile.SYMTYPE, "/etc"), ("link/inside", tarfile.REGTYPE, ""),
                                   ("hard", tarfile.LNKTYPE, "/etc/passwd"), ("device", tarfile.CHRTYPE, "")):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            tar.addfile(member)
    return buffer.getvalue()


def _evil_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("../../escaped", "x")
        archive.writestr("/absolute", "x")
    return buffer.getvalue()


@pytest.mark.parametrize("data", [_evil_tar(), _evil_zip()], ids=["tar", "zip"])
def test_archives_among_the_artifacts_are_bytes(data: bytes, tmp_path: Path) -> None:
    """Row 6: traversal names, links and devices in an archive do nothing: it is taken as it is, never unpacked."""
    seen, = attack({"source": data}, "cp source evil.tar", artifacts=("evil.tar",))
    taken, = seen.artifacts
    assert (taken.path, taken.data) == (b"evil.tar", data)
    assert list(tmp_path.parent.rglob("escaped")) == []


@pytest.mark.parametrize("pattern", ["../report.txt", "/etc/passwd", "../../etc/*", "../2/*", "x/../../2/report.txt",
                                     "", "/", "..", "/proc/1/environ"])
def test_artifact_patterns_do_not_leave_the_volume(pattern: str) -> None:
    """Row 6: a report may declare what it likes; only names below the volume's root are compared with it."""
    seen, = attack({"report.txt": "sealed"}, "mkdir -p x; true", artifacts=(pattern,))
    assert seen.artifacts == ()


def test_artifacts_beyond_the_cap_are_left_out_with_a_note() -> None:
    """Row 7, 17: too large, too many, or sparse: what was left out is named, what fits is taken."""
    seen, = attack({}, "head -c 2000000 /dev/zero > a-large; truncate -s 20M b-sparse; echo fits > c-small",
                   artifacts=("*",))
    assert [taken.path for taken in seen.artifacts] == [b"c-small"]
    assert seen.changes_note.count("too_large") == 2
    assert POLICY.output.artifacts < 2_000_000


def test_artifacts_by_the_thousand_are_cut_off() -> None:
    """Row 7: two thousand declared files: a bounded number is taken."""
    seen = attack_with("for n in range(2000): open(f'{n:04}.log', 'w').write('x')", artifacts=("*.log",))
    assert len(seen.artifacts) == 1000
    assert "too_many_files" in seen.changes_note


def test_pattern_made_to_explode_does_not() -> None:
    """Row 7: many stars against a long name take time in the product of the lengths only."""
    seen, = attack({"a" * 250: "x"}, "true", artifacts=("*a" * 120 + "b", "**/" * 60 + "z"))
    assert seen.artifacts == ()
