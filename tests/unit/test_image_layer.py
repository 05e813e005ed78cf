"""A layer depends on the tree alone: not on order, time, names of owners or the machine that made it."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from runner.errors import SetupError
from runner.images.inputs import EPOCH
from runner.images.layer import Layer, normalise

Entry = tuple[tarfile.TarInfo, bytes]


def entry(name: str, data: bytes = b"", *, kind: bytes = tarfile.REGTYPE, mode: int = 0o644, link: str = "",
          mtime: int = 5) -> Entry:
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.linkname, info.mtime, info.size = kind, mode, link, mtime, len(data)
    return info, data


def folder(name: str, mode: int = 0o755) -> Entry:
    return entry(name, kind=tarfile.DIRTYPE, mode=mode)


def tree(path: Path, entries: Sequence[Entry]) -> Path:
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        for info, data in entries:
            tar.addfile(info, io.BytesIO(data))
    return path


def normalised(tmp_path: Path, entries: Sequence[Entry], drop: Sequence[str] = (),
               keep: Sequence[str] = ()) -> tuple[Layer, dict[str, tarfile.TarInfo]]:
    layer = normalise(tree(tmp_path / "raw.tar", entries), tmp_path / "layer.tar", drop, keep)
    with tarfile.open(layer.path) as tar:
        return layer, {member.name: member for member in tar.getmembers()}


def test_order_time_and_owner_names_do_not_matter(tmp_path: Path) -> None:
    first = [folder("./a"), entry("./a/x", b"1"), entry("./a/y", b"2")]
    second = [entry("./a/y", b"2", mtime=99), entry("./a/x", b"1", mtime=77), folder("./a")]
    second[0][0].uname = "somebody"
    assert normalised(tmp_path, first)[0].sha256 == normalised(tmp_path, second)[0].sha256


def test_content_and_mode_matter(tmp_path: Path) -> None:
    digests = {normalised(tmp_path, [item])[0].sha256
               for item in (entry("x", b"1"), entry("x", b"2"), entry("x", b"1", mode=0o755))}
    assert len(digests) == 3


def test_size_and_digest_are_those_of_the_file(tmp_path: Path) -> None:
    layer, _ = normalised(tmp_path, [entry("x", b"1")])
    data = layer.path.read_bytes()
    assert (layer.size, layer.sha256) == (len(data), hashlib.sha256(data).hexdigest())


def test_what_comes_from_the_host_is_left_out(tmp_path: Path) -> None:
    hosts = ["./etc/hostname", "./etc/resolv.conf", "./etc/machine-id", "./etc/ld.so.cache", "./var/log/dpkg.log",
             "./var/cache/apt/pkgcache.bin", "./tmp/left", "./etc/apt/sources.list", "./var/lib/apt/lists/x"]
    folders = ["./etc", "./etc/apt", "./var", "./var/log", "./var/cache", "./var/lib", "./var/lib/apt", "./tmp"]
    _, members = normalised(tmp_path, [*map(folder, folders), *(entry(name, b"host") for name in hosts),
                                       entry("./etc/os-release", b"kept")])
    assert sorted(members) == ["etc", "etc/os-release", "tmp", "var", "var/cache", "var/lib", "var/log"]


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_and_fifos_are_left_out(tmp_path: Path, kind: bytes) -> None:
    _, members = normalised(tmp_path, [entry("dev", kind=tarfile.DIRTYPE), entry("opt-node", kind=kind)])
    assert sorted(members) == ["dev"]


def test_set_id_bits_go_and_the_sticky_bit_stays(tmp_path: Path) -> None:
    _, members = normalised(tmp_path, [entry("su", mode=0o6755), folder("tmp", 0o1777)])
    assert (members["su"].mode, members["tmp"].mode) == (0o755, 0o1777)


def test_everything_has_the_one_time_stamp(tmp_path: Path) -> None:
    _, members = normalised(tmp_path, [folder("a"), entry("a/x", mtime=123)])
    assert {member.mtime for member in members.values()} == {EPOCH}


def test_a_hard_link_follows_its_data_even_when_the_first_name_is_dropped(tmp_path: Path) -> None:
    links = [entry("z", b"data"), entry("b", kind=tarfile.LNKTYPE, link="z"),
             entry("a", kind=tarfile.LNKTYPE, link="z")]
    layer, members = normalised(tmp_path, links, drop=["z"])
    assert members["a"].isreg()
    assert (members["b"].islnk(), members["b"].linkname) == (True, "a")
    with tarfile.open(layer.path) as tar:
        data = tar.extractfile("a")
        assert data is not None
        assert data.read() == b"data"


def test_symbolic_links_stay_as_they_are(tmp_path: Path) -> None:
    _, members = normalised(tmp_path, [entry("bin", kind=tarfile.SYMTYPE, link="usr/bin")])
    assert (members["bin"].issym(), members["bin"].linkname) == (True, "usr/bin")


def test_keep_wins_over_drop_and_brings_its_folders(tmp_path: Path) -> None:
    _, members = normalised(
        tmp_path, [folder("doc"), folder("doc/a"), entry("doc/a/copyright"), entry("doc/a/changelog"),
                   folder("doc/b"), entry("doc/b/changelog")],
        drop=["doc/*"], keep=["doc/*/copyright"])
    assert sorted(members) == ["doc", "doc/a", "doc/a/copyright"]


def test_a_long_and_undecodable_name_survives(tmp_path: Path) -> None:
    name = "x" * 150 + "\udcff"
    raw = tmp_path / "raw.tar"
    with tarfile.open(raw, "w", format=tarfile.GNU_FORMAT, encoding="utf-8", errors="surrogateescape") as tar:
        tar.addfile(tarfile.TarInfo(name))
    layer = normalise(raw, tmp_path / "layer.tar")
    with tarfile.open(layer.path, encoding="utf-8", errors="surrogateescape") as tar:
        assert tar.getnames() == [name]


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../up"])
def test_a_tree_that_leads_out_of_itself_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SetupError, match="outside of itself"):
        normalised(tmp_path, [entry(name)])
