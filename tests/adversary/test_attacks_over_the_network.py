"""Threat: talking to anybody (row 24, reserve on literals): the host, its services, other containers, the world."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest
from boundaries import here
from harness import attack, attack_with, attacks_with, said

FAMILIES = {"AF_KEY": 15, "AF_NETLINK": 16, "AF_PACKET": 17, "AF_RDS": 21, "AF_PPPOX": 24, "AF_CAN": 29, "AF_TIPC": 30,
            "AF_BLUETOOTH": 31, "AF_RXRPC": 33, "AF_ALG": 38, "AF_NFC": 39, "AF_VSOCK": 40, "AF_QIPCRTR": 42,
            "AF_SMC": 43, "AF_XDP": 44}
KINDS = {"raw ICMP": (2, 3, 1), "ping": (2, 2, 1), "SCTP": (2, 1, 132), "MPTCP": (2, 1, 262), "UDP-Lite": (2, 2, 136),
         "raw ICMPv6": (10, 3, 58), "IPv6 SCTP": (10, 1, 132), "IPv6 MPTCP": (10, 1, 262)}
AWAY = {
    "cloud metadata": "169.254.169.254", "cloud metadata over IPv6": "fd00:ec2::254", "engine's bridge": "172.17.0.1",
    "private network": "10.0.0.1", "public resolver": "8.8.8.8", "public resolver over IPv6": "2001:4860:4860::8888",
    "broadcast": "255.255.255.255", "multicast": "224.0.0.1", "multicast over IPv6": "ff02::1",
}
NAMES = ("example.com", "metadata.google.internal", "host.docker.internal", "gateway.docker.internal")

PROGRAM = f"""
import errno, json, os, socket
def attempt(body):
    try:
        body()
    except socket.gaierror:
        return "no such name"
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
def reach(address, kind, port=80):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, kind) as link:
        link.settimeout(3)
        if kind == socket.SOCK_DGRAM:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            link.sendto(b"x", (address, port))
        else:
            link.connect((address, port))
def bind(address):
    with socket.socket() as link:
        link.bind((address, 0))
def option(level, name, value=1):
    with socket.socket() as link:
        link.setsockopt(level, name, value)
def loopback(family, address):
    with socket.socket(family) as server, socket.socket(family) as client:
        server.bind((address, 0))
        server.listen()
        client.connect(server.getsockname())
print(json.dumps({{
    "families": {{name: sorted({{attempt(lambda: socket.socket(number, kind)) for kind in (1, 2, 3, 5)}})
                 for name, number in {FAMILIES!r}.items()}},
    "kinds": {{name: attempt(lambda: socket.socket(*how)) for name, how in {KINDS!r}.items()}},
    "connect": {{name: attempt(lambda: reach(address, socket.SOCK_STREAM)) for name, address in {AWAY!r}.items()}},
    "send": {{name: attempt(lambda: reach(address, socket.SOCK_DGRAM)) for name, address in {AWAY!r}.items()}},
    "bind": {{address: attempt(lambda: bind(address)) for address in ("172.17.0.1", "10.0.0.1", "8.8.8.8")}},
    "names": {{name: attempt(lambda: socket.getaddrinfo(name, 80)) for name in {NAMES!r}}},
    "options": {{"SO_MARK": attempt(lambda: option(1, 36)), "TCP_REPAIR": attempt(lambda: option(6, 19)),
                "SO_RCVBUFFORCE": attempt(lambda: option(1, 33, 1 << 26)),
                "IP_TRANSPARENT": attempt(lambda: option(0, 19))}},
    "loopback": [attempt(lambda: loopback(socket.AF_INET, "127.0.0.1")),
                 attempt(lambda: loopback(socket.AF_INET6, "::1"))],
    "interfaces": [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]],
    "routes": len(open("/proc/net/route").readlines()) - 1, "unix sockets": open("/proc/net/unix").readlines()[1:],
    "resolver": open("/etc/resolv.conf").read(),
}}))
"""


@pytest.fixture(scope="module")
def probes() -> dict[str, dict[str, str]]:
    answer: dict[str, dict[str, str]] = said(attack_with(PROGRAM))
    return answer


@pytest.mark.parametrize("family", FAMILIES)
def test_socket_family_is_denied(probes: dict[str, dict[str, str]], family: str) -> None:
    """Row 24: netlink, packets, vsock, kernel crypto and the rest: no socket of any type."""
    assert probes["families"][family] == ["EPERM"]


@pytest.mark.parametrize("kind", KINDS)
def test_only_plain_tcp_and_udp_sockets_exist(probes: dict[str, dict[str, str]], kind: str) -> None:
    """Row 24: within AF_INET and AF_INET6 no raw sockets and no rarely used protocol."""
    assert probes["kinds"][kind] == "EPERM"


@pytest.mark.parametrize("place", AWAY)
def test_nobody_is_reached(probes: dict[str, dict[str, str]], place: str) -> None:
    """Row 24: metadata service, bridge, private and public addresses, over TCP and UDP: the network is unreachable."""
    assert (probes["connect"][place], probes["send"][place]) == here(("ENETUNREACH", "ENETUNREACH"))


@pytest.mark.parametrize("name", NAMES)
def test_no_name_is_resolved(probes: dict[str, dict[str, str]], name: str) -> None:
    """Row 24: there is no resolver, and the host's own is not even named."""
    assert (probes["names"][name], probes["resolver"]) == ("no such name", "")


