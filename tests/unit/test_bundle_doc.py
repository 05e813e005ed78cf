"""docs/bundles.md tells every rule, and shows a document that is one."""

import re
from pathlib import Path

import pytest

from runner.bundle.document import parse_document
from runner.bundle.layout import FREE_BYTES, MAX_DOCUMENT_BYTES, MAX_RATIO, MAX_WINDOW
from runner.bundle.rules import RULES, refused
from runner.payload.rules import MESSAGES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "bundles.md").read_text(encoding="utf-8")


def test_every_rule_is_described_and_no_other():
    rows = re.findall(r"^\| (`[^|]*`) \|", PAGE.partition("\n## Rules\n")[2], re.MULTILINE)
    assert sorted(", ".join(rows).replace("`", "").split(", ")) == sorted(RULES)


def test_no_rule_has_a_name_of_sealings():
    assert not set(RULES) & set(MESSAGES)


@pytest.mark.parametrize("rule", [*RULES, *MESSAGES])
def test_a_refusal_names_its_rule(rule):
    error = refused(rule, "detail", path=b"a\x1b")
    assert (error.rule, error.exit_code) == (rule, 2)
    assert f"(rule {rule}; detail)" in error.message
    assert error.message.isprintable()


def test_the_example_is_a_document():
    example = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)[1]
    assert parse_document(example.encode()).payload.files == 2


def test_the_numbers_are_those_of_the_program():
    assert (FREE_BYTES, MAX_RATIO, MAX_WINDOW, MAX_DOCUMENT_BYTES) == (64 << 20, 200, 8 << 20, 4 << 10)
    for said in ("64 MiB", "200 times", "8 MiB", "4 KiB"):
        assert said in PAGE
