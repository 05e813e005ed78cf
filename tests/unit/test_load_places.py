"""Where a load run outside the sandbox may go, and where never."""

from __future__ import annotations

import ipaddress
import socket

import pytest

from runner.controller.loads.places import Place, denied, reach
from runner.errors import UsageError


def resolving(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Every name has these addresses."""
    def answer(host: str, port: int, **_: object) -> list[object]:
        return [(socket.AF_INET6 if ":" in at else socket.AF_INET, socket.SOCK_STREAM, 6, "", (at, port))
                for at in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", answer)


def test_a_name_is_pinned_to_what_it_resolved_to(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "2001:db8::7", "192.0.2.7")
    assert reach(["https://shop.example", "https://shop.example"]) == (Place("shop.example", 443, "192.0.2.7"),)


@pytest.mark.parametrize("address", ["169.254.169.254", "169.254.0.9", "fe80::1", "::ffff:169.254.169.254",
                                     "fd00:ec2::254", "100.100.100.200", "0.0.0.0", "::", "224.0.0.1"])
def test_no_name_leads_to_metadata_or_a_link_local_address(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    resolving(monkeypatch, "192.0.2.7", address)
    with pytest.raises(UsageError, match="which no run may reach"):
        reach(["http://innocent.example"])


@pytest.mark.parametrize("host", ["metadata.google.internal", "metadata", "instance-data"])
def test_names_of_metadata_services_are_refused_unresolved(host: str) -> None:
    with pytest.raises(UsageError, match="credentials"):
        reach([f"http://{host}/"])


@pytest.mark.parametrize("spelling", ["http://2852039166", "http://0xa9fea9fe", "http://0251.0376.0251.0376",
                                      "http://169.254.43518", "http://[::ffff:a9fe:a9fe]"])
def test_old_spellings_of_an_address_are_that_address(spelling: str) -> None:
    with pytest.raises(UsageError, match="which no run may reach"):
        reach([spelling])


def test_a_name_that_is_none_is_said_in_one_line() -> None:
    with pytest.raises(UsageError, match="does not resolve"):
        reach(["http://no-such-host.invalid"])


def test_everything_but_the_places_is_denied() -> None:
    networks = [ipaddress.ip_network(text) for text in denied([Place("a", 80, "192.0.2.7"), Place("b", 80, "::1")])]

    def blocked(text: str) -> bool:
        address = ipaddress.ip_address(text)
        return any(address in network for network in networks if network.version == address.version)

    assert not blocked("192.0.2.7")
    assert not blocked("::1")
    for other in ("192.0.2.6", "192.0.2.8", "169.254.169.254", "127.0.0.1", "255.255.255.255", "::", "::2", "fe80::1"):
        assert blocked(other)


def test_loopback_is_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "127.0.0.1")
    assert [place.loopback for place in reach(["http://localhost:8080"])] == [True]
