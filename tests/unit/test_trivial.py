from __future__ import annotations

from collections.abc import Iterator

import pytest

from runner.oracles.contract import Contract, ProcessSignature
from runner.oracles.match import Matcher
from runner.oracles.trivial import trivial_reasons


@pytest.fixture(scope="module")
def matcher() -> Iterator[Matcher]:
    with Matcher() as shared:
        yield shared


@pytest.mark.parametrize(("contract", "word"), [
    (Contract(0), "every success"),
    (Contract(0, ""), "every success"),
    (Contract(), "every failure"),
    *[(Contract(1, pattern), "empty text") for pattern in (".*", "x*", "^", "$", "(?m)^", "boom|", "()", r"\s*")],
    *[(Contract(7, pattern), "prints nothing") for pattern in (r"\s", r"\n", "\n", r"[\s\S]", "(?s).", "[^x]")],
    *[(Contract(0, pattern), "ordinary output") for pattern in (".", ".+", r"\w", "[a-zA-Z]", r"\d", " ", r"\S+")],
])
def test_trivial(contract: Contract, word: str, matcher: Matcher) -> None:
    (reason,) = trivial_reasons(contract, matcher)
    assert word in reason


@pytest.mark.parametrize("contract", [
    Contract(1), Contract(None, "boom"), Contract(0, "leaked"), Contract(1, r"comment has \d+ line ends"),
    Contract(1, "error"), Contract(None, None, ProcessSignature("posix_signal", 11)),
    Contract(1, ".", ProcessSignature("exit_code", 1)),
])
def test_not_trivial(contract: Contract, matcher: Matcher) -> None:
    assert trivial_reasons(contract, matcher) == ()
