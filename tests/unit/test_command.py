"""When shell text may be run by exec."""

import subprocess

import pytest

from runner.workloads.command import CommandWorkload, is_simple_command


@pytest.mark.parametrize("text", [
    "python3 repro.py", "env A=1 python3 x.py", "./run --flag", "sh reproduce.sh", "python3 -c 'import os; os.abort()'",
    "node x.js > out.txt", "python3 x.py < in.txt", "  git status", 'prog "a && b"', "prog $HOME ~ *.py", "prog 2>&1"])
def test_one_program_is_run_by_exec(text):
    assert is_simple_command(text)
    blank = text[:len(text) - len(text.lstrip())]
    assert CommandWorkload(shell=text).command_line == ("/bin/sh", "-c", f"{blank}exec {text.lstrip()}")
    assert CommandWorkload(shell=text).shell_speaks is False


@pytest.mark.parametrize(("text", "line"), [
    ("A=1 prog", "A=1 exec prog"), ("PYTHONPATH=vendor:lib python3 x.py", "PYTHONPATH=vendor:lib exec python3 x.py"),
    ("A= B=/x/y,z=1 ./run A=2", "A= B=/x/y,z=1 exec ./run A=2"), (" A=1  prog 2>&1", " A=1  exec prog 2>&1")])
def test_plain_assignments_stay_before_exec(text, line):
    assert CommandWorkload(shell=text).command_line == ("/bin/sh", "-c", line)
    assert CommandWorkload(shell=text).shell_speaks is False


def test_a_program_run_by_exec_has_its_assignments():
    command = CommandWorkload(shell="""A=1 B=x=2 python3 -c 'import os; print(os.environ["A"], os.environ["B"])'""")
    done = subprocess.run(command.command_line, capture_output=True, text=True, check=True)
    assert done.stdout == "1 x=2\n"


@pytest.mark.parametrize("text", [
    "a; b", "a && b", "a || b", "a | b", "a &", "(a)", "a\nb", "cd x", "exit 3", "test -f x", "[ -f x ]", "if true",
    "A=1", "A=$X prog", "A='b c' prog", "A=1 cd x", "1A=1 prog", "A+=1 prog", "A[0]=1 prog", "prog $(date)",
    "'unclosed", "", " ", "{ a", "! a", "echo hi", "$PROG x", "trap x", "kill -9 1", "exec prog", "#x"])
def test_everything_else_is_left_to_the_shell(text):
    assert not is_simple_command(text)
    assert CommandWorkload(shell=text).command_line == ("/bin/sh", "-c", text)
    assert CommandWorkload(shell=text).shell_speaks is True


def test_an_argv_is_started_as_it_is():
    workload = CommandWorkload(argv=("prog", "a b"))
    assert (workload.command_line, workload.display, workload.shell_speaks) == (("prog", "a b"), "prog 'a b'", False)
