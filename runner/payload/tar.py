"""The canonical tar stream: one way, and only one, to write a sealed tree as a POSIX tar archive.

Source of the format: POSIX.1-2017, pax interchange format. Entries come in the order of their raw path bytes,
with uid and gid 0 and no names. An extended header is written for an entry that needs one (a name or target
over 100 bytes or not ASCII, a time with a fraction or out of range, a size over 8 GiB), never a global one;
names that are not UTF-8 are announced by ``hdrcharset=BINARY``. Two zero blocks end the stream, without the
padding to a record. The reader accepts exactly what the writer writes.
"""

from __future__ import annotations

from collections.abc import Callable

from runner.errors import PayloadRefused
from runner.payload.tree import LINK_MODE, Entry, Kind

BLOCK = 512
END = bytes(2 * BLOCK)
_MAX_OCTAL = 0o77777777777
_MAX_EXTENDED = 64 << 10
_MAX_DIGITS = 20
_MAX_MODE = 0o7777
_NANO = 10**9
_TYPES = {Kind.FILE: b"0", Kind.LINK: b"2", Kind.DIR: b"5"}
_KINDS = {flag: kind for kind, flag in _TYPES.items()}


def encode_header(entry: Entry) -> bytes:
    """The header blocks of an entry. The content of a file follows, filled up with :func:`padding`."""
    name = entry.path + b"/" if entry.kind is Kind.DIR else entry.path
    size = entry.size if entry.kind is Kind.FILE else 0
    records = _records(entry, name, size)
    seconds = min(max(entry.mtime_ns // _NANO, 0), _MAX_OCTAL)
    block = _block(name[:100], entry.mode, size if size <= _MAX_OCTAL else 0, seconds,
                   _TYPES[entry.kind] + entry.target[:100])
    if not records:
        return block
    return _block(b"PaxHeader", 0o644, len(records), 0, b"x") + records + padding(len(records)) + block


def padding(size: int) -> bytes:
    """What fills up ``size`` bytes to whole blocks."""
    return bytes(-size % BLOCK)


def _records(entry: Entry, name: bytes, size: int) -> bytes:
    long_name, long_target = _extended(name), _extended(entry.target)
    seconds, fraction = divmod(entry.mtime_ns, _NANO)
    records = b""
    if (long_name and not _is_utf8(name)) or (long_target and not _is_utf8(entry.target)):
        records += _record(b"hdrcharset", b"BINARY")
    if long_target:
        records += _record(b"linkpath", entry.target)
    if fraction or not 0 <= seconds <= _MAX_OCTAL:
        records += _record(b"mtime", _decimal(entry.mtime_ns))
    if long_name:
        records += _record(b"path", name)
    if size > _MAX_OCTAL:
        records += _record(b"size", b"%d" % size)
    return records


def _extended(raw: bytes) -> bool:
    return len(raw) > 100 or not raw.isascii()


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _record(key: bytes, value: bytes) -> bytes:
    """``LENGTH KEY=VALUE`` and a newline; the length counts its own digits."""
    body = len(key) + len(value) + 3
    length = body + len(str(body))
    length = body + len(str(length))
    return b"%d %b=%b\n" % (length, key, value)


def _decimal(nanoseconds: int) -> bytes:
    sign = "-" if nanoseconds < 0 else ""
    seconds, fraction = divmod(abs(nanoseconds), _NANO)
    text = f"{sign}{seconds}.{fraction:09d}".rstrip("0").rstrip(".")
    return text.encode()


def _block(name: bytes, mode: int, size: int, seconds: int, flag_and_target: bytes) -> bytes:
    start = b"%b%07o\0%b%011o\0%011o\0" % (name.ljust(100, b"\0"), mode, b"0000000\0" * 2, size, seconds)
    rest = (flag_and_target.ljust(101, b"\0") + b"ustar\x0000").ljust(BLOCK - 156, b"\0")
    return b"%b%06o\0 %b" % (start, sum(start) + sum(rest) + 8 * ord(" "), rest)


def read_header(read: Callable[[int], bytes]) -> Entry | None:
    """The next entry of a stream, without digest; ``None`` at its end. ``read(n)`` gives exactly n bytes.

    Raises PayloadRefused, rule ``malformed_stream``, for anything that the writer would not have written.
    """
    raw = read(BLOCK)
    if raw == bytes(BLOCK):
        if read(BLOCK) != bytes(BLOCK):
            raise _malformed("no end of archive")
        return None
    try:
        records: dict[bytes, bytes] = {}
        block = raw
        if raw[156:157] == b"x":
            size = int(raw[124:135], 8)
            if not 0 < size <= _MAX_EXTENDED:
                raise _malformed("an extended header is too large")
            body = read(size + -size % BLOCK)
            records = _parse_records(body[:size])
            block = read(BLOCK)
            raw = b"".join((raw, body, block))
        entry = _parse(block, records)
    except (ValueError, KeyError) as error:
        raise _malformed("a header cannot be read") from error
    if _is_odd(entry) or encode_header(entry) != raw:
        raise _malformed("a header is not in canonical form")
    return entry


def _is_odd(entry: Entry) -> bool:
    """Whether no walk finds such an entry, although its header can be written: it is refused all the same."""
    is_link = entry.kind is Kind.LINK
    return (not 0 <= entry.mode <= _MAX_MODE or entry.size < 0 or b"\0" in entry.target
            or is_link != bool(entry.target) or (is_link and entry.mode != LINK_MODE))


def _parse(block: bytes, records: dict[bytes, bytes]) -> Entry:
    kind = _KINDS[block[156:157]]
    path = records.get(b"path", block[:100].rstrip(b"\0"))
    if kind is Kind.DIR:
        path = path[:-1]
    if any(part in (b"", b".", b"..") for part in path.split(b"/")) or b"\0" in path:
        raise ValueError("path")
    target = records.get(b"linkpath", block[157:257].rstrip(b"\0"))
    size = int(records.get(b"size", block[124:135]), 10 if b"size" in records else 8)
    mtime = _nanoseconds(records[b"mtime"]) if b"mtime" in records else int(block[136:147], 8) * _NANO
    size = len(target) if kind is Kind.LINK else size
    return Entry(path, kind, int(block[100:107], 8), mtime, size, None, target)


def _nanoseconds(text: bytes) -> int:
    if len(text) > 2 * _MAX_DIGITS:
        raise ValueError("time")
    whole, _, fraction = text.removeprefix(b"-").partition(b".")
    value = int(whole) * _NANO + int(fraction.ljust(9, b"0") or b"0")
    if value >= 1 << 63:
        raise ValueError("time")
    return -value if text.startswith(b"-") else value


def _parse_records(body: bytes) -> dict[bytes, bytes]:
    records: dict[bytes, bytes] = {}
    while body:
        digits, _, _ = body.partition(b" ")
        length = int(digits[:_MAX_DIGITS])
        if not 0 < length <= len(body):
            raise ValueError("record")
        key, _, value = body[len(digits) + 1:length - 1].partition(b"=")
        records[key] = value
        body = body[length:]
    return records


def _malformed(why: str) -> PayloadRefused:
    return PayloadRefused(f"the payload stream is malformed: {why}", rule="malformed_stream", path=b"")
