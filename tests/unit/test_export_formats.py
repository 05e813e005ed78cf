"""Every format of the evidence: what it says, asked of parsers that are not ours."""

import dataclasses
from hashlib import sha256

import pytest
from export_validators import CHECKS, check_intoto, check_json, check_junit, check_markdown, check_sarif
from stored_runs import FAILS, PASSES, TIMED_OUT, make_evidence, silent

from runner.evidence.events import canonical
from runner.evidence.result import Drift
from runner.oracles.contract import Contract, ProcessSignature
from runner.reports.formats import FORMATS
from runner.sandbox.exit import Cause, ExitStatus

LOST = dataclasses.replace(silent(FAILS), status=ExitStatus(Cause.INIT_LOST, None), artifacts=())


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    return make_evidence(tmp_path_factory.mktemp("reproduced"), (FAILS, FAILS))


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    return make_evidence(tmp_path_factory.mktemp("mixed"), (FAILS, PASSES, TIMED_OUT))


@pytest.fixture(scope="module")
def undecided(tmp_path_factory):
    return make_evidence(tmp_path_factory.mktemp("undecided"), (FAILS, LOST))


def changed(evidence, **fields):
    """The same evidence with another result."""
    return dataclasses.replace(evidence, result=evidence.result.model_copy(update=fields))


def render(evidence, name):
    return FORMATS[name].render(evidence)


def test_each_format_has_a_validator_of_others():
    assert {*CHECKS, "html"} == set(FORMATS)
    assert len({each.media_type for each in FORMATS.values()}) == len(FORMATS)


@pytest.mark.parametrize("name", [*FORMATS])
def test_an_export_is_a_pure_function(mixed, name):
    once = render(mixed, name)
    assert once == render(mixed, name)
    assert once.rstrip("\n")


def test_json_is_the_result_and_its_digest_is_in_the_log(mixed):
    document = check_json(render(mixed, "json"))
    del document["events"]
    assert sha256(canonical(document)).hexdigest() == mixed.events[-1].data["result_sha256"]


@pytest.mark.parametrize(("name", "headline"), [
    ("reproduced", "REPRODUCED: 2 of 2 runs matched"), ("mixed", "NOT REPRODUCED: 1 of 3 runs matched"),
    ("undecided", "NO VERDICT: 1 of 2 runs matched")])
def test_markdown_begins_with_the_verdict(request, name, headline):
    text = render(request.getfixturevalue(name), "md")
    page = check_markdown(text)
    assert next(page.iter("h1")).text == headline
    assert text.startswith(f"# {headline}\n")


def tables(page):
    """Rows of cell texts below each heading."""
    found, heading = {}, ""
    for element in page.iter("h1", "h2", "table"):
        if element.tag == "table":
            found[heading] = [[cell.text_content() for cell in row] for row in element.iter("tr")]
        else:
            heading = element.text
    return found


def test_markdown_has_a_row_for_each_run(mixed):
    head, *rows = tables(check_markdown(render(mixed, "md")))["Runs"]
    assert [dict(zip(head, row, strict=True))["Accepted"] for row in rows] == ["yes", "no", "no"]
    assert [row[2] for row in rows] == ["exited 1", "exited 0", "timed_out"]
    assert [row[-1] for row in rows] == ["", "exit code 0, expected 1", "timeout: the run did not end in time"]


def test_markdown_shows_drift_changes_and_output(mixed):
    page = check_markdown(render(changed(mixed, drift=(Drift(what="timeout", recorded="20", used="9"),)), "md"))
    found = tables(page)
    assert found["Drift"] == [["What", "Recorded", "Used"], ["timeout", "20", "9"]]
    assert found["Changes to the payload"][1] == ["added", "out.log", "file, 4 bytes"]
    assert "all is well" in [block.text_content().strip() for block in page.iter("pre")]


