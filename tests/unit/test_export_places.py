"""Where a signature points: files of the payload, and lines that the output tells."""

import dataclasses

import pytest
from observations import traceback_text
from stored_runs import FAILS, PASSES, make_evidence

from runner.oracles.contract import Contract, JavaSignature, ProcessSignature, PythonSignature
from runner.reports.places import places
from runner.sandbox.exit import Cause, ExitStatus


def found(tmp_path, signature, printed, files, **options):
    """Places as (name, file, line)."""
    run = dataclasses.replace(FAILS, stdout=b"", stderr=printed.encode(), artifacts=(), changes=())
    payload = dict.fromkeys(("check.py", *files), b"x")
    evidence = make_evidence(tmp_path, (run,), contract=Contract(1, None, signature), payload=payload, **options)
    assert evidence.result.samples[0].accepted, evidence.result.reasons
    return [(place.name, place.file, place.line) for place in places(evidence)]


PYTHON = """Traceback (most recent call last):
  File "/workspace/src/app.py", line 30, in main
    run()
  File "/workspace/src/app.py", line 12, in run
    json.loads(text)
  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode
    raise JSONDecodeError("Expecting value", s, err.value) from None
ValueError: Expecting value
"""


def test_frames_outside_the_payload_have_no_file(tmp_path):
    signature = PythonSignature("ValueError", "Expecting value",
                                ("decoder.py:raw_decode", "src/app.py:run", "src/app.py:main"))
    assert found(tmp_path, signature, PYTHON, ["src/app.py"]) == [
        ("decoder.py:raw_decode", None, 355), ("src/app.py:run", "src/app.py", 12),
        ("src/app.py:main", "src/app.py", 30)]


def test_the_last_word_on_a_line_counts_and_colours_do_not(tmp_path):
    signature = PythonSignature("ValueError", "Expecting value",
                                ("decoder.py:raw_decode", "src/app.py:run", "src/app.py:main"))
    earlier = 'File "/elsewhere/src/app.py", line 1, in run\n'
    coloured = PYTHON.replace("line 12", "line \x1b[35m13\x1b[0m")
    assert found(tmp_path, signature, earlier + coloured, ["src/app.py"])[1] == ("src/app.py:run", "src/app.py", 13)


def with_signature(evidence, **signature):
    """The same evidence with another signature in its contract."""
    contract = evidence.result.contract.model_copy(update={"signature": signature})
    return dataclasses.replace(evidence, result=evidence.result.model_copy(update={"contract": contract}))


def test_pytests_short_form(tmp_path):
    text = traceback_text("pytest_one_short")
    told = next(line for line in text.splitlines() if ": in " in line)
    path, line, function = told.replace(": in ", ":").split(":")
    run = dataclasses.replace(FAILS, stderr=text.encode())
    evidence = make_evidence(tmp_path, (run,), payload={path: b"x"}, contract=Contract(1, None, None))
    frame = f"{path}:{function}"
    assert [(place.file, place.line) for place in places(with_signature(evidence, kind="python", frames=[frame]))] == [
        (path, int(line))]


JAVA = """Exception in thread "main" java.lang.IllegalStateException: empty
\tat shop.Cart$Item.add(Cart.java:7)
\tat app//shop.Main.main(Main.java:3)
\tat java.base/java.lang.Thread.run(Thread.java:840)
"""


@pytest.mark.parametrize(("files", "first"), [
    (["src/main/java/shop/Cart.java"], "src/main/java/shop/Cart.java"), (["shop/Cart.java"], "shop/Cart.java"),
    (["a/shop/Cart.java", "b/shop/Cart.java"], None), (["shop/Cart.class", "notshop/Cart.java"], None)])
def test_java_frames(tmp_path, files, first):
    signature = JavaSignature("java.lang.IllegalStateException", "empty",
                              ("shop.Cart$Item.add", "shop.Main.main", "java.lang.Thread.run"))
    assert found(tmp_path, signature, JAVA, files) == [
        ("shop.Cart$Item.add", first, 7), ("shop.Main.main", None, 3), ("java.lang.Thread.run", None, 840)]


def test_without_an_accepted_run_no_line_is_told(tmp_path):
    evidence = make_evidence(tmp_path, (PASSES,))
    assert [(place.file, place.line) for place in places(evidence)] == [("check.py", None)] * 2


def test_a_process_signature_has_no_places(tmp_path):
    crash = dataclasses.replace(FAILS, status=ExitStatus(Cause.SIGNALED, 139, 11))
    contract = Contract(None, None, ProcessSignature("posix_signal", 11))
    assert places(make_evidence(tmp_path, (crash,), contract=contract)) == ()


@pytest.mark.parametrize("frames", [None, 5, "check.py:main", [], [1, None, {}]])
def test_a_signature_that_is_none_has_no_places(tmp_path, frames):
    evidence = make_evidence(tmp_path, (FAILS,))
    assert places(with_signature(evidence, kind="python", frames=frames)) == ()
