"""Recorded modes: short for ordinary trees, and exact about what drifted."""

import json

from drafts import draft

from runner.payload.fingerprint import Manifest
from runner.payload.tree import Entry, Kind
from runner.sources.modes import MAX_OTHERS, mode_drift, modes_of
from runner.sources.native.parse import dump_native, parse_native
from runner.sources.native.write import write_native


def manifest(**modes):
    kinds = {"d": Kind.DIR, "f": Kind.FILE, "l": Kind.LINK}
    return Manifest([Entry(name.encode(), kinds[name[0]], mode, 0, 0, b"\0" * 32 if name[0] == "f" else None,
                           b"x" if name[0] == "l" else b"") for name, mode in sorted(modes.items())])


def test_an_ordinary_tree_needs_two_modes_and_its_exceptions():
    modes = modes_of(manifest(d1=0o755, f1=0o644, f2=0o644, f3=0o755, l1=0o777))
    assert (modes.file, modes.directory, modes.others) == (0o644, 0o755, (("f3", 0o755),))


def test_an_empty_tree_has_the_usual_modes():
    assert (modes_of(manifest()).file, modes_of(manifest()).directory) == (0o644, 0o755)


def test_a_tree_of_many_modes_is_not_recorded():
    wild = {f"f{number:05d}": number % 0o777 for number in range(3 * MAX_OTHERS)}
    assert modes_of(manifest(**wild)) is None


def test_every_drift_is_named():
    recorded = modes_of(manifest(d1=0o755, f1=0o644, f2=0o644, f3=0o755))
    same = manifest(d1=0o755, f1=0o644, f2=0o644, f3=0o755, l1=0o777)
    assert mode_drift(recorded, same) == ()
    drifted = mode_drift(recorded, manifest(d1=0o700, f1=0o644, f2=0o4644, f3=0o644))
    assert [(change.path, change.detail) for change in drifted] == [
        (b"d1", "0755 to 0700"), (b"f2", "0644 to 4644"), (b"f3", "0755 to 0644")]


def test_a_report_without_modes_is_still_read():
    document = json.loads(write_native(draft()))
    del document["payload"]["modes"]
    assert parse_native(document).payload.modes is None


def test_modes_survive_writing_and_reading():
    document = json.loads(write_native(draft()))
    document["payload"]["modes"] = {"file": "0600", "directory": "0700", "others": {"a%0Ab": "0755"}}
    again = json.loads(dump_native(parse_native(document)))
    assert again["payload"]["modes"] == document["payload"]["modes"]
