"""Exports of browser sessions: what each says of failures, runs, application and browser, asked of others' parsers."""

import dataclasses
import shlex

import pytest
from export_validators import CHECKS, check_intoto, check_junit, check_markdown, check_sarif
from played_sessions import ALL, DATA, DRIVER_IMAGE, ITEMS, OTHER, REPORT, crashed, raced, recorded, replayed, stored
from stored_runs import IMAGE

from runner.cli.replay import command as replay_cli
from runner.evidence.check import Evidence, open_evidence
from runner.evidence.session_record import FailureVerdict
from runner.reports.formats import FORMATS
from runner.reports.session_words import is_recording
from runner.reports.sightings import sightings
from runner.reports.text import render_text
from runner.reports.words import counted, replay_command

PAGE_ERROR, ANSWER, IMAGE_GONE = "88c56a188919", "c47c63851f33", "e55f5e9b0944"
VERDICTS = {"reproduced": "reproduced", "partly": "reproduced", "gone": "not_reproduced", "diverged": "no_verdict",
            "not_ready": "no_verdict", "race": "reproduced", "tame": "not_reproduced", "recorded": "recorded",
            "quiet": "recorded", "cut": "no_verdict"}


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNNER_STORE", str(tmp_path_factory.mktemp("store") / "store"))
        yield


@pytest.fixture(scope="module")
def sessions(tmp_path_factory) -> dict[str, Evidence]:
    return {name: stored(tmp_path_factory.mktemp(name), name) for name in ALL}


def render(evidence, name):
    return FORMATS[name].render(evidence)


def with_session(evidence, **fields):
    session = evidence.result.session.model_copy(update=fields)
    return dataclasses.replace(evidence, result=evidence.result.model_copy(update={"session": session}))


def test_the_stored_sessions_are_what_they_are_called(sessions):
    assert {name: evidence.result.verdict for name, evidence in sessions.items()} == VERDICTS
    assert [name for name in ALL if is_recording(sessions[name].result)] == ["recorded", "quiet", "cut"]


@pytest.mark.parametrize("form", [*CHECKS])
@pytest.mark.parametrize("name", ALL)
def test_every_session_is_exported_in_every_format(sessions, name, form):
    once = render(sessions[name], form)
    CHECKS[form](once)
    assert once == render(open_evidence(sessions[name].directory), form)


@pytest.mark.parametrize(("name", "said"), [
    ("reproduced", "2 of 2 recorded failures in every one of 2 runs"),
    ("partly", "partly, 1 of 2 recorded failures in every one of 2 runs"),
    ("gone", "0 of 2 recorded failures in every one of 2 runs"), ("tame", "0 of 1 recorded failures in 1 run"),
    ("recorded", "2 failures found"), ("quiet", "0 failures found")])
def test_failures_are_counted(sessions, name, said):
    assert counted(sessions[name].result) == said


# JUnit

def kinds(evidence):
    """Of each test case: its name without an ID, and whether it failed."""
    return {case.name.rpartition(" (")[2].rstrip(")") or case.name: [type(each).__name__ for each in case.result]
            for case in check_junit(render(evidence, "junit"))}


@pytest.mark.parametrize(("name", "cases"), [
    ("reproduced", {"run 1": [], "run 2": [], PAGE_ERROR: [], ANSWER: [], "verdict": []}),
    ("partly", {"run 1": [], "run 2": [], PAGE_ERROR: [], ANSWER: ["Failure"], IMAGE_GONE: ["Skipped"],
                "verdict": []}),
    ("gone", {"run 1": ["Failure"], "run 2": ["Failure"], PAGE_ERROR: ["Failure"], ANSWER: ["Failure"],
              IMAGE_GONE: ["Skipped"], "verdict": ["Failure"]}),
    ("diverged", {"run 1": ["Error"], PAGE_ERROR: ["Error"], ANSWER: ["Error"], "verdict": ["Error"]}),
    ("not_ready", {"run 1": ["Error"], PAGE_ERROR: ["Error"], ANSWER: ["Error"], "verdict": ["Error"]}),
    ("recorded", {"run 1": [], PAGE_ERROR: ["Failure"], ANSWER: ["Failure"], "verdict": []}),
    ("quiet", {"run 1": [], "verdict": []}), ("cut", {"run 1": ["Error"], "verdict": ["Error"]})])
