from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from observations import traceback_text

from runner.oracles.signature.java import JavaBlock, choose_java, find_class, java_blocks
from runner.oracles.signature.reading import Reading, Searcher

JDK = ("NumberFormatException.forInputString", "Integer.parseInt", "Integer.parseInt")


def _search(pattern: str) -> Searcher:
    def search(texts: Sequence[str]) -> list[bool]:
        return [re.search(pattern, text) is not None for text in texts]
    return search


@pytest.mark.parametrize(("name", "seen"), [
    ("java_empty", [("java.util.NoSuchElementException", "", "java.util.ArrayDeque.removeFirst", "")]),
    ("java_module", [("java.lang.UnsupportedOperationException", "", "java.util.ImmutableCollections.uoe", "")]),
    ("java_nested", [
        ("app.Nested$StockException", "no stock: shelf", "app.Nested.run", ""),
        ("java.lang.NumberFormatException", 'For input string: "x1"',
         "java.lang.NumberFormatException.forInputString", "caused"),
        ("java.lang.IllegalArgumentException", "cannot close: shelf 3", "app.Nested$Shelf.close", "suppressed")]),
])
@pytest.mark.parametrize("reading", Reading)
def test_real_output(name: str, seen: list[tuple[str, str, str, str]], reading: Reading) -> None:
    found = [(block.class_name, block.message, block.frames[0],
              "caused" if block.caused_by else "suppressed" if block.suppressed else "")
             for block in java_blocks(traceback_text(name), reading)]
    assert found == seen


def test_only_the_native_reading_sees_the_plain_classes() -> None:
    text = traceback_text("java_plain")
    assert java_blocks(text, Reading.REPOMIN) == []
    (block,) = java_blocks(text, Reading.NATIVE)
    assert block.signature().class_name == "java.lang.Exception"
    assert block.signature().frames == ("app.Plain.go", "app.Plain.main")


@pytest.mark.parametrize(("line", "name"), [
    ("a.b.FooException", "a.b.FooException"),
    ("FooError: x", "FooError"),
    ("Caused by: a.BFailure: AnotherError: y", "a.BFailure"),
    ("12:03 ERROR c.d.Service: a.b.C$DThrowable: no", "a.b.C$DThrowable"),
    ("a.b.FooException is thrown", None),
    ("a.b.FooException (x): y", None),
    ("a.b.FooExceptions: y", None),
    ("1a.b.FooError:", "a.b.FooError"),
    ("a..b.FooError", "b.FooError"),
    ("a.1b.FooError", "b.FooError"),
    ("é.FooError", "FooError"),
    ("éFooError", "FooError"),
    (".FooError", "FooError"),
    ("Exception", None),
    ("x.9Error", None),
    ("", None),
])
@pytest.mark.parametrize("reading", Reading)
def test_where_a_class_stands(line: str, name: str | None, reading: Reading) -> None:
    place = find_class(line, reading)
    assert (line[slice(*place)] if place else None) == name


@pytest.mark.parametrize(("line", "name"), [
    ("java.lang.Error: x", "java.lang.Error"),
    ("Exception in thread: java.lang.Throwable", "java.lang.Throwable"),
    ("Error: no package, no class", None),
])
def test_plain_classes_need_a_package(line: str, name: str | None) -> None:
    place = find_class(line, Reading.NATIVE)
    assert (line[slice(*place)] if place else None) == name
    assert find_class(line, Reading.REPOMIN) is None


@pytest.mark.parametrize(("line", "frame"), [
    ("\tat a.b.C.m(C.java:1)", "a.b.C.m"),
    ("\tat app//a.b.C.m(C.java:1)", "a.b.C.m"),
    ("\tat java.base@17/java.lang.Thread.run (Thread.java:833)", "java.lang.Thread.run"),
    ("[ERROR]     at a.C.<init>(C.java)", "a.C.<init>"),
    ("\tat a.b.C.m", None),
    ("\tat  two words(x)", None),
    ("\tatx.y(z)", None),
    ("\t... 3 more", None),
])
def test_frames(line: str, frame: str | None) -> None:
    (block,) = java_blocks(f"a.BError: x\n{line}\n", Reading.REPOMIN)
    assert block.frames == ([frame] if frame else [])


def test_frames_before_any_header_belong_to_nothing() -> None:
    (block,) = java_blocks("\tat a.b(C.java:1)\na.BError\n", Reading.REPOMIN)
    assert block.frames == []


def _block(name: str, *, caused: bool = False, suppressed: bool = False, frames: int = 1) -> JavaBlock:
    return JavaBlock(name, "m", f"{name}: m", caused, suppressed, ["x.y"] * frames)


FIRST, CAUSE, ROOT = _block("FirstError"), _block("CauseError", caused=True), _block("RootError", caused=True)
SECOND, BARE = _block("SecondError"), _block("BareError", frames=0)
HIDDEN = _block("HiddenError", suppressed=True)


@pytest.mark.parametrize(("blocks", "pattern", "chosen"), [
    ([], None, None),
    ([BARE], None, None),
    ([HIDDEN], "HiddenError", None),
    ([FIRST, SECOND], None, FIRST),
    ([FIRST, CAUSE, ROOT, SECOND], None, ROOT),
    ([BARE, SECOND], None, SECOND),
    ([FIRST, CAUSE, ROOT], "FirstError", ROOT),
    ([FIRST, CAUSE, SECOND], "SecondError", SECOND),
    ([FIRST, SECOND], "m", None),
    ([FIRST, FIRST], "m", FIRST),
    ([FIRST, SECOND], "unseen", None),
    ([FIRST, CAUSE], "unseen", CAUSE),
    ([FIRST, HIDDEN, CAUSE], "HiddenError", CAUSE),
    ([BARE, CAUSE], "BareError", CAUSE),
    ([BARE, FIRST], "BareError", FIRST),
    ([CAUSE, ROOT], "CauseError", ROOT),
])
def test_choice(blocks: list[JavaBlock], pattern: str | None, chosen: JavaBlock | None) -> None:
    assert choose_java(blocks, _search(pattern) if pattern else None) == chosen


def test_a_signature_has_the_first_three_frames() -> None:
    block = java_blocks(traceback_text("java_nested"), Reading.REPOMIN)[1]
    assert block.signature().frames == tuple(f"java.lang.{name}" for name in JDK)