def test_markdown_says_how_to_replay(mixed):
    odd = changed(mixed, report="/tmp/-o it's.json", environment_names=("MODE",), timeout_source="override")
    command = list(check_markdown(render(odd, "md")).iter("pre"))[-1].text_content().strip()
    assert command == ("""runner replay './-o it'"'"'s.json' --payload ledger --runs 3 --yes """
                       "--env MODE=VALUE --timeout 20")


def test_junit_has_a_case_for_each_run_and_one_for_the_verdict(mixed):
    suite = check_junit(render(mixed, "junit"))
    cases = {case.name: case for case in suite}
    assert [*cases] == ["run 1", "run 2", "run 3", "verdict"]
    assert (cases["run 1"].result, cases["run 1"].time) == ([], 0.25)
    assert [type(cases[name].result[0]).__name__ for name in ("run 2", "run 3", "verdict")] == ["Failure"] * 3
    assert cases["run 2"].result[0].message == "exit code 0, expected 1"
    assert "ValueError: ledger is off" in cases["run 1"].system_err
    assert {each.name: each.value for each in suite.properties()}["verdict"] == "not_reproduced"


def test_junit_has_errors_where_nothing_can_be_said(undecided):
    cases = {case.name: case for case in check_junit(render(undecided, "junit"))}
    assert [type(cases[name].result[0]).__name__ for name in ("run 2", "verdict")] == ["Error", "Error"]
    assert cases["verdict"].result[0].type == "no_verdict"


def test_junit_of_a_reproduced_report_passes(reproduced):
    suite = check_junit(render(reproduced, "junit"))
    assert (suite.tests, suite.failures, suite.errors) == (3, 0, 0)


def test_sarif_points_at_the_failing_line(reproduced):
    run = check_sarif(render(reproduced, "sarif"))
    assert [result["ruleId"] for result in run["results"]] == ["RUN1001"]
    physical = run["results"][0]["locations"][0]["physicalLocation"]
    assert (physical["artifactLocation"]["uri"], physical["region"]) == ("check.py", {"startLine": 17})
    frames = [frame["location"] for frame in run["results"][0]["stacks"][0]["frames"]]
    assert [frame["logicalLocations"][0]["fullyQualifiedName"] for frame in frames] == [
        "check.py:main", "check.py:<module>"]
    assert [frame["physicalLocation"]["region"]["startLine"] for frame in frames] == [17, 22]