def test_junit_has_a_case_for_each_run_and_each_failure(sessions, name, cases):
    assert kinds(sessions[name]) == cases


def test_junit_has_the_output_of_the_application(sessions):
    cases = {case.name: case for case in check_junit(render(sessions["reproduced"], "junit"))}
    assert cases["run 1"].system_err == "127.0.0.1 GET /api/report 500\n"
    assert cases["run 1"].system_out == "-- the browser's driver --\nlaunched\nready\n"


def test_junit_says_when_a_failure_was_seen(sessions):
    text = render(sessions["recorded"], "junit")
    assert "run 1: once, step 0, 204 ms after the first navigation" in text


def test_a_failure_that_decides_nothing_fails_no_test_when_it_is_gone(sessions):
    light = tuple(each if each.id == PAGE_ERROR else each.model_copy(update={"grave": False})
                  for each in sessions["partly"].result.session.failures)
    evidence = with_session(sessions["partly"], failures=light)
    assert kinds(evidence)[ANSWER] == ["Skipped"]
    statement = check_intoto(render(evidence, "in-toto"))["predicate"]
    assert (statement["failedTests"], len(statement["warnedTests"])) == ([], 2)


# SARIF

def results(evidence):
    run = check_sarif(render(evidence, "sarif"))
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[each["ruleIndex"]] == each["ruleId"] for each in run["results"])
    return run["results"]


def brief(evidence):
    return [(each["ruleId"], each["kind"], each["level"]) for each in results(evidence)]


@pytest.mark.parametrize(("name", "found"), [
    ("reproduced", [("RUN2001", "fail", "error"), ("RUN2002", "fail", "error")]),
    ("partly", [("RUN2001", "fail", "error"), ("RUN2002", "pass", "none"), ("RUN2002", "fail", "warning")]),
    ("gone", [("RUN1002", "fail", "warning"), ("RUN2001", "pass", "none"), ("RUN2002", "pass", "none"),
              ("RUN2002", "fail", "warning"), ("RUN1003", "fail", "warning"), ("RUN1003", "fail", "warning")]),
    ("diverged", [("RUN1004", "open", "none"), ("RUN2001", "open", "none"), ("RUN2002", "open", "none"),
                  ("RUN1004", "open", "none")]),
    ("race", [("RUN2010", "fail", "error")]), ("recorded", [("RUN2001", "fail", "error"),
                                                            ("RUN2002", "fail", "error")]),
    ("quiet", []), ("cut", [("RUN1004", "open", "none"), ("RUN1004", "open", "none")])])
def test_sarif_has_a_result_for_each_failure(sessions, name, found):
    assert brief(sessions[name]) == found


def place(result):
    physical = result["locations"][0]["physicalLocation"]
    region = physical.get("region", {})
    return physical["artifactLocation"]["uri"], region.get("startLine"), region.get("startColumn")


def test_sarif_names_the_page_and_the_line(sessions):
    for name in ("reproduced", "recorded"):
        first, second = results(sessions[name])
        assert place(first) == ("http://127.0.0.1:8801/", 42, 17)
        assert place(second) == ("http://127.0.0.1:8801/api/report", None, None)
    (race,) = results(sessions["race"])
    assert place(race) == ("http://127.0.0.1:8801/coupon", None, None)


def test_a_failure_has_one_fingerprint_wherever_it_is_seen(sessions):
    ours, theirs = (results(sessions[name])[0]["fingerprints"] for name in ("recorded", "partly"))
    assert ours == theirs


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "http://[", "http://x:99999/", "//x/y",
                                 "data:text/html,x", "", "http://"])
