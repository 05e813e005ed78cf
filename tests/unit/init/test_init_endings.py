"""How the main process ended is told exactly, in the trailer and by the exit code."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from init_harness import python, run


@pytest.mark.parametrize("code", [0, 1, 70, 71, 72, 124, 125, 126, 127, 137, 139, 143, 255])
def test_an_exit_code_is_an_exit_code(init: Path, code: int) -> None:
    ended = run(init, "sh", "-c", f"exit {code}")
    assert (ended.ending, ended.code) == (("exited", code), code)


@pytest.mark.parametrize("number", [1, 2, 3, 6, 9, 11, 13, 15, 25, 64])
def test_a_signal_is_a_signal(init: Path, number: int) -> None:
    ended = run(init, "sh", "-c", f"kill -{number} $$")
    assert (ended.ending, ended.code) == (("signaled", number), 128 + number)


def test_the_main_process_has_the_same_number_each_time(init: Path) -> None:
    assert [run(init, "sh", "-c", "echo $$").stdout for _ in range(3)] == [b"32\n"] * 3


def test_a_real_segmentation_fault(init: Path) -> None:
    assert run(init, *python("import ctypes; ctypes.string_at(0)")).ending == ("signaled", 11)


def test_output_comes_before_the_trailer_and_is_not_changed(init: Path) -> None:
    ended = run(init, "sh", "-c", "echo out; printf 'no newline' >&2")
    assert (ended.stdout, ended.stderr, ended.ending) == (b"out\n", b"no newline", ("exited", 0))


def test_resources_are_reported(init: Path) -> None:
    ended = run(init, *python("sum(range(10**6))"))
    assert ended.trailer is not None
    assert ended.trailer.user_us + ended.trailer.system_us > 0
    assert ended.trailer.max_rss > 1 << 20
    assert ended.trailer.peak_memory is None or ended.trailer.peak_memory > 0


@pytest.mark.parametrize(("argv", "number"), [
    (("no-such-program",), errno.ENOENT),
    (("/no/such/program",), errno.ENOENT),
    (("",), errno.ENOENT),
    (("/etc/passwd",), errno.EACCES),
    (("/etc",), errno.EACCES),
    (("/etc/passwd/x",), errno.ENOTDIR),
])
def test_what_cannot_be_started_is_not_started(init: Path, argv: tuple[str, ...], number: int) -> None:
    ended = run(init, *argv)
    assert (ended.ending, ended.code) == (("not_started", number), 127)


def test_an_unknown_format_is_not_given_to_a_shell(init: Path, public_folder: Path) -> None:
    script = public_folder / "no-interpreter"
    script.write_bytes(b"echo ran\n")
    script.chmod(0o755)
    ended = run(init, str(script))
    assert (ended.ending, ended.stdout) == (("not_started", errno.ENOEXEC), b"")
    assert run(init, "no-interpreter", released=[("PATH", str(public_folder))]).ending == ended.ending


def test_a_program_found_but_not_executable_is_told_apart_from_none(init: Path, public_folder: Path) -> None:
    plain = public_folder / "not-executable"
    plain.write_bytes(b"#!/bin/sh\n")
    plain.chmod(0o644)
    path = f"/etc/passwd:{public_folder}:/nowhere"
    assert run(init, "not-executable", released=[("PATH", path)]).ending == ("not_started", errno.EACCES)


@pytest.mark.parametrize(("cwd", "number"), [("/no/such/folder", errno.ENOENT), ("/etc/passwd", errno.ENOTDIR)])
def test_a_missing_working_directory_is_not_started(init: Path, cwd: str, number: int) -> None:
    assert run(init, "true", cwd=cwd).ending == ("not_started", number)


def test_the_working_directory_is_set_and_relative_programs_are_found_there(init: Path, public_folder: Path) -> None:
    script = public_folder / "here"
    script.write_bytes(b"#!/bin/sh\npwd\n")
    script.chmod(0o755)
    assert run(init, "./here", cwd=str(public_folder)).stdout.decode() == f"{public_folder}\n"
    assert run(init, "here", cwd=str(public_folder), released=[("PATH", "")]).ending == ("exited", 0)


def test_too_large_an_argument_is_not_started(init: Path) -> None:
    assert run(init, "true", released=[("BIG", "x" * 200_000)]).ending == ("not_started", errno.E2BIG)


def test_no_room_for_another_process_is_not_started(init: Path) -> None:
    ended = run(init, "true", uid=27182, nproc=1)
    assert (ended.ending, ended.code) == (("not_started", errno.EAGAIN), 127)


def test_a_sibling_made_by_the_main_process_is_not_mistaken_for_it(init: Path) -> None:
    number = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
    clone_parent, child_signal = 0x8000, 17
    ended = run(init, *python(
        "import ctypes, os\n"
        f"sibling = ctypes.CDLL(None).syscall({number}, {clone_parent | child_signal}, 0, 0, 0, 0)\n"
        "if sibling == 0: os._exit(99)\n"
        "while os.path.exists(f'/proc/{sibling}'): pass\n"
        "os._exit(3)"))
    assert ended.ending == ("exited", 3)
