"""Whatever an incident holds, its script is our code and one constant."""

from __future__ import annotations

import ast
import base64
import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.browser.faults import ApiFault, StateFault
from runner.browser.job import Race
from runner.browser.outcome import Lane
from runner.browser.trace import ApiFaultStep, Click, Fill, Press, StateFaultStep, UiFreezeStep
from runner.incidents.identity import Identity
from runner.incidents.model import Failure, Incident
from runner.reports.script import render_script

FRAGMENTS = ('"""', "'''", "\n", "\r", "\\", "\\N{DASH}", "\\u0027", "{{ 7 * 7 }}", "{", "}", "%s", "#", "\x00",
             "\ud800", "\udfff", "\u2028", "\u2029", "\x85", "\x1b[31m", "\N{RIGHT-TO-LEFT OVERRIDE}",
             "'); import os  # ", '"); exit()  # ', 'json.loads("{}")', "__import__('os')", "\t", "\x0c", "é", "🔥")
hostile = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(st.characters())), max_size=8).map("".join)


def incident_of(text: str, race: bool, number: int = 3) -> Incident:
    """One in which every text is ``text``, and there are as many things as in any other with this ``race``."""
    steps = (Click(text), Fill(text, text), Press(text, text), ApiFaultStep(text, text),
             StateFaultStep(text, text, text), UiFreezeStep(text, text))
    body = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
    return Incident(
        "loki", text, run_id=text, timestamp=text, persona=text, device=text, trace=steps, notes=(text,),
        actions=(text,),
        api_faults=(ApiFault("status_code", text, text, content_type=text, body=body, status=number, details=text),),
        state_faults=(StateFault("type_swap", text, text, text, details=text, original_value=text),),
        failures=(Failure(Identity(text, text, (text, text), text, text, number), step=number),),
        race=Race(2, text) if race else None, lanes=(Lane(0, text), Lane(1, None)) if race else ())


def parted(source: str) -> tuple[str, str]:
    """The script's code with the incident taken out of it, and the incident."""
    tree = ast.parse(source)
    call, = (statement.value for statement in tree.body
             if isinstance(statement, ast.AnnAssign) and ast.unparse(statement.target) == "INCIDENT")
    assert isinstance(call, ast.Call)
    constant, = call.args
    assert isinstance(constant, ast.Constant)
    text, constant.value = constant.value, ""
    return ast.dump(tree), text


@pytest.fixture(scope="module")
def benign() -> dict[bool, str]:
    return {race: parted(render_script(incident_of("text", race)))[0] for race in (False, True)}


@settings(max_examples=30)
@given(text=hostile, race=st.booleans(), number=st.integers())
def test_only_one_constant_differs(benign: dict[bool, str], text: str, race: bool, number: int) -> None:
    source = render_script(incident_of(text, race, number))
    source.encode("utf-8")
    code, data = parted(source)
    assert code == benign[race]
    held = json.loads(data)
    assert (held["url"], held["trace"][1]["value"], held["failures"][0]["message"]) == (text, text, text)


@given(text=hostile)
def test_the_incident_is_ascii_within_its_lines(text: str) -> None:
    """Nothing of it can look otherwise in an editor than it is read."""
    source = render_script(incident_of(text, race=False))
    begin = source.index("json.loads(\n") + len("json.loads(\n")
    data = source[begin:source.index("\n)\n", begin)]
    assert data.isascii()
    assert data.replace("\n", "").isprintable()
    assert all(line.startswith(("    '", '    "')) for line in data.split("\n"))


@pytest.mark.parametrize("race", [False, True])
def test_a_script_needs_playwright_and_nothing_else(race: bool) -> None:
    tree = ast.parse(render_script(incident_of("text", race)))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in imported} - sys.stdlib_module_names == {"playwright"}


@pytest.mark.parametrize("race", [False, True])
def test_every_name_in_a_script_is_defined_once(race: bool) -> None:
    """Put together of many modules, none of them hides another's name."""
    tree = ast.parse(render_script(incident_of("text", race)))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    names += [node.id for statement in tree.body if isinstance(statement, ast.Assign | ast.AnnAssign)
              for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    names += [alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)
              and node in tree.body for alias in node.names]
    assert sorted(names) == sorted(set(names))