def test_what_is_no_url_of_a_page_is_no_location(tmp_path, url):
    signal = dataclasses.replace(REPORT, url=url, page=url)
    evidence = recorded(tmp_path, signal)
    assert sightings(evidence) == {}
    assert place(results(evidence)[0])[0] == "http://127.0.0.1:8801/"


@pytest.mark.parametrize(("url", "uri"), [
    ('http://127.0.0.1/a b?c=[d]#"e', "http://127.0.0.1/a%20b?c=%5Bd%5D#%22e"),
    ("http://[::1]:8/x", "http://[::1]:8/x"),
    ("http://user:pass@host/%zz%41", "http://host/%25zz%41"), ("https://host/\u00e4", "https://host/%C3%A4")])
def test_urls_are_made_valid(tmp_path, url, uri):
    evidence = recorded(tmp_path, dataclasses.replace(OTHER, url=url))
    assert [each.url for each in sightings(evidence).values()] == [uri]
    check_sarif(render(evidence, "sarif"))


# in-toto

def test_in_toto_names_both_images_and_both_policies(sessions):
    statement = check_intoto(render(sessions["reproduced"], "in-toto"))
    subjects = {each["name"]: each["digest"]["sha256"] for each in statement["subject"]}
    result = sessions["reproduced"].result
    assert subjects == {"payload": result.payload_fingerprint.exact, "incident": result.report_sha256,
                        "image": IMAGE.id.removeprefix("sha256:"),
                        "browser-image": DRIVER_IMAGE.id.removeprefix("sha256:")}
    configured = {each["name"]: each["digest"]["sha256"] for each in statement["predicate"]["configuration"]}
    assert configured["policy"] == result.policy.sha256
    assert configured["browser-policy"] == result.session.driver_policy.sha256


@pytest.mark.parametrize(("name", "said", "counts"), [
    ("reproduced", "PASSED", (4, 0, 0)), ("partly", "WARNED", (3, 2, 0)), ("gone", "FAILED", (0, 1, 4)),
    ("diverged", "FAILED", (0, 0, 3)), ("recorded", "WARNED", (1, 2, 0)), ("quiet", "PASSED", (1, 0, 0)),
    ("cut", "FAILED", (0, 0, 1))])
def test_in_toto_has_runs_and_failures_as_tests(sessions, name, said, counts):
    predicate = check_intoto(render(sessions[name], "in-toto"))["predicate"]
    assert predicate["result"] == said
    assert tuple(len(predicate[kind]) for kind in ("passedTests", "warnedTests", "failedTests")) == counts


def test_a_recording_that_came_to_nothing_has_no_incident(sessions):
    statement = check_intoto(render(sessions["cut"], "in-toto"))
    assert [each["name"] for each in statement["subject"]] == ["payload", "image", "browser-image"]


# Markdown

def tables(page):
    """Rows of cell texts below each heading."""
    found, heading = {}, ""
    for element in page.iter("h1", "h2", "table"):
        if element.tag == "table":
            found[heading] = [[cell.text_content() for cell in row] for row in element.iter("tr")][1:]
        else:
            heading = element.text
    return found


def test_markdown_has_a_row_for_each_failure(sessions):
    found = tables(check_markdown(render(sessions["partly"], "md")))
    assert [(row[0], row[2], row[3]) for row in found["Failures"]] == [
        ("reproduced", PAGE_ERROR, "2 of 2"), ("gone", ANSWER, "0 of 2"), ("new", IMAGE_GONE, "1 of 2")]
    assert found["The application"][0][:2] == ["1", "stopped when the session was over"]


def test_markdown_names_the_step_that_was_not_taken(sessions):
    found = tables(check_markdown(render(sessions["diverged"], "md")))
    assert found["Steps that were not taken"] == [
        ["1", "4", "click #pay 5 times", "missing", "no element matches #pay", "shot-0.png"]]


def test_markdown_has_the_lanes_of_a_race(sessions):
    found = tables(check_markdown(render(sessions["race"], "md")))
    assert found["Lanes: raced in 2 of 2 runs"][:2] == [
        ["1", "0", "#redeem", "0.0", "POST http://127.0.0.1:8801/api/redeem 200", "none"],
        ["1", "1", "#redeem", "1.5", "POST http://127.0.0.1:8801/api/redeem 200", "none"]]


