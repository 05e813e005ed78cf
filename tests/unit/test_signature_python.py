from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from observations import traceback_text

from runner.oracles.contract import PythonSignature
from runner.oracles.signature.python import PythonBlock, choose_python, python_blocks, signature_of
from runner.oracles.signature.python_place import frame_text
from runner.oracles.signature.reading import Reading, Searcher

Seen = list[tuple[str, str, tuple[str, ...]]]

KEY_AT = ("app/pricing.py:pick", "app/pricing.py:total", "chained.py:main")
BOTH: dict[str, Seen] = {
    "bare": [("AssertionError", "", ("bare.py:go", "bare.py:run", "bare.py:<module>"))],
    "chained": [("KeyError", "'b'", KEY_AT),
                ("RuntimeError", "order: could not be priced: b", ("chained.py:main", "chained.py:<module>"))],
    "context": [("ValueError", "invalid literal for int() with base 10: 'zwölf'", ("context.py:read",)),
                ("LookupError", "kein Wert: ¿qué?", ("context.py:read", "context.py:<module>"))],
    "dotted": [("json.decoder.JSONDecodeError",
                "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
                ("decoder.py:raw_decode", "decoder.py:decode", "__init__.py:loads"))],
    "group": [("ExceptionGroup", "all parts failed (2 sub-exceptions)", ("group.py:collect", "group.py:<module>")),
              ("ValueError", "part 0: bad", ("group.py:part", "group.py:collect")),
              ("ValueError", "part 1: bad", ("group.py:part", "group.py:collect"))],
    "notes": [("TypeError", "with a note", ("notes.py:f", "notes.py:<module>"))],
    "recursion": [("RecursionError", "maximum recursion depth exceeded", ("recursion.py:down",) * 3)],
    "syntax": [("SyntaxError", "invalid syntax", ("broken.py:<module>", "syntax.py:<module>"))],
    "pytest_one_long": [("KeyError", "'b'", ("app/pricing.py:<module>",))],
    "pytest_one_auto": [("KeyError", "'b'", ("app/pricing.py:<module>",))],
    "pytest_chain_auto": [("KeyError", "'b'", ("app/pricing.py:<module>",)),
                          ("RuntimeError", "no price", ("test_chain.py:<module>",))],
    "pytest_chain_native": [
        ("KeyError", "'b'", ("app/pricing.py:pick", "app/pricing.py:total", "test_chain.py:test_chain")),
        ("RuntimeError", "no price", ("test_chain.py:test_chain", "_pytest/python.py:pytest_pyfunc_call",
                                      "pluggy/_execution.py:_multicall"))],
}
SHORT = ("app/pricing.py:pick", "app/pricing.py:total")
REPOMIN: dict[str, Seen] = {
    "broken": [],
    "local": [],
    "lower": [],
    "pytest_one_short": [],
    "pytest_chain_short": [("KeyError", "'b'", ("test_chain.py:test_chain",))],
    "pytest_two_short": [("KeyError", "'b'", ("test_two.py:test_b",)),
                         ("TypeError", "expected: a number", ("test_two.py:test_c",))],
    "pytest_two_auto": [("KeyError", "'b'", ("app/pricing.py:<module>",)),
                        ("TypeError", "expected: a number", ("test_two.py:<module>",))],
    "pytest_broken_short": [],
}
NATIVE: dict[str, Seen] = {
    "broken": [("SyntaxError", "invalid syntax", ("broken.py:<module>",))],
    "local": [("make.<locals>.Odd", "made here", ("local.py:fail", "local.py:<module>"))],
    "lower": [("struct.error", "unpack requires a buffer of 4 bytes", ("lower.py:unpack", "lower.py:<module>"))],
    "pytest_one_short": [("KeyError", "'b'", (*SHORT, "test_one.py:test_total"))],
    "pytest_chain_short": [("KeyError", "'b'", (*SHORT, "test_chain.py:test_chain")),
                           ("RuntimeError", "no price", ("test_chain.py:test_chain",))],
    "pytest_two_short": [("KeyError", "'b'", (*SHORT, "test_two.py:test_a")),
                         ("TypeError", "expected: a number", ("test_two.py:fail", "test_two.py:test_b")),
                         ("AssertionError", "assert (1 + 1) == 3", ("test_two.py:test_c",))],
    "pytest_two_auto": [("KeyError", "'b'", ("app/pricing.py:<module>",)),
                        ("TypeError", "expected: a number", ("test_two.py:<module>",)),
                        ("AssertionError", "assert (1 + 1) == 3", ("test_two.py:<module>",))],
    "pytest_broken_short": [("SyntaxError", "invalid syntax",
                             ("test_broken.py:<module>", "_pytest/assertion/rewrite.py:exec_module",
                              "__init__.py:import_module"))],
}
TABLE = [(name, reading, seen) for reading, seens in
         ((Reading.REPOMIN, BOTH | REPOMIN), (Reading.NATIVE, BOTH | NATIVE)) for name, seen in seens.items()]


