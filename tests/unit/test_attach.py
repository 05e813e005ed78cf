"""The attached streams over TLS: what a remote engine's connection does that a socket of this host never does."""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runner.errors import EngineUnavailable
from runner.sandbox.backends.docker.attach import STDOUT, Attachment
from runner.sandbox.deadline import Deadline

FRAME = b"\1\0\0\0\0\0\0\5hello"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "1", "-subj", "/CN=engine", "-keyout", path, "-out", path],
                   check=True, capture_output=True)
    return path


def shaken(ours: socket.socket, theirs: socket.socket, certificate: Path) -> tuple[ssl.SSLSocket, ssl.SSLObject, Any]:
    """A client's TLS socket; and the engine's side in memory, on a plain socket, so that it can be cut anywhere."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    client = ssl.create_default_context(cafile=str(certificate))
    client.check_hostname = False
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    engine = server.wrap_bio(incoming, outgoing, server_side=True)
    ours.setblocking(False)
    mine = client.wrap_socket(ours, do_handshake_on_connect=False)
    done = {"mine": False, "theirs": False}
    while not all(done.values()):
        for name, step in (("mine", mine.do_handshake), ("theirs", engine.do_handshake)):
            with suppress(ssl.SSLWantReadError):
                step()
                done[name] = True
            theirs.sendall(outgoing.read())
            theirs.setblocking(False)
            with suppress(BlockingIOError):
                incoming.write(theirs.recv(65536))
            theirs.setblocking(True)
    return mine, engine, outgoing


@pytest.fixture
def line(certificate: Path) -> Iterator[SimpleNamespace]:
    """Our attachment, and the engine's end of it."""
    ours, theirs = socket.socketpair()
    mine, engine, outgoing = shaken(ours, theirs, certificate)
    attachment = Attachment(SimpleNamespace(attach_socket=lambda *_, **__: mine), "container")  # type: ignore[arg-type]
    yield SimpleNamespace(attachment=attachment, socket=theirs, tls=engine, outgoing=outgoing)
    attachment.close()
    theirs.close()


def record(line: SimpleNamespace, data: bytes) -> bytes:
    """What the engine would put on the wire."""
    line.tls.write(data)
    sealed: bytes = line.outgoing.read()
    return sealed


def test_output_is_read_after_the_leash_was_slipped(line: SimpleNamespace) -> None:
    """The end of stdin is the end of one direction only; what the other one still brings is readable."""
    line.attachment.slip_leash()
    while line.socket.recv(65536):  # the rest of the handshake, then the end
        pass
    line.socket.sendall(record(line, FRAME))
    assert line.attachment.wait_readable(Deadline.after(10))
    assert [(stream, bytes(data)) for stream, data in line.attachment.read() or ()] == [(STDOUT, b"hello")]


def test_a_connection_that_is_cut_is_the_end_of_the_stream(line: SimpleNamespace) -> None:
    """Without TLS's own goodbye: a dead engine sends none. There is no trailer then, and so no verdict."""
    line.socket.close()
    assert line.attachment.wait_readable(Deadline.after(10))
    assert line.attachment.read() is None


def test_half_a_record_does_not_hang(line: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The network falls silent within a record: an error after a while, not a wait without end."""
    line.attachment._socket.settimeout(0.1)
    line.socket.sendall(record(line, FRAME)[:-3])
    assert line.attachment.wait_readable(Deadline.after(10))
    with pytest.raises(EngineUnavailable, match="stream of a container broke"):
        line.attachment.read()


def test_a_record_has_a_bounded_time(line: SimpleNamespace) -> None:
    assert 0 < (line.attachment._socket.gettimeout() or 0) <= 60


def test_garbage_is_one_clear_line(line: SimpleNamespace) -> None:
    line.socket.sendall(b"\x17\x03\x03\x00\x20" + bytes(32))
    assert line.attachment.wait_readable(Deadline.after(10))
    with pytest.raises(EngineUnavailable, match="stream of a container broke"):
        line.attachment.read()