def test_markdown_tells_how_an_application_ended(sessions):
    page = check_markdown(render(sessions["not_ready"], "md"))
    assert tables(page)["The application"][0][1] == "exited 3"
    assert "cannot bind" in [block.text_content().strip() for block in page.iter("pre")]


def test_markdown_shows_noise_by_rule(tmp_path):
    noise = dataclasses.replace(OTHER, own="favicon", url="http://127.0.0.1:8801/favicon.ico")
    found = tables(check_markdown(render(replayed(tmp_path, [crashed(ITEMS, REPORT, noise)]), "md")))
    assert [row[1] for row in found["Noise"]] == ["1"]


# The terminal

def test_a_terminal_is_told_how_the_application_ended_and_each_reason_once(sessions):
    said = render_text(sessions["cut"].result, "there")
    assert said.count("cannot bind") == 1
    assert "ended        the application of run 1: exited 3\n" in said
    assert "ended " not in render_text(sessions["reproduced"].result, "there")


# The command

def command(evidence):
    return shlex.split(replay_command(evidence.result))


def test_the_command_of_a_loki_incident_names_directory_payload_and_command(sessions):
    assert command(sessions["reproduced"]) == [
        "runner", "replay", "crash", "--payload", "shop", "--target-command", "python3 app.py --port 8801",
        "--runs", "2", "--yes"]


def test_the_command_of_a_recording_names_its_run_directory(sessions):
    assert command(sessions["recorded"])[:5] == ["runner", "replay", "run", "--payload", "shop"]
    assert "--ready" not in command(sessions["recorded"])  # the incident knows it


def test_the_command_has_what_the_session_was_started_with(tmp_path):
    evidence = replayed(tmp_path, [crashed(ITEMS, REPORT)], video=True, url="http://127.0.0.1:9000/", ready="/-x y",
                        ready_status=204, ready_timeout=12.5, env=("MODE=strict",))
    said = command(evidence)
    assert said[7:] == ["--target-url", "http://127.0.0.1:9000/", "--ready", "/-x y", "--ready-status", "204",
                        "--ready-timeout", "12.5", "--video", "--runs", "1", "--yes", "--env", "MODE=VALUE"]
    assert replay_cli.make_context("replay", said[2:]).params["ready_timeout"] == 12.5


def test_an_application_elsewhere_is_no_payload(sessions):
    result = sessions["reproduced"].result.model_copy(update={"payload": ""})
    evidence = with_session(dataclasses.replace(sessions["reproduced"], result=result), target_command=None,
                            options=("--target-url", "http://there/", "--docker-network", "bridge"))
    assert command(evidence) == ["runner", "replay", "crash", "--target-url", "http://there/", "--docker-network",
                                 "bridge", "--runs", "2", "--yes"]
    assert "payload" not in {each["name"] for each in check_intoto(render(evidence, "in-toto"))["subject"]}


# Masking

@pytest.mark.parametrize("value", ["done", "json", "chaos", "play", "recorded", "reproduced", "stepped", "pageerror",
                                   "raced", "stopped", "clip", "shot"])
def test_a_secret_that_is_one_of_our_words_leaves_the_evidence_whole(tmp_path, value):
    race = DATA / "loki" / "race"
    evidence = replayed(tmp_path, [raced(200, 200, 200)], incident=race, env=(f"APP_TOKEN={value}",))
    assert open_evidence(evidence.directory).result.session.rate == "raced in 1 of 1 runs"


def test_thousands_of_failures_are_bounded(sessions):
    many = tuple(FailureVerdict(id=f"{number:012x}", key="k" * 2_000, kind="dialog", state="new", seen=1, runs=1)
                 for number in range(2_000))
    evidence = with_session(sessions["reproduced"], failures=many)
    for form, check in CHECKS.items():
        text = render(evidence, form)
        check(text)
        assert form == "json" or len(text) < 3 << 20
