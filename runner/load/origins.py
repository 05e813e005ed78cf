"""Origins: where an observation may look besides the target, in their one spelling."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}
_METADATA_NAMES = frozenset({"metadata.google.internal", "metadata.goog"})
_METADATA_ADDRESS = ipaddress.ip_address("fd00:ec2::254")
_NONE = "is no origin, such as https://api.example.com"


def normal_origin(text: str) -> str:
    """An absolute http(s) origin: scheme and host in small letters, names in ASCII, no default port, no slash at the
    end. A path below it stays, as in LiteTraffic.

    Raises ValueError for what is none: credentials, a query, a fragment, and for link-local and metadata addresses.
    Names are not resolved here; who asks over a network does that, and pins what it found.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError(_NONE) from None
    if parts.scheme not in _PORTS or not parts.hostname or not text.isprintable() or "\\" in text or " " in text:
        raise ValueError(_NONE)
    if "@" in parts.netloc or "?" in text or "#" in text:
        raise ValueError("is no origin: it must not have credentials, a query or a fragment")
    host = _ascii(parts.hostname)
    if _is_blocked(host):
        raise ValueError("is a link-local or metadata address, which is never asked")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + ("" if port in (None, _PORTS[parts.scheme]) else f":{port}") \
        + parts.path.rstrip("/")


def _ascii(host: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode().lower()
    except UnicodeError:
        raise ValueError(_NONE) from None


def _is_blocked(host: str) -> bool:
    bare = host.split("%", maxsplit=1)[0].rstrip(".")
    if bare in _METADATA_NAMES:
        return True
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        try:  # spellings that resolvers still take, such as 0xA9FEA9FE
            address = ipaddress.ip_address(socket.inet_aton(bare))
        except OSError:
            return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_link_local or address == _METADATA_ADDRESS