def _seen(text: str, reading: Reading, root: str | None = "/workspace") -> Seen:
    signatures = [signature_of(block, rooted=True) for block in python_blocks(text, reading, root)]
    return [(found.class_name, found.message, found.frames) for found in signatures]


def _search(pattern: str) -> Searcher:
    def search(texts: Sequence[str]) -> list[bool]:
        return [re.search(pattern, text) is not None for text in texts]
    return search


@pytest.mark.parametrize(("name", "reading", "seen"), TABLE, ids=[f"{name}-{how}" for name, how, _ in TABLE])
def test_real_output(name: str, reading: Reading, seen: Seen) -> None:
    assert _seen(traceback_text(name), reading) == seen


@pytest.mark.parametrize("reading", Reading)
@pytest.mark.parametrize("prefix", ["[2024-01-01] [worker] ", "\x1b[31m"])
def test_log_prefixes_and_colour_do_not_hide_a_traceback(prefix: str, reading: Reading) -> None:
    text = "\n".join(prefix + line for line in traceback_text("chained").splitlines())
    assert _seen(text, reading) == BOTH["chained"]


HEAD = "Traceback (most recent call last):\n"
FRAME = '  File "/workspace/a.py", line 1, in f\n'


@pytest.mark.parametrize(("text", "seen"), [
    (HEAD + "ValueError: no frame yet\n" + FRAME + "TypeError: this one\n", ["TypeError: this one"]),
    (HEAD + FRAME + "not.a.Class here: x\nValueError: a: b:  c\n", ["ValueError: a: b: c"]),
    (HEAD + FRAME + "a.b.C_1:\n", ["a.b.C_1: "]),
    (HEAD + FRAME + "    Widget\nValueError: real\n", ["Widget: "]),
    (HEAD + FRAME + HEAD + FRAME + "OSError: second only\n", ["OSError: second only"]),
    ("x " + HEAD + FRAME + "OSError: no heading\n", []),
    (HEAD + '  File "/workspace/a.py", line x, in f\nOSError: no number\n', []),
    ("E   ValueError: long\n\nsrc/a.py:3: ValueError\n", ["ValueError: long"]),
    ("E   ValueError: one\nE   KeyError: two\na.py:1\n", ["KeyError: two"]),
    ("E   ValueError: x\na.txt:1: in f\n", []),
    ("E   ValueError: x\nC:\\w\\a.py:1: in f\n", ["ValueError: x"]),
    ("EValueError: x\na.py:1\n", []),
])
def test_repomin_reading(text: str, seen: list[str]) -> None:
    found = [f"{block.class_name}: {block.message}" for block in python_blocks(text, Reading.REPOMIN, None)]
    assert found == seen


@pytest.mark.parametrize(("text", "seen"), [
    (HEAD + FRAME + "    Widget\nValueError: real\n", ["ValueError: real"]),
    (HEAD + FRAME + "    x\nstop: own class of the main module\n", ["stop: own class of the main module"]),
    (HEAD + FRAME + "Ошибка: да\n", ["Ошибка: да"]),
    (HEAD + FRAME + "zlib.error\n", ["zlib.error: "]),
    (HEAD + FRAME + "done\nKeyError: 1\n", ["KeyError: 1"]),
    ('  File "a.py", line 3\n    x =\nIndentationError: unexpected indent\n', ["IndentationError: unexpected indent"]),
    ('  File "a.py", line 3\nsome other tool\nSyntaxError: far away\n', []),
    ("a.py:1: in f\n    g()\nb.py:2: in g\nE   ValueError: x\nE   actual: y\n", ["ValueError: x"]),
    ("a.py:1: in f\nE   text\nb.py:2: in g\nE   ValueError: x\n", ["ValueError: x"]),
    ("E   where: not a class\na.py:1: in f\n", []),
])
def test_native_reading(text: str, seen: list[str]) -> None:
    found = [f"{block.class_name}: {block.message}" for block in python_blocks(text, Reading.NATIVE, None)]
    assert found == seen