@pytest.mark.parametrize("address", ["172.17.0.1", "10.0.0.1", "8.8.8.8"])
def test_foreign_addresses_cannot_be_bound(probes: dict[str, dict[str, str]], address: str) -> None:
    """Row 24: none but the loopback's addresses exist."""
    assert probes["bind"][address] == "EADDRNOTAVAIL"


@pytest.mark.parametrize("option", ["SO_MARK", "TCP_REPAIR", "SO_RCVBUFFORCE", "IP_TRANSPARENT"])
def test_privileged_socket_options_are_denied(probes: dict[str, dict[str, str]], option: str) -> None:
    """Row 24: options that need a capability."""
    assert probes["options"][option] == here("EPERM")


def test_loopback_works_and_is_all_there_is(probes: dict[str, dict[str, str]]) -> None:
    """Row 25, reserve: 127.0.0.1 and ::1 work within the run; there is no other interface, route or socket."""
    assert (probes["loopback"], probes["interfaces"], probes["routes"], probes["unix sockets"]) == (
        ["done", "done"], ["lo"], 0, [])


@pytest.fixture
def host_port() -> Iterator[int]:
    with closing(socket.create_server(("0.0.0.0", 0))) as server:
        yield server.getsockname()[1]


def test_services_of_the_host_are_not_reached(host_port: int) -> None:
    """Row 24: a server that listens on all of the host's addresses hears nothing from a run's loopback or bridge."""
    answer = said(attack_with(f"""
        import errno, json, socket
        def reach(address):
            try:
                socket.create_connection((address, {host_port}), 2).close()
            except OSError as error:
                return errno.errorcode[error.errno]
            return "reached"
        print(json.dumps([reach("127.0.0.1"), reach("172.17.0.1")]))
        """))
    assert answer == here(["ECONNREFUSED", "ENETUNREACH"])


def test_abstract_sockets_of_the_host_are_not_reached() -> None:
    """Row 24: abstract names belong to the network namespace: the host's is refused, and can be taken once more."""
    name = f"\0runner-adversary-{os.getpid()}"
    with closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind(name)
        server.listen()
        answer = said(attack_with(f"""
            import errno, json, socket
            link = socket.socket(socket.AF_UNIX)
            try:
                link.connect({name!r})
                first = "reached"
            except OSError as error:
                first = errno.errorcode[error.errno]
            socket.socket(socket.AF_UNIX).bind({name!r})
            print(json.dumps([first, "bound"]))
            """))
    assert answer == ["ECONNREFUSED", "bound"]


def test_two_runs_at_once_do_not_hear_each_other() -> None:
    """Row 15, 24: the same port, abstract name and path at the same time in two runs: each has its own."""
    for seen in attacks_with("""
        import json, socket, time
        tcp = socket.create_server(("127.0.0.1", 8080))
        abstract, path = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        abstract.bind("\\0shared")
        path.bind("/tmp/shared")
        abstract.listen()
        for server in (tcp, abstract):
            server.settimeout(1)
        def callers():
            count = 0
            for server in (tcp, abstract):
                try:
                    server.accept()
                    count += 1
                except TimeoutError:
                    pass
            return count
        print(json.dumps(callers()))
        """, runs=2, jobs=2):
        assert said(seen) == 0


def test_descriptors_cannot_be_passed_out() -> None:
    """Row 24: SCM_RIGHTS needs a peer; a socket file left in the volume has none, and is only listed."""
    seen, = attack({}, "python3 -c 'import socket; s = socket.socket(1); s.bind(\"left\"); s.listen()'")
    assert [tuple(change) for change in seen.changes] == here([("added", b"left", "socket")])
