"""The journal: what a crash leaves is used, what anybody changed is not."""

import json
import os

import pytest
from shrinking import TERMS

from runner.controller.shrinking import journal as room
from runner.controller.shrinking.journal import name_of, open_journal
from runner.errors import EvidenceAltered, SetupError, UsageError

ENTRIES = (("aa", frozenset({"one", "two"})), ("bb", None), ("aa", frozenset()), ("cc", frozenset({"one"})))


@pytest.fixture
def path(tmp_path):
    written = tmp_path / name_of(TERMS)
    with open_journal(written, TERMS) as journal:
        for candidate, seen in ENTRIES:
            journal.append(candidate, seen)
    return written


def entries(path, terms=TERMS):
    with open_journal(path, terms) as journal:
        return journal.entries


def test_what_was_written_is_read(path):
    assert entries(path) == ENTRIES
    assert path.stat().st_mode & 0o777 == 0o600


def test_cut_anywhere_it_has_the_whole_lines_and_goes_on(path):
    raw = path.read_bytes()
    for length in range(len(raw)):
        path.write_bytes(raw[:length])
        kept = entries(path)
        assert kept == ENTRIES[:max(raw[:length].count(b"\n") - 1, 0)]
        with open_journal(path, TERMS) as journal:
            journal.append("dd", None)
        assert entries(path) == (*kept, ("dd", None))


def test_a_torn_line_of_zeros_is_cut_off(path):
    with path.open("ab") as file:
        file.write(bytes(4096))
    assert entries(path) == ENTRIES


def test_any_changed_byte_is_seen(path):
    raw = bytearray(path.read_bytes())
    for at in range(len(raw) - 1):
        changed = bytearray(raw)
        changed[at] ^= 1
        path.write_bytes(changed)
        with pytest.raises((EvidenceAltered, UsageError)):
            entries(path)


@pytest.mark.parametrize("change", [
    lambda lines: lines[1:], lambda lines: [lines[0], *lines[2:]], lambda lines: [*lines[:2], lines[1], *lines[2:]],
    lambda lines: [*lines[:2], lines[3], lines[2], lines[4]], lambda lines: [*lines, lines[1]],
    lambda lines: [*lines, b"null\n"], lambda lines: [*lines, b"[" * 100_000 + b"\n"],
    lambda lines: [*lines, b'{"chain":1}\n'], lambda lines: [*lines, b"\xff\n"], lambda lines: [*lines, b"\n"]])
def test_lines_lost_moved_doubled_or_planted_are_seen(path, change):
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(EvidenceAltered, match=r"line \d+ is not what was written there"):
        entries(path)


@pytest.mark.parametrize("body", [
    {"candidate": 1, "seen": []}, {"candidate": "aa"}, {"candidate": "aa", "seen": "one"},
    {"candidate": "aa", "seen": [1]}])
def test_a_line_of_another_shape_is_refused_though_its_digest_is_right(path, body):
    with open_journal(path, TERMS) as journal:
        journal._write(body)
    with pytest.raises(EvidenceAltered, match="line 6 "):
        entries(path)


@pytest.mark.parametrize("key", list(TERMS))
def test_the_journal_of_other_terms_is_refused(path, key):
    other = {**TERMS, key: "another"}
    assert name_of(other) != name_of(TERMS)
    with pytest.raises(UsageError, match="the journal of another incident"):
        entries(path, other)


def test_two_at_once_are_refused(path):
    with open_journal(path, TERMS), pytest.raises(UsageError, match="by another process"):
        entries(path)


def test_only_a_private_file_of_ours_is_used(tmp_path, path):
    link = tmp_path / "link"
    link.symlink_to(path)
    os.mkfifo(tmp_path / "fifo", 0o600)
    (tmp_path / "folder").mkdir()
    for name in ("link", "fifo", "folder"):
        with pytest.raises(UsageError, match=name):
            entries(tmp_path / name)
    path.chmod(0o622)
    with pytest.raises(UsageError, match="only you can write"):
        entries(path)


def test_no_journal_is_that_big(path, monkeypatch):
    monkeypatch.setattr(room, "MAX_BYTES", 10)
    with pytest.raises(UsageError, match="no journal of ours"):
        entries(path)


@pytest.mark.parametrize("when", ["write", "fsync"])
def test_a_line_that_was_interrupted_leaves_nothing(path, monkeypatch, when):
    with open_journal(path, TERMS) as journal:
        with monkeypatch.context() as patch:
            patch.setattr(os, when, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                journal.append("dd", None)
        journal.append("ee", None)
    assert entries(path) == (*ENTRIES, ("ee", None))


def test_a_full_disk_is_told_and_leaves_whole_lines(path, monkeypatch):
    real = os.write
    with open_journal(path, TERMS) as journal, monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, line: real(descriptor, line[:7]))
        with pytest.raises(SetupError, match="no room"):
            journal.append("dd", None)
    assert entries(path) == ENTRIES


def test_lines_are_json_that_people_can_read(path):
    first, second = (json.loads(line) for line in path.read_text().splitlines()[:2])
    assert first["terms"] == TERMS
    assert (second["candidate"], second["seen"]) == ("aa", ["one", "two"])