def test_a_run_of_places_belongs_to_one_error_only() -> None:
    text = "a.py:1: in f\nE   assert x\n____ test_b ____\nb.py:2: in g\nE   ValueError: x\n"
    blocks = python_blocks(text, Reading.NATIVE, None)
    assert [block.frames for block in blocks] == [["a.py:f"], ["b.py:g"]]


@pytest.mark.parametrize(("path", "root", "place"), [
    ("/workspace/app/x.py", "/workspace", "app/x.py"),
    ("/workspace/./app/../y.py", "/workspace/", "y.py"),
    ("/workspaces/x.py", "/workspace", "x.py"),
    ("/home/me/workspace/deep/x.py", "/workspace", "x.py"),
    ("/workspace/venv/lib/site-packages/p/m.py", "/workspace", "venv/lib/site-packages/p/m.py"),
    ("/usr/lib/site-packages/a/site-packages/p/m.py", "/workspace", "p/m.py"),
    ("/usr/lib/python3/json/decoder.py", "/workspace", "decoder.py"),
    ("app/x.py", "/workspace", "app/x.py"),
    ("./x.py", "/workspace", "./x.py"),
    ("<string>", "/workspace", "<string>"),
    ("<frozen importlib._bootstrap>", "/workspace", "<frozen importlib._bootstrap>"),
    ("C:\\Build\\Copy\\App\\x.py", "c:/build/copy", "App/x.py"),
    ("D:\\lib\\x.py", "/workspace", "x.py"),
    ("/anything/x.py", "/", "anything/x.py"),
    ("/home/me/workspace/deep/x.py", None, "deep/x.py"),
    ("/workspace/a/workspace/x.py", None, "x.py"),
    ("/workspace/v/site-packages/p.py", None, "v/site-packages/p.py"),
    ("/v/site-packages/p/q.py", None, "p/q.py"),
    ("/tmp/run/x.py", None, "x.py"),
    ("C:\\x\\y.py", None, "y.py"),
    ("app/x.py", None, "app/x.py"),
    ("/tmp/run/", None, "<unknown>"),
])
def test_frame_rules(path: str, root: str | None, place: str) -> None:
    assert frame_text(path, " f ", root) == f"{place}:f"


def test_a_frame_without_a_function_is_of_the_module() -> None:
    assert frame_text("a.py", " ", None) == "a.py:<module>"


@pytest.mark.parametrize(("line", "place"), [
    ('File "a", line 1", line 2, in f', 'a", line 1:f'),
    ("File 'a.py', line 12", "a.py:<module>"),
    ('File "a.py", line 3, in <listcomp> g', "a.py:<listcomp> g"),
    ('File "x"y.py", line 3, in f', 'x"y.py:f'),
])
def test_file_lines(line: str, place: str) -> None:
    (block,) = python_blocks(f"{HEAD}  {line}\nOSError\n", Reading.REPOMIN, None)
    assert block.frames == [place]


def _block(name: str, message: str = "", *frames: str) -> PythonBlock:
    return PythonBlock(name, message, f"{name}: {message}", list(frames or ("a.py:f",)))


GROUP, INNER, OUTER = _block("ExceptionGroup", "both"), _block("KeyError", "k"), _block("OSError", "o: k")


@pytest.mark.parametrize(("blocks", "pattern", "chosen"), [
    ([], None, None),
    ([INNER, OUTER], None, INNER),
    ([GROUP, INNER], None, INNER),
    ([GROUP], None, GROUP),
    ([INNER, OUTER], "OSError", OUTER),
    ([INNER, OUTER], "k", None),
    ([INNER, INNER], "KeyError", INNER),
    ([INNER, OUTER], "unseen", None),
    ([INNER, INNER], "unseen", INNER),
    ([OUTER], "unseen", OUTER),
    ([GROUP, INNER], "both", GROUP),
    ([INNER, _block("KeyError", "k", "b.py:g")], "b.py:g", _block("KeyError", "k", "b.py:g")),
    ([], "x", None),
])
def test_choice(blocks: list[PythonBlock], pattern: str | None, chosen: PythonBlock | None) -> None:
    assert choose_python(blocks, _search(pattern) if pattern else None) == chosen


def test_a_signature_has_the_three_innermost_frames_innermost_first() -> None:
    block = _block("E", "m", "a:1", "b:2", "c:3", "d:4")
    assert signature_of(block, rooted=False) == PythonSignature("E", "m", ("d:4", "c:3", "b:2"), rooted=False)
