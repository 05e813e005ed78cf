"""``runner export`` and ``runner export verify`` as a person or a script meets them."""

import json
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner
from export_validators import CHECKS
from openssl import make_key, verify_envelope
from stored_runs import FAILS, PASSES, make_evidence

from runner.cli.main import cli
from runner.reports.formats import FORMATS


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    return make_evidence(tmp_path_factory.mktemp("evidence"), (FAILS, PASSES))


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return make_key(tmp_path_factory.mktemp("keys"), "ed25519")


@pytest.fixture
def signed(evidence, keys, tmp_path):
    path = tmp_path / "statement.dsse.json"
    assert run("export", evidence.directory, "--format", "in-toto", "--sign", keys[0], "-o", path).exit_code == 0
    return path


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)


@pytest.mark.parametrize("name", [*FORMATS])
def test_each_format_to_standard_output_and_to_a_file(evidence, tmp_path, name):
    shown = run("export", evidence.directory, "--format", name)
    assert (shown.exit_code, shown.stderr) == (0, "")
    path = tmp_path / "export"
    written = run("export", evidence.directory, "--format", name, "-o", path)
    assert (written.exit_code, written.stdout, written.stderr) == (0, "", "")
    assert path.read_bytes() == shown.stdout_bytes == FORMATS[name].render(evidence).encode()
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("name", [*CHECKS])
def test_what_is_written_is_valid(evidence, name):
    CHECKS[name](run("export", evidence.directory, "--format", name).stdout)


def test_a_file_is_replaced_and_a_link_is_not_followed(evidence, tmp_path):
    (tmp_path / "old").write_text("old")
    assert run("export", evidence.directory, "--format", "json", "-o", tmp_path / "old").exit_code == 0
    assert json.loads((tmp_path / "old").read_text())["verdict"] == "not_reproduced"
    (tmp_path / "target").write_text("untouched")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    done = run("export", evidence.directory, "--format", "json", "-o", tmp_path / "link")
    assert (done.exit_code, "symbolic link" in done.stderr) == (2, True)
    assert (tmp_path / "target").read_text() == "untouched"


def test_nothing_is_written_among_the_evidence(evidence, tmp_path):
    (tmp_path / "aside").symlink_to(evidence.directory)
    before = sorted(evidence.directory.iterdir())
    for path in (evidence.directory / "report.md", evidence.directory / "stdout-1.bin", tmp_path / "aside" / "x"):
        done = run("export", evidence.directory, "--format", "md", "-o", path)
        assert (done.exit_code, "in which nothing changes" in done.stderr) == (2, True)
    assert sorted(evidence.directory.iterdir()) == before


def test_a_signed_export_is_verified_and_told(evidence, keys, signed, tmp_path):
    done = run("export", "verify", signed, "--key", keys[1])
    result = evidence.result
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, f"VERIFIED: signed by {keys[1]}")
    assert f"subject      payload {result.payload_fingerprint.exact}\n" in done.stdout
    assert f"subject      report {result.report_sha256}\n" in done.stdout
    assert "payload type application/vnd.in-toto+json\n" in done.stdout
    assert "result       FAILED\nverdict      not_reproduced\n" in done.stdout
    assert verify_envelope(signed.read_bytes(), "ed25519", keys[1], tmp_path).decode() == \
        FORMATS["in-toto"].render(evidence)


def test_verified_as_json(evidence, keys, signed):
    document = json.loads(run("export", "verify", signed, "--key", keys[1], "--json").stdout)
    assert (document["ok"], document["result"], document["run"]) == (True, "FAILED", evidence.result.run_id)
    assert [each["name"] for each in document["subjects"]] == ["payload", "report", "image"]


@pytest.mark.parametrize("name", [*FORMATS])
def test_every_format_can_be_signed_and_taken_out_again(evidence, keys, tmp_path, name):
    envelope, plain = tmp_path / "envelope", tmp_path / "plain"
    assert run("export", evidence.directory, "--format", name, "--sign", keys[0], "-o", envelope).exit_code == 0
    assert json.loads(envelope.read_text())["payloadType"] == FORMATS[name].media_type
    done = run("export", "verify", envelope, "--key", keys[1], "-o", plain)
    assert (done.exit_code, FORMATS[name].media_type in done.stdout) == (0, True)
    assert plain.read_text() == FORMATS[name].render(evidence)


