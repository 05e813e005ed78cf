"""Where a run outside the sandbox may go: names are resolved once, here, and nothing else is reached afterwards."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from runner.errors import UsageError, printable

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "metadata.goog", "instance-data",
                             "instance-data.ec2.internal"})
_METADATA = frozenset(map(ipaddress.ip_address, ("169.254.169.254", "fd00:ec2::254", "100.100.100.200",
                                                 "168.63.129.16", "192.0.0.192")))
"""Where clouds tell a machine its credentials."""
_EVERYWHERE = (ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0"))


@dataclass(frozen=True, slots=True)
class Place:
    """A host by its name, its port, and the one address that it is reached at."""

    host: str
    port: int
    address: str

    @property
    def loopback(self) -> bool:
        """Whether it is this machine itself."""
        return ipaddress.ip_address(self.address).is_loopback


def reach(origins: Iterable[str]) -> tuple[Place, ...]:
    """The places of origins. Raises UsageError for a name that does not resolve, and for an address that no run may
    reach: link-local ones and those of cloud metadata, in whatever way they are written.
    """
    return tuple(_place(origin) for origin in dict.fromkeys(origins))


def denied(places: Iterable[Place]) -> tuple[str, ...]:
    """All networks but the places' addresses, for a program that can only be told where not to go."""
    allowed = [ipaddress.ip_address(place.address) for place in places]
    return tuple(str(network) for whole in _EVERYWHERE for network in _without(whole, allowed))


def _place(origin: str) -> Place:
    parts = urlsplit(origin)
    host, port = (parts.hostname or "").rstrip("."), parts.port or (443 if parts.scheme == "https" else 80)
    shown = printable(host)[:200]
    if host in _METADATA_NAMES:
        raise UsageError(f"{shown}: a service that gives out a machine's credentials is no application to test")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UsageError(f"{shown}: the name does not resolve", hint="is the application there?") from None
    addresses = list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))
    for address in addresses:
        _check(shown, ipaddress.ip_address(address))
    return Place(host, port, next((address for address in addresses if ":" not in address), addresses[0]))


def _check(shown: str, address: IpAddress) -> None:
    inner = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    real = inner or address
    if real in _METADATA or real.is_link_local or real.is_multicast or real.is_unspecified:
        raise UsageError(f"{shown}: resolves to {address}, which no run may reach",
                         hint="name the application's own address")


def _without(whole: IpNetwork, allowed: list[IpAddress]) -> Iterator[IpNetwork]:
    rest: list[IpNetwork] = [whole]
    for address in allowed:
        if address.version != whole.version:
            continue
        single = ipaddress.ip_network(address)
        rest = [part for network in rest
                for part in (network.address_exclude(single)  # type: ignore[arg-type]
                             if single.subnet_of(network) else (network,))]  # type: ignore[arg-type]
    yield from sorted(rest, key=lambda network: (int(network.network_address), network.prefixlen))
