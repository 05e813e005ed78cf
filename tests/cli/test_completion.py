"""Completion in real shells, as somebody types."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from stored_runs import FACTS, FAILS, IMAGE, make_evidence

from runner.cli.completion import command
from runner.cli.main import cli
from runner.controller.replay import replay
from runner.controller.settle import ReplayRequest, settle
from runner.sandbox.backends.fake import FakeBackend

PATIENCE_SECONDS = 60
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(runner completion bash)"; PS1="> "'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -Uz compinit; compinit -D -u; eval "$(runner completion zsh)"; PS1="> "'),
}


def environment():
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {name: value for name, value in os.environ.items() if not name.startswith("RUNNER_")} | {
        "PATH": path, "TERM": "dumb", "LANG": "C.UTF-8"}


class Typist:
    """Somebody at an interactive shell."""

    def __init__(self, argv, place):
        self._master, slave = pty.openpty()
        self.shell = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, cwd=place, env=environment(),
                                      start_new_session=True)
        os.close(slave)
        self.seen = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shell.kill()
        self.shell.wait()
        os.close(self._master)

    def type(self, keys):
        self.seen = ""
        os.write(self._master, keys.encode())

    def until(self, pattern):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not re.search(pattern, self.seen):
            ready, _, _ = select.select([self._master], [], [], max(deadline - time.monotonic(), 0))
            assert ready, self.seen
            self.seen += os.read(self._master, 65536).decode(errors="replace")
        return self.seen


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with a store of one run, a file and a directory."""
    place = tmp_path_factory.mktemp("place")
    made = make_evidence(place / "made", (FAILS,)).directory.parent
    (place / "payloads").mkdir()
    (place / "bug.json").write_text("{}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNNER_STORE", str(place / ".runner"))
        request = ReplayRequest(report=str(made / "report.json"), payload=str(made / "ledger"))
        done = replay(settle(request), backend=FakeBackend((FAILS,), facts=FACTS, image=IMAGE))
    return place, done.result.run_id


@pytest.fixture(params=SHELLS)
def typist(request, place):
    argv, setup = SHELLS[request.param]
    with Typist(argv, place[0]) as typist:
        typist.type(f"{setup}\n echo re''ady\n")
        typist.until("ready")
        yield typist


@pytest.mark.parametrize(("typed", "completed"), [
    ("runner fing\t", r"runner fingerprint "), ("runner report val\t", r"report validate "),
    ("runner replay bug.json --docker-n\t", r"--docker-network "),
    ("runner replay --policy str\t", r"--policy strict "),
    ("runner replay --backend ho\t", r"--backend host "), ("runner report show bu\t", r"show bug\.json "),
    ("runner record --payload payl\t", r"--payload payloads/"), ("runner report diff lat\t", r"diff latest "),
    ("runner completion f\t", r"completion f")])
def test_words_are_completed(typist, typed, completed):
    typist.type(typed)
    typist.until(completed)


def test_run_ids_are_completed(typist, place):
    typist.type("runner report diff run_\t")
    typist.until(re.escape(place[1]))


@pytest.mark.parametrize(("typed", "completed"), [
    ("runner fing", "fingerprint"), ("runner report val", "validate"), ("runner replay --docker-n", "--docker-network"),
    ("runner replay --policy str", "strict"), ("runner report show bu", "bug.json")])
def test_fish(place, typed, completed):
    done = subprocess.run(["fish", "--no-config", "-c", f"runner completion fish | source; complete -C '{typed}'"],
                          capture_output=True, text=True, cwd=place[0], env=environment(), check=True)
    assert completed in [line.split("\t")[0] for line in done.stdout.splitlines()]


def printed(*words):
    return CliRunner().invoke(cli, ["completion", *words])


@pytest.mark.parametrize(("shell", "line"), [
    ("bash", "complete -o nosort -F _runner_completion runner"), ("zsh", "#compdef runner"),
    ("fish", 'complete --no-files --command runner --arguments "(_runner_completion)";')])
def test_a_script_is_static(shell, line, monkeypatch):
    script = printed(shell).stdout
    assert line in script
    monkeypatch.setenv("PATH", "/nowhere")
    again = printed(shell)
    assert (again.stdout, again.stderr) == (script, "")


def test_no_shell_is_a_question(place):
    done = printed()
    assert (done.exit_code, done.stdout.startswith("Usage: ")) == (0, True)


@pytest.mark.parametrize("shell", ["tcsh", "powershell", "\x1b[2J"])
def test_an_unknown_shell_is_refused(shell):
    done = CliRunner().invoke(command, [shell])
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "known: bash, zsh, fish" in done.stderr
    assert "\x1b" not in done.stderr


def test_completing_loads_no_command_it_does_not_need():
    """Commands are listed from a table: the SDK and pydantic would cost a second for each word."""
    program = ("import sys\nfrom runner.cli.main import cli, LazyGroup\nimport click\n"
               "found = cli.shell_complete(click.Context(cli), 'r')\n"
               "assert 'record' in [each.value for each in found]\n"
               "assert not {'pydantic', 'docker', 'yaml'} & sys.modules.keys()")
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_broken_store_completes_nothing(tmp_path):
    (tmp_path / ".runner").mkdir()
    (tmp_path / ".runner" / "index.db").write_text("no database")
    done = subprocess.run([sys.executable, "-m", "runner"], cwd=tmp_path, capture_output=True, text=True, check=True,
                          env=environment() | {"_RUNNER_COMPLETE": "bash_complete", "COMP_CWORD": "3",
                                               "COMP_WORDS": "runner\nreport\ndiff\nrun_"})
    assert (done.stdout, done.stderr) == ("file,run_\n", "")
