"""Programs talk to themselves by the name ``localhost``; nothing else has a name."""

from runner.controller.record import RecordRequest, record
from runner.workloads.command import CommandWorkload
from tests.engine.busybox_image import NAME, busybox_image

SERVER = """
import socket, sys
server = socket.create_server(("localhost", 0))
socket.create_connection(("localhost", server.getsockname()[1]))
socket.getaddrinfo(socket.gethostname(), 80)
sys.exit("talked to myself as localhost")
"""


def run(payload, argv, **more):
    workload = CommandWorkload(argv=argv)
    return record(RecordRequest(payload=str(payload), workload=workload, runs=1, exit_code=1, **more)).observations[0]


def test_our_image_knows_localhost_and_its_own_name(tmp_path):
    (tmp_path / "a.py").write_text(SERVER)
    assert b"talked to myself" in run(tmp_path, ("python3", "a.py")).stderr.kept


def test_any_other_image_gets_a_hosts_file_and_not_the_hosts_resolver(tmp_path):
    payload = tmp_path / "payload"
    payload.mkdir()
    (payload / "a").write_text("a")
    with busybox_image(tmp_path):
        shown = run(payload, ("sh", "-c", "cat /etc/hosts /etc/resolv.conf; exit 1"), image=NAME,
                    signature=None).stdout.kept.decode()
    assert "127.0.0.1\tlocalhost" in shown
    assert [line for line in shown.splitlines() if line.startswith("nameserver")] == ["nameserver 127.0.0.1"]