def test_what_was_not_signed_so_is_refused_and_not_taken_out(keys, signed, tmp_path):
    signed.write_text(signed.read_text().replace("in-toto+json", "in-toto+jsom"))
    done = run("export", "verify", signed, "--key", keys[1], "-o", tmp_path / "plain")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("runner: not signed by this key, or changed since")
    assert not (tmp_path / "plain").exists()
    as_json = run("export", "verify", signed, "--key", keys[1], "--json")
    assert (as_json.exit_code, json.loads(as_json.stdout)["code"]) == (2, "signature")


def test_an_unsigned_export_is_not_verified(evidence, keys, tmp_path):
    path = tmp_path / "plain.json"
    run("export", evidence.directory, "--format", "in-toto", "-o", path)
    assert "not a signed export" in run("export", "verify", path, "--key", keys[1]).stderr


def test_a_key_for_everybody_is_warned_about(evidence, tmp_path):
    private, _ = make_key(tmp_path, "ed25519")
    private.chmod(0o644)
    done = run("export", evidence.directory, "--format", "md", "--sign", private)
    assert (done.exit_code, "WARNING" in done.stderr, "chmod 600" in done.stderr) == (0, True, True)


def test_an_unusable_key_leaves_nothing_behind(evidence, keys, tmp_path):
    done = run("export", evidence.directory, "--format", "md", "--sign", keys[1], "-o", tmp_path / "x")
    assert (done.exit_code, "not a private key" in done.stderr) == (2, True)
    assert not (tmp_path / "x").exists()


def test_a_run_directory_called_verify(evidence, tmp_path, monkeypatch):
    shutil.copytree(evidence.directory, tmp_path / "verify")
    monkeypatch.chdir(tmp_path)
    assert run("export", "./verify", "--format", "json").exit_code == 0
    assert "Missing option '--key'" in runner("export", "verify", "result.json").stderr


def runner(*words):
    """The whole program, with its own way to end."""
    return subprocess.run([sys.executable, "-m", "runner", *map(str, words)], capture_output=True, text=True,
                          check=False)


@pytest.mark.parametrize("words", [
    ("export",), ("export", "x"), ("export", "x", "--format", "pdf"), ("export", "verify"), ("export", "--nothing"),
    ("export", "no-such-run", "--format", "md"), ("export", "verify", "no-such-file", "--key", "no-such-key")])
def test_bad_usage_is_one_line(words):
    done = runner(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("runner: ")


def test_help_tells_of_both():
    shown = run("export", "--help").stdout
    assert "runner export verify FILE --key PUB" in shown
    assert "export verify [OPTIONS] FILE" in shown
    assert "--sign KEY" in shown
    assert "--key PUB" in run("export", "verify", "--help").stdout


LOADED = """
import sys
from click.testing import CliRunner
from runner.cli.main import cli
done = CliRunner().invoke(cli, sys.argv[1:])
print(done.exit_code, *sorted({name.split(".")[0] for name in sys.modules}))
"""


def loaded(*words):
    done = subprocess.run([sys.executable, "-c", LOADED, *map(str, words)], capture_output=True, text=True, check=True)
    code, *modules = done.stdout.split()
    assert code == "0"
    return set(modules)


def test_only_what_is_needed_is_loaded(evidence):
    assert not loaded("export", "--help") & {"pydantic", "cryptography", "securesystemslib", "jinja2", "docker"}
    assert not loaded("export", evidence.directory, "--format", "md") & {"cryptography", "securesystemslib", "jinja2",
                                                                         "docker"}


def test_what_was_verified_is_not_replaced_nor_is_evidence(evidence, signed, keys):
    before = signed.read_bytes()
    done = run("export", "verify", signed, "--key", keys[1], "-o", signed)
    assert (done.exit_code, signed.read_bytes()) == (2, before)
    assert "is the file that was verified" in done.stderr
    done = run("export", "verify", signed, "--key", keys[1], "-o", evidence.directory / "manifest.txt")
    assert done.exit_code == 2
    assert "in which nothing changes" in done.stderr
