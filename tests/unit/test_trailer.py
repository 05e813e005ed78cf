"""The controller's half of the init's protocol."""

from __future__ import annotations

import pytest

from runner.errors import UsageError
from runner.sandbox.exit import Trailer
from runner.sandbox.trailer import MAX_ENVIRONMENT, TRAILER_BYTES, release_message, split_trailer

NONCE = bytes(range(32))


def written(kind: str = "E", code: int = 0, *, nonce: bytes = NONCE, peak: str = "9" * 20,
            kills: str = "9" * 20) -> bytes:
    """As images/steward/init_trailer.c writes it."""
    return (f"\0RUNNER-TRAILER-1 {nonce.hex()} {kind} {code:010} {11:020} {22:020} {33:020} {peak} {kills}\n"
            ).encode()


def test_the_release_is_laid_out_as_documented() -> None:
    message = release_message(NONCE, [("A", "1"), ("BYTES", "\udcff=")])
    assert message == b"RUNINIT1" + NONCE + b"\0\0\0\x0d" + b"A=1\0BYTES=\xff=\0"


def test_no_environment_is_an_empty_block() -> None:
    assert release_message(NONCE, ()) == b"RUNINIT1" + NONCE + b"\0\0\0\0"


@pytest.mark.parametrize("env", [
    [("", "x")], [("A=B", "x")], [("A\0", "x")], [("A", "secret\0")], [("A", "secret"), ("A", "secret")],
    [("A", "\ud800secret")], [("A", "secret" * MAX_ENVIRONMENT)],
])
def test_what_cannot_be_an_environment_is_refused_without_quoting_values(env: list[tuple[str, str]]) -> None:
    with pytest.raises(UsageError) as caught:
        release_message(NONCE, env)
    assert "secret" not in caught.value.message
    assert "\n" not in caught.value.message


def test_the_largest_environment_fits() -> None:
    assert len(release_message(NONCE, [("A", "x" * (MAX_ENVIRONMENT - 3))])) == 44 + MAX_ENVIRONMENT


@pytest.mark.parametrize(("kind", "code", "name"), [
    ("E", 0, "exited"), ("E", 255, "exited"), ("S", 1, "signaled"), ("S", 64, "signaled"),
    ("N", 2, "not_started"), ("N", 4095, "not_started")])
def test_a_trailer_of_ours_is_taken_off(kind: str, code: int, name: str) -> None:
    rest, trailer = split_trailer(b"the end" + written(kind, code), NONCE)
    assert rest == b"the end"
    assert (trailer.kind, trailer.code) == (name, code) if trailer else False


def test_its_figures_are_read() -> None:
    read = split_trailer(written(peak=f"{44:020}", kills=f"{5:020}"), NONCE)
    assert read == (b"", Trailer("exited", 0, 11, 22, 33, 44, 5))


def test_unknown_figures_are_none() -> None:
    assert split_trailer(written(), NONCE) == (b"", Trailer("exited", 0, 11, 22, 33, None, None))


@pytest.mark.parametrize("tail", [
    b"", b"\n", written(nonce=bytes(32)), written() + b"\n", written()[:-1], written()[1:], written() + b"x",
    written().replace(b" E ", b" X "), written().replace(b"-1 ", b"-2 "), written(code=256), written("S", 0),
    written("S", 65), written("N", 0), written().upper(), written().replace(b"0000000000 ", b"-000000001 ", 1),
    b"x" * TRAILER_BYTES,
])
def test_anything_else_is_ordinary_output(tail: bytes) -> None:
    assert split_trailer(tail, NONCE) == (tail, None)


def test_only_the_last_of_two_is_the_trailer() -> None:
    assert split_trailer(written("E", 1) + written("E", 2), NONCE)[0] == written("E", 1)


def test_its_length_is_what_backends_hold_back() -> None:
    assert len(written()) == TRAILER_BYTES
