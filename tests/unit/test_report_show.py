"""``runner report show``: every claim is there, and none of them does anything."""

import json
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from repomin_reports import DROP, certified, edited, sample, sample_path

from runner.reports.claims.content import claims_of
from runner.reports.claims.show import show_json, show_markdown, show_text
from runner.sources.load import load_report, parse_report

NATIVE = sorted((Path(__file__).parents[1] / "data" / "native").glob("*.json"))
HOSTILE = "a`b``|<img src=x>[l](u)\x1b]0;t\x07\r\n# head\u202e\x00"


def claims(document):
    return claims_of(parse_report(json.dumps(document).encode(), path="r.json"))


def rows(shown):
    return [(line[:13].strip(), line[13:]) for line in shown.splitlines()]


def test_the_docker_sample_row_by_row():
    shown = dict(rows(show_text(claims_of(load_report(sample_path("d"))))))
    assert shown["command"] == "sh reproduce.sh"
    assert shown["expects"] == "exit code 9"
    assert shown["match"] == "FLAG_CRASH"
    assert shown["environment"] == "REPRO_LEVEL, REPRO_MODE"
    assert shown["payload"] == "1 files, 165 bytes"
    assert shown["exact"].startswith("607ed82d")
    assert shown["image"].endswith("(busybox:1.36)")
    assert shown["network"] == "none"
    assert shown["timeout"] == "20 s"
    assert shown["limits"] == "memory 256MiB, pids 512, cpus 1, tmp 64MiB, work 10MiB"
    assert shown["baseline"] == "exit code 9"
    assert shown["holdout"].startswith("not_requested")
    assert shown["written by"] == "ReproMin 0.1.0.dev7"
    assert "claims only" in shown["note"]


def test_a_native_report_row_by_row():
    shown = rows(show_text(claims_of(load_report(NATIVE[0].with_name("docker-java.json")))))
    assert ("frame", "shop.Cart.add") in shown
    assert ("run by", "its words as they are, without a shell") in shown
    assert ("baseline", "3 of 3 runs matched, exit code 1") in shown
    assert ("policy", "default " + "09" * 32) in shown


@pytest.mark.parametrize("path", [*NATIVE, *map(sample_path, "abcd")], ids=lambda path: path.parent.name + path.name)
def test_json_has_all_of_it(path):
    report = load_report(path)
    document = json.loads(show_json(claims_of(report)))
    assert document.pop("schema") == "runner.claims/1"
    assert document == claims_of(report)
    assert document["report"]["sha256"] == report.sha256


@pytest.mark.parametrize(("changes", "said"), [
    ({"failure_spec": DROP, "failure_match": DROP}, "nothing: a replay needs --exit-code"),
    ({"failure_spec__exit_code": None}, "any exit code but 0")])
def test_what_is_expected_in_words(changes, said):
    assert ("expects", said) in rows(show_text(claims(edited(sample("a"), **changes))))


def test_unchecked_fields_of_any_type_are_told():
    document = edited(sample("d"), execution__image=[["x"]], execution__network={"a": 1}, execution__image_id=7)
    shown = dict(rows(show_text(claims(document))))
    assert (shown["image"], shown["network"]) == ("7 (an array)", "an object")


def test_the_holdout_is_a_claim():
    assert ("holdout", "certified: 2 of 3 runs passed, 3 planned") in rows(show_text(claims(certified())))


def hostile():
    return edited(sample("d"), command=HOSTILE.replace("\x00", ""), failure_match=HOSTILE, failure_spec__match=HOSTILE,
                  execution__image=HOSTILE, execution__network=HOSTILE, repomin_version=HOSTILE,
                  execution__limits__memory_bytes=10**4000, source__files=10**4299)


def test_hostile_text_stays_on_its_line_and_does_nothing():
    shown = show_text(claims(hostile()))
    assert all(char.isprintable() or char == "\n" for char in shown)
    assert len(shown.splitlines()) == len(show_text(claims(sample("d"))).splitlines())


def test_hostile_text_is_code_in_markdown():
    """Judged by a parser that is not ours: a list of labels and code spans, and nothing else."""
    inline = [token for token in MarkdownIt("commonmark").parse(show_markdown(claims(hostile())))
              if token.type == "inline"]
    kinds = {child.type for token in inline for child in token.children}
    assert kinds == {"text", "code_inline"}
    said = [child.content for token in inline for child in token.children if child.type == "code_inline"]
    assert any("<img src=x>[l](u)\\x1b]0;t" in text for text in said)
    assert not any("<img" in child.content for token in inline for child in token.children if child.type == "text")
