"""Policy files made to hurt: one line, and soon."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runner.errors import PolicyError
from runner.sandbox.policy import load_policy
from runner.sandbox.policy_yaml import MAX_BYTES, parse_policy_text

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + level)}: &{chr(98 + level)} [{','.join(['*' + chr(97 + level)] * 9)}]\n" for level in range(20))


@pytest.mark.parametrize("text", [
    "", "null", "[]", "text", "5", "- a\n- b", "\0", "a: [", "a: b: c", "\t", "%YAML 9.9\n---\na: 1", "{" * 100_000,
    "[" * 100_000, "a:\n" + "".join(" " * level + "a:\n" for level in range(1, 3000)), "- " * 50_000, BOMB,
    "a: &x 1", "a: &x 1\nb: *x", "<<: {a: 1}\nb: 2", "a: 1\na: 2", "work: {size: 1, size: 2}", "a: 1\n---\nb: 2",
    "a: !!python/object/apply:os.system [id]", "a: !!str 1", "!!map {a: 1}", "a: !x 1", "? [a]\n: 1", "1: 2",
    "true: 1", "null: 1", "a: .nan", "a: .inf", "a: -.inf", "a: yes", "a: on", "a: TRUE", "a: 0x10", "a: 010",
    "a: 0b1", "a: 1_000", "a: 1:30", "a: 2020-01-01", "a: 1.0e+999", "a: " + "9" * 5000, "a: =", "a: <<",
    "a: 1\n" * 30_000,
], ids=lambda text: text[:12].encode("unicode_escape").decode())
def test_hostile_text_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy_text(text.encode(), "own.yaml")
    assert caught.value.message.isprintable()
    assert caught.value.message.startswith("policy own.yaml: ")
    assert len(caught.value.message) < 300


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"name: \xe9", b"x" * (MAX_BYTES + 1), b"a: 1\n" + b"#" * MAX_BYTES])
def test_bytes_that_are_no_text_or_too_many_are_refused(raw: bytes) -> None:
    with pytest.raises(PolicyError, match=r"policy own\.yaml: is "):
        parse_policy_text(raw, "own.yaml")


def test_plain_data_is_read() -> None:
    text = b'# c\na: 1\nb: -2\nc: 1.5\nd: true\ne: null\nf: "yes"\ng: [x, {h: ""}]\ni: ~\nj: 512MiB\n'
    assert parse_policy_text(text, "own.yaml") == {
        "a": 1, "b": -2, "c": 1.5, "d": True, "e": None, "f": "yes", "g": ["x", {"h": ""}], "i": None, "j": "512MiB"}


def test_a_hostile_key_is_printed_safely() -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy_text(b'"\\e[2J\\n": 1\n"\\e[2J\\n": 1\n', "own.yaml")
    assert caught.value.message.isprintable()


def test_what_is_not_a_regular_file_is_not_read(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo.yaml"
    os.mkfifo(fifo)
    for path in (str(fifo), str(tmp_path) + "/", "/dev/zero"):
        with pytest.raises(PolicyError, match=r"not a regular file|Is a directory"):
            load_policy(path)


@pytest.mark.parametrize("field", ["\\e[31m", "a" * 100_000, "\\ud800"])
def test_an_unknown_field_is_named_safely(field: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(f'name: own\nextends: default\n"{field}": 1\n', encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        load_policy(str(path))
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 500
