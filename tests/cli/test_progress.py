"""Progress under a real terminal and elsewhere."""

import re
import subprocess
import sys

import pytest
from terminals import Terminal, frames, python, screen

DRIVER = """
import sys
from runner.cli.progress import RunProgress
from runner.evidence.observation import Observation
from runner.evidence.verdict import Judged
from runner.oracles.judgement import unjudged
from runner.sandbox.exit import Cause, ExitStatus
import dataclasses

with RunProgress(int(sys.argv[1]), quiet="quiet" in sys.argv, plain="plain" in sys.argv) as progress:
    for index, outcome in enumerate(sys.stdin, 1):
        run = Observation(index, ExitStatus(Cause.EXITED, 1))
        progress.judged(Judged(run, dataclasses.replace(unjudged(""), outcome=outcome.strip())))
        print(index, flush=True)
print("done")
"""


def driven(*words, **options):
    return Terminal([*python(DRIVER), *words], **options)


def elapsed(frame):
    found = re.search(r"(\d+\.\d)s", frame)
    return float(found[1]) if found else None


def test_the_time_goes_on_while_a_run_does():
    with driven("3") as terminal:
        terminal.until(lambda drawn: len({elapsed(frame) for frame in frames(drawn)} - {None}) >= 3)
        assert all("run 1 of 3" in frame for frame in frames(terminal.drawn)[1:])


def test_the_run_and_the_outcomes_so_far():
    with driven("4") as terminal:
        for outcome in ("passed", "failed", "passed"):
            terminal.tell(outcome)
        terminal.until(lambda drawn: "2 passed" in frames(drawn)[-1] and "1 failed" in frames(drawn)[-1])
        line = frames(terminal.drawn)[-1]
        assert line.startswith("[" + "#" * 18 + "." * 6 + "]  3/4  ")
        assert "run 4 of 4" in line
        terminal.tell("timed_out")
        terminal.until(lambda drawn: "1 timed_out" in frames(drawn)[-1])
        assert "judging" in frames(terminal.drawn)[-1]
        code, out = terminal.end()
    assert (code, out.splitlines()[-1]) == (0, "done")


def test_nothing_is_left_on_the_screen():
    with driven("2") as terminal:
        terminal.until(lambda drawn: "run 1 of 2" in drawn)
        assert terminal.end()[0] == 0
        assert screen(terminal.drawn) == [""]


def test_outcomes_have_colours_unless_they_are_unwelcome():
    with driven("2") as terminal:
        terminal.tell("passed")
        assert "\x1b[32m  1 passed\x1b[0m" in terminal.until(lambda drawn: "1 passed" in drawn)
    with driven("2", env={"NO_COLOR": "1"}) as terminal:
        terminal.tell("passed")
        terminal.until(lambda drawn: "1 passed" in drawn)
        assert not re.search(r"\x1b\[\d+m", terminal.drawn)


@pytest.mark.parametrize("columns", [10, 20, 40, 61])
def test_a_line_fits_a_narrow_terminal(columns):
    with driven("1000", columns=columns) as terminal:
        for outcome in ("passed", "failed", "timed_out", "no_verdict"):
            terminal.tell(outcome)
        terminal.until(lambda drawn: "4/1000" in drawn)
        assert max(map(len, frames(terminal.drawn))) < columns


def test_a_terminal_may_change_its_width():
    with driven("9") as terminal:
        terminal.until(lambda drawn: "[....." in drawn)
        terminal.resize(30)
        terminal.until(lambda drawn: len(frames(drawn)) > 2 and frames(drawn)[-1].startswith("0/9"))


@pytest.mark.parametrize(("words", "env"), [((), {"TERM": "dumb"}), (("plain",), {})])
def test_plain_lines_where_nothing_can_be_drawn_over(words, env):
    with driven("2", *words, env=env) as terminal:
        terminal.tell("passed")
        terminal.tell("failed")
        terminal.until(lambda drawn: "run 2/2" in drawn)
        terminal.end()
        assert "\x1b" not in terminal.drawn
        assert re.fullmatch(r"run 1/2: passed \(exited\) at \d+\.\ds\r\nrun 2/2: failed \(exited\) at \d+\.\ds\r\n",
                            terminal.drawn)


def test_quiet_draws_nothing():
    with driven("1", "quiet") as terminal:
        terminal.tell("passed")
        assert terminal.end()[1] == "1\ndone\n"
        assert terminal.drawn == ""


def test_plain_lines_in_a_pipe():
    done = subprocess.run([sys.executable, "-c", DRIVER, "1"], input="passed\n", capture_output=True, text=True,
                          check=True)
    assert re.fullmatch(r"run 1/1: passed \(exited\) at \d+\.\ds\n", done.stderr)


def test_a_reader_that_went_away_ends_nothing():
    program = f"import os; os.close(2); os.open('/dev/full', os.O_WRONLY)\n{DRIVER}"
    done = subprocess.run([sys.executable, "-c", program, "1"], input="passed\n", capture_output=True, text=True,
                          check=True)
    assert done.stdout == "1\ndone\n"
