"""Settings: where they may come from, and what a file in a stranger's directory may not say."""

import pytest
from click.testing import CliRunner

from runner.cli.main import cli
from runner.cli.settings import settings
from runner.errors import UsageError


def test_a_variable_beats_a_file(tmp_path):
    (tmp_path / "runner.toml").write_text('runs = 3\npolicy = "strict"\n')
    assert settings({"RUNNER_RUNS": "5", "HOME": "/x"}, tmp_path) == {"runs": "5", "policy": "strict"}


def test_a_project_file_is_read_too(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.runner]\njobs = 2\n[tool.other]\nx = 1\n")
    assert settings({}, tmp_path) == {"jobs": 2}


@pytest.mark.parametrize("key", ["yes", "backend", "docker_network", "docker-image", "env", "inherit_env", "timeout",
                                 "nonsense"])
def test_a_file_cannot_widen_anything(tmp_path, key):
    (tmp_path / "runner.toml").write_text(f'{key} = "host"\n')
    with pytest.raises(UsageError, match=r"runner\.toml"):
        settings({}, tmp_path)


@pytest.mark.parametrize("policy", ["./evil.yaml", "evil.yaml", "/etc/evil"])
def test_a_file_cannot_name_a_policy_file(tmp_path, policy):
    (tmp_path / "runner.toml").write_text(f'policy = "{policy}"\n')
    with pytest.raises(UsageError, match="built-in policy"):
        settings({}, tmp_path)


def test_a_hosted_ci_job_is_not_a_mistake(tmp_path):
    hosted = {"RUNNER_OS": "Linux", "RUNNER_TEMP": "/t", "RUNNER_DEBUG": "1", "RUNNER_NAME": "x"}
    assert settings(hosted, tmp_path) == {}
    assert settings({"RUNNER_TEMP_PROJECT_DIR": "/builds/p.tmp", "RUNNER_SCRIPT_TIMEOUT": "15m"}, tmp_path) == {}


def test_the_store_is_no_option(tmp_path):
    assert settings({"RUNNER_STORE": "/somewhere"}, tmp_path) == {}


def test_an_unknown_variable_names_itself(tmp_path):
    with pytest.raises(UsageError, match="RUNNER_NONSENSE"):
        settings({"RUNNER_NONSENSE": "1"}, tmp_path)


@pytest.mark.parametrize("text", ["runs = [1]", "runs = ", "\0", "a" * 70_000])
def test_a_broken_file_is_one_line(tmp_path, text):
    (tmp_path / "runner.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        settings({}, tmp_path)
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("command", ["record", "replay", "chaos", "shrink"])
def test_whatever_runs_has_settings(command):
    done = CliRunner().invoke(cli, [command, "--help"], env={"RUNNER_NONSENSE": "1"})
    assert isinstance(done.exception, UsageError)
    assert "RUNNER_NONSENSE is not a setting" in done.exception.message