def test_sarif_has_a_finding_for_each_run_that_was_not_accepted(mixed):
    run = check_sarif(render(mixed, "sarif"))
    assert [(each["ruleId"], each["kind"], each["level"]) for each in run["results"]] == [
        ("RUN1002", "fail", "warning"), ("RUN1003", "fail", "warning"), ("RUN1003", "fail", "warning")]
    assert [each["ruleId"] for each in run["results"]] == [
        run["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] for each in run["results"]]
    assert [each["properties"]["run"] for each in run["results"][1:]] == [2, 3]
    assert all(each["locations"] for each in run["results"])


def test_sarif_leaves_open_what_cannot_be_said(undecided):
    results = check_sarif(render(undecided, "sarif"))["results"]
    assert [(each["kind"], each["level"]) for each in results] == [("open", "none")] * 2


def test_sarif_fingerprints_are_those_of_the_report_and_not_of_the_replay(tmp_path, mixed):
    def prints(evidence):
        return [each["fingerprints"] for each in check_sarif(render(evidence, "sarif"))["results"]]

    later = changed(mixed, run_id="run_20300101_000000_00000000", started="2030-01-01T00:00:00Z")
    assert prints(mixed) == prints(later)
    assert len({str(each) for each in prints(mixed)}) == 3


def test_sarif_without_frames_points_at_the_report(tmp_path):
    contract = Contract(None, None, ProcessSignature("posix_signal", 11))
    crash = dataclasses.replace(silent(FAILS), status=ExitStatus(Cause.SIGNALED, 139, 11))
    result = check_sarif(render(make_evidence(tmp_path, (crash,), contract=contract), "sarif"))["results"][0]
    assert result["locations"] == [{"physicalLocation": {"artifactLocation": {"index": 0, "uri": "report.json"}}}]
    assert "stacks" not in result


def test_sarif_tells_warnings_and_drift(mixed):
    drift = (Drift(what="image", recorded="a", used="b"),)
    evidence = changed(mixed, warnings=("a {0} [link](http://x)",), drift=drift)
    told = check_sarif(render(evidence, "sarif"))["invocations"][0]["toolExecutionNotifications"]
    assert [(each["level"], each["message"]["text"]) for each in told] == [
        ("warning", r"a {{0}} \[link\](http://x)"), ("note", "image: recorded a, used b")]


def test_intoto_is_about_payload_report_and_image(reproduced):
    statement = check_intoto(render(reproduced, "in-toto"))
    result = reproduced.result
    assert {each["name"]: each["digest"]["sha256"] for each in statement["subject"]} == {
        "payload": result.payload_fingerprint.exact, "report": result.report_sha256,
        "image": result.image.used_id.removeprefix("sha256:")}
    assert statement["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert statement["predicate"]["passedTests"] == ["run 1", "run 2"]
    assert statement["predicate"]["configuration"][0]["digest"]["sha256"] == result.policy.sha256


def test_the_payloads_digest_is_that_of_the_manifest_file(reproduced):
    statement = check_intoto(render(reproduced, "in-toto"))
    manifest = (reproduced.directory / "manifest.txt").read_bytes()
    assert statement["subject"][0]["digest"]["sha256"] == sha256(manifest).hexdigest()


@pytest.mark.parametrize(("name", "word", "lists"), [
    ("reproduced", "PASSED", (["run 1", "run 2"], [], [])),
    ("mixed", "FAILED", (["run 1"], [], ["run 2", "run 3"])),
    ("undecided", "FAILED", (["run 1"], [], ["run 2"]))])
def test_intoto_results(request, name, word, lists):
    predicate = check_intoto(render(request.getfixturevalue(name), "in-toto"))["predicate"]
    assert predicate["result"] == word
    assert (predicate["passedTests"], predicate["warnedTests"], predicate["failedTests"]) == lists
    evidence = request.getfixturevalue(name).result
    assert predicate["configuration"][2]["annotations"]["verdict"] == evidence.verdict


def test_intoto_warns_of_a_weakened_verdict(reproduced):
    warned = changed(reproduced, warnings=("only contents are proved",))
    predicate = check_intoto(render(warned, "in-toto"))["predicate"]
    assert (predicate["result"], predicate["passedTests"]) == ("WARNED", [])
    assert predicate["warnedTests"] == ["run 1", "run 2"]


def test_a_bundle_is_a_subject_and_needs_no_payload(reproduced):
    bundled = changed(reproduced, bundle_sha256="ab" * 32, report="/tmp/bug.repro")
    subjects = {each["name"]: each for each in check_intoto(render(bundled, "in-toto"))["subject"]}
    assert [*subjects] == ["payload", "report", "bundle", "image"]
    assert (subjects["bundle"]["digest"]["sha256"], subjects["bundle"]["annotations"]["file"]) == (
        "ab" * 32, "bug.repro")
    assert "annotations" not in subjects["report"]
    assert check_sarif(render(bundled, "sarif"))["artifacts"][0]["hashes"] == {"sha-256": "ab" * 32}
    assert "runner replay bug.repro --runs 2 --yes" in render(bundled, "md")


@pytest.mark.parametrize("name", [*CHECKS])
def test_a_replay_without_any_run_can_be_exported(mixed, name):
    empty = changed(mixed, samples=(), passes=0, verdict="no_verdict", error="the engine went away")
    CHECKS[name](render(empty, name))
    assert "the engine went away" in render(empty, name) or name == "in-toto"
