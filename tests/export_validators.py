"""Is an export well-formed? Asked of validators that are not ours: schemas, parsers, renderers of others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import cmarkgfm
import jsonschema
from cmarkgfm.cmark import Options
from google.protobuf import json_format
from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from junitparser import JUnitXml, TestSuite
from lxml import etree, html
from markdown_it import MarkdownIt

SCHEMAS = Path(__file__).parent / "data" / "schemas"
_MARKDOWN_TAGS = {"html", "body", "div", "h1", "h2", "p", "strong", "em", "ul", "li", "code", "pre", "table", "thead",
                  "tbody", "tr", "th", "td"}
_ACTIVE_TOKENS = {"html_block", "html_inline", "link_open", "image"}


def check_json(text: str) -> dict[str, Any]:
    """Canonical: sorted keys, no spaces, ASCII, a newline at the end and nowhere else."""
    document = json.loads(text)
    assert text == json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True) + "\n"
    assert text.isascii()
    return document


def check_markdown(text: str) -> Any:
    """As GitHub's own renderer sees it, with raw HTML let through: nothing is there but text and tables.

    Returns the page as an element tree.
    """
    page = html.document_fromstring(
        f"<div>{cmarkgfm.github_flavored_markdown_to_html(text, options=Options.CMARK_OPT_UNSAFE)}</div>")
    assert {element.tag for element in page.iter()} <= _MARKDOWN_TAGS
    for table in page.iter("table"):
        widths = {len(row.findall("th")) + len(row.findall("td")) for row in table.iter("tr")}
        assert len(widths) == 1, etree.tostring(table)
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    seen = {token.type for each in tokens for token in (each, *(each.children or ()))}
    assert not seen & _ACTIVE_TOKENS
    _check_rows(text)
    return page


def _check_rows(text: str) -> None:
    """Every row of a table has the cells of its head in the source too: surplus ones are dropped by renderers."""
    fence, width = "", 0
    for line in text.split("\n"):
        mark = re.match("`{3,}", line)
        if mark and (not fence or line == fence):
            fence = "" if fence else mark[0]
        elif not fence and line.startswith("|"):
            width = width or line.count("|")
            assert line.count("|") == width, line
        else:
            width = 0


def prose(page: Any) -> str:
    """The text of a rendered page outside code: all that could be a link or a mention."""
    for code in [*page.iter("code"), *page.iter("pre")]:
        code.text = ""
        for child in list(code):
            code.remove(child)
    return str(page.text_content())


def check_junit(text: str) -> TestSuite:
    """Jenkins' schema and junitparser; returns the one suite."""
    document = etree.fromstring(text.encode())
    _junit_schema().assertValid(document)
    suites = list(JUnitXml.fromstring(text.encode()))
    assert len(suites) == 1
    cases = list(suites[0])
    found = [{type(each).__name__ for each in case.result} for case in cases]
    assert (suites[0].tests, suites[0].failures, suites[0].errors) == (
        len(cases), sum("Failure" in each for each in found), sum("Error" in each for each in found))
    return suites[0]


@cache
def _junit_schema() -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(SCHEMAS / "junit-10.xsd"))


def check_sarif(text: str) -> dict[str, Any]:
    """OASIS' schema; returns the one run."""
    document = json.loads(text)
    _sarif_schema().validate(document)
    assert len(document["runs"]) == 1
    return document["runs"][0]


@cache
def _sarif_schema() -> jsonschema.protocols.Validator:
    schema = json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft4Validator.check_schema(schema)
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())


def check_intoto(text: str) -> dict[str, Any]:
    """in-toto's own messages, in which no field may be unknown; returns the statement."""
    message = json_format.Parse(text, statement_pb2.Statement())
    Statement.copy_from_pb(message).validate()
    document = json.loads(text)
    json_format.ParseDict(document["predicate"], test_result_pb2.TestResult())
    assert document["predicate"]["result"] in {"PASSED", "WARNED", "FAILED"}
    for resource in (*document["subject"], *document["predicate"]["configuration"]):
        assert re.fullmatch("[0-9a-f]{64}", resource["digest"]["sha256"])
    return document


CHECKS: dict[str, Callable[[str], Any]] = {"json": check_json, "md": check_markdown, "junit": check_junit,
                                           "sarif": check_sarif, "in-toto": check_intoto}
