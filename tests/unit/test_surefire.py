from __future__ import annotations

import pytest

from runner.evidence.observation import Artifact
from runner.oracles.signature.surefire import MAX_BYTES, MAX_FILES, Surefire, collect_surefire

PATH = b"target/surefire-reports/TEST-a.xml"


def _collect(**files: bytes) -> Surefire:
    return collect_surefire(Artifact(b"m/surefire-reports/TEST-%s.xml" % name.encode(), data)
                            for name, data in files.items())


@pytest.mark.parametrize(("xml", "text"), [
    (b"<s><testcase><error type='a.BError' message='m'> a.BError: m\n\tat x.y(Z.java:1)\n</error></testcase></s>",
     "a.BError: m\n\tat x.y(Z.java:1)"),
    (b"<s><failure type=' a.BFailure ' message=' m '/></s>", "a.BFailure: m"),
    (b"<s><failure type='a.BFailure'>  </failure></s>", "a.BFailure"),
    (b"<s><failure message='no type'/></s>", ""),
    (b"<s><error>one</error><failure>two</failure><error/></s>", "one\ntwo"),
    (b"<s><error>before<b>inside</b>after</error></s>", "before"),
    (b"<s><error><![CDATA[a.BError: <&>]]></error></s>", "a.BError: <&>"),
    (b"<s><error>outer<failure>inner</failure></error></s>", "outer\ninner"),
    (b"<s xmlns='urn:x'><error>in a namespace</error></s>", "in a namespace"),
    (b"<s><system-err>a.BError</system-err></s>", ""),
    ("<?xml version='1.0' encoding='utf-16'?><s><error>breit</error></s>".encode("utf-16"), "breit"),
    ("<?xml version='1.0' encoding='iso-8859-15'?><s><error>10 €</error></s>".encode("iso-8859-15"), "10 €"),
])
def test_what_is_read(xml: bytes, text: str) -> None:
    assert _collect(a=xml) == Surefire(text)


BOMB = b"<!DOCTYPE s [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><s><error>&b;</error></s>"
EXTERNAL = b"<!DOCTYPE s [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><s><error>&x;</error></s>"


@pytest.mark.parametrize(("xml", "why"), [
    (BOMB, "document type declaration"),
    (EXTERNAL, "document type declaration"),
    (b"<!DOCTYPE s SYSTEM 'http://example.invalid/x.dtd'><s/>", "document type declaration"),
    (b"<s><error>cut off</error>", "not well-formed"),
    (b"<s><error>&undefined;</error></s>", "not well-formed"),
    (b"", "not well-formed"),
    (b"\x00\xff", "not well-formed"),
    (b"<?xml version='1.0' encoding='no-such'?><s/>", "not well-formed"),
    (b"<?xml version='1.0' encoding='rot13'?><s/>", "not well-formed"),
    (b"<?xml version='1.0' encoding='utf-7'?><s/>", "not well-formed"),
    (b"<?xml version='1.0' encoding='undefined'?><s/>", "not well-formed"),
])
def test_what_is_ignored_with_a_note(xml: bytes, why: str) -> None:
    found = _collect(a=xml, b=b"<s><error>next file</error></s>")
    assert found.text == "next file"
    assert len(found.notes) == 1
    assert why in found.notes[0]


@pytest.mark.parametrize(("path", "counts"), [
    (b"surefire-reports/TEST-a.xml", True),
    (b"a/b/surefire-reports/TEST-.xml", True),
    (b"surefire-reports/sub/TEST-a.xml", False),
    (b"TEST-a.xml", False),
    (b"surefire-reports/test-a.xml", False),
    (b"surefire-reports/TEST-a.txt", False),
    (b"surefire-reports/a-TEST-a.xml", False),
    (b"surefire-reports/TEST-\xff.xml", True),
])
def test_which_files_count(path: bytes, counts: bool) -> None:
    found = collect_surefire([Artifact(path, b"<s><error>x</error></s>")])
    assert found.text == ("x" if counts else "")


def test_files_are_read_in_the_order_of_their_paths() -> None:
    paths = [b"b/surefire-reports/TEST-a.xml", b"a-b/surefire-reports/TEST-a.xml", b"a/surefire-reports/TEST-b.xml"]
    found = collect_surefire(Artifact(path, b"<s><error>%s</error></s>" % path[:3]) for path in paths)
    assert found.text.split("\n") == ["a/s", "a-b", "b/s"]


def test_the_total_is_capped_but_a_later_smaller_file_still_counts() -> None:
    big = b"<s><error>big</error>" + b" " * (MAX_BYTES - 50) + b"</s>"
    found = _collect(a=big, b=big, c=b"<s><error>c</error></s>")
    assert found.text == "big\nc"
    assert len(found.notes) == 1


def test_a_file_over_the_cap_is_left_out() -> None:
    assert _collect(a=b"<s><error>x</error>" + b" " * MAX_BYTES + b"</s>").text == ""


def test_the_number_of_files_is_capped() -> None:
    found = _collect(**{f"{number:03}": b"<s><error>x</error></s>" for number in range(MAX_FILES + 1)})
    assert found.text.count("x") == MAX_FILES
    assert found.notes == (f"only the first {MAX_FILES} of {MAX_FILES + 1} test reports were read",)


def test_deep_nesting_is_harmless() -> None:
    assert _collect(a=b"<a>" * 200_000 + b"<error>deep</error>" + b"</a>" * 200_000).text == "deep"


def test_a_hostile_path_is_printed_safely() -> None:
    found = collect_surefire([Artifact(b"\x1b[31m/surefire-reports/TEST-\n.xml", b"<")])
    assert found.notes[0].isprintable()
