"""When shell text may be run by exec."""

import pytest

from runner.workloads.command import CommandWorkload, is_simple_command


@pytest.mark.parametrize("text", [
    "python3 repro.py", "env A=1 python3 x.py", "./run --flag", "sh reproduce.sh", "python3 -c 'import os; os.abort()'",
    "node x.js > out.txt", "python3 x.py < in.txt", "  git status", 'prog "a && b"', "prog $HOME ~ *.py", "prog 2>&1"])
def test_one_program_is_run_by_exec(text):
    assert is_simple_command(text)
    assert CommandWorkload(shell=text).command_line == ("/bin/sh", "-c", f"exec {text}")
    assert CommandWorkload(shell=text).shell_speaks is False


@pytest.mark.parametrize("text", [
    "a; b", "a && b", "a || b", "a | b", "a &", "(a)", "a\nb", "cd x", "exit 3", "test -f x", "[ -f x ]", "if true",
    "A=1 prog", "prog $(date)", "'unclosed", "", " ", "{ a", "! a", "echo hi", "$PROG x", "trap x", "kill -9 1",
    "exec prog", "#x"])
def test_everything_else_is_left_to_the_shell(text):
    assert not is_simple_command(text)
    assert CommandWorkload(shell=text).command_line == ("/bin/sh", "-c", text)
    assert CommandWorkload(shell=text).shell_speaks is True


def test_an_argv_is_started_as_it_is():
    workload = CommandWorkload(argv=("prog", "a b"))
    assert (workload.command_line, workload.display, workload.shell_speaks) == (("prog", "a b"), "prog 'a b'", False)
