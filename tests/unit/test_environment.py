"""The environment of a replay: names, digest, options. Values never show."""

from __future__ import annotations

import traceback

import pytest

from runner.case import RecordedEnvironment
from runner.errors import EnvironmentMismatch, UsageError
from runner.sources.environment import check_environment, environment_sha256, parse_env_options

SECRET = "hunter2"


@pytest.mark.parametrize(("pairs", "digest"), [
    ((), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ((("A", "1"),), "1c178ab3ab63ba251a35067882c993e31f69f025176a759458a9159f16eb1a88"),
    ((("A", "1"), ("B", "")), "d7c09a701e854246db52607389cd9678d65ef520f0ed5c9e1405cc34a13877d6"),
    ((("B", ""), ("A", "1")), "d7c09a701e854246db52607389cd9678d65ef520f0ed5c9e1405cc34a13877d6"),
    ((("REPRO_MODE", "strict"), ("REPRO_LEVEL", "3")),
     "fec903ae8744280d5724e3ba20061838fdc6759d2b88696a279bc6864d70d0cd"),
])
def test_known_digests(pairs: tuple[tuple[str, str], ...], digest: str) -> None:
    assert environment_sha256(pairs) == digest


def test_a_value_of_any_bytes_has_a_digest() -> None:
    assert environment_sha256([("A", b"\xff".decode("utf-8", "surrogateescape"))]) != environment_sha256([("A", "")])


def test_options_are_split_at_the_first_equals_sign_and_keep_their_order() -> None:
    assert parse_env_options(["B=x=y", "A=", "_c9= \n"]) == (("B", "x=y"), ("A", ""), ("_c9", " \n"))
    assert parse_env_options([]) == ()


@pytest.mark.parametrize("option", [
    SECRET, "", "=x", f"={SECRET}", f"1A={SECRET}", f"A-B={SECRET}", f"A B={SECRET}", f"É={SECRET}", f"A\n={SECRET}",
    f"A={SECRET}\0", f"A={SECRET}\ud800", f"REPOMIN={SECRET}", f"1{SECRET}==",
])
def test_a_bad_option_is_refused_without_showing_it(option: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_env_options([option], reserved=["REPOMIN"])
    assert SECRET not in "".join(traceback.format_exception_only(caught.value))
    assert caught.value.message.startswith("--env ")
    assert caught.value.message.isprintable()


def test_the_same_name_twice_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="--env A: given twice"):
        parse_env_options(["A=1", "B=2", "A=1"])


def test_a_reserved_name_is_free_elsewhere() -> None:
    assert parse_env_options(["REPOMIN=1"]) == (("REPOMIN", "1"),)


def recorded(*pairs: tuple[str, str]) -> RecordedEnvironment:
    return RecordedEnvironment(tuple(sorted(name for name, _ in pairs)), environment_sha256(pairs))


def test_equal_names_and_values_pass_in_any_order() -> None:
    check_environment(recorded(("A", "1"), ("B", "2")), [("B", "2"), ("A", "1")])
    check_environment(RecordedEnvironment(), [])
    check_environment(recorded(), [])


@pytest.mark.parametrize(("given", "said"), [
    ([], "missing A, B"), ([("A", SECRET)], "missing B"),
    ([("A", "1"), ("B", "2"), ("C", SECRET)], "not recorded C"),
    ([("A", "1"), ("C", SECRET)], "missing B; not recorded C"),
    ([("A", "1"), ("B", SECRET)], "digest of the values differs"),
])
def test_other_names_or_values_are_refused_without_showing_values(given: list[tuple[str, str]], said: str) -> None:
    with pytest.raises(EnvironmentMismatch, match=said) as caught:
        check_environment(recorded(("A", "1"), ("B", "2")), given)
    assert SECRET not in caught.value.message + caught.value.hint


def test_names_without_a_digest_can_never_be_met() -> None:
    with pytest.raises(EnvironmentMismatch, match="no digest"):
        check_environment(RecordedEnvironment(("A",), None), [("A", "1")])


def test_a_digest_without_names_must_be_that_of_nothing() -> None:
    with pytest.raises(EnvironmentMismatch, match="digest"):
        check_environment(RecordedEnvironment((), "ab" * 32), [])


def test_very_many_names_stay_one_short_line() -> None:
    names = tuple(sorted(f"N{n}_" + "x" * 500 for n in range(1000)))
    with pytest.raises(EnvironmentMismatch, match="and 992 more") as caught:
        check_environment(RecordedEnvironment(names, "ab" * 32), [])
    assert len(caught.value.message) < 700
