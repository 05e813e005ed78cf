"""Whether a browser's sandbox is on is read from the kernel's tables."""

from __future__ import annotations

import asyncio

import pytest

from runner.driver.confined import sandbox_state, seen_sandbox

OURS, NODE, BROWSER, RENDERER = 32, 40, 50, 60


def table(root, *, nspid="60\t2\t1", seccomp="2", filters="2", kind="--type=renderer", parent=BROWSER):
    rows = {OURS: ("1", "driver", ""), NODE: (OURS, "node", ""), BROWSER: (NODE, "chromium", ""),
            RENDERER: (parent, "chromium", kind)}
    for number, (above, name, word) in rows.items():
        folder = root / str(number)
        folder.mkdir()
        confined = number == RENDERER
        lines = [f"Name:\t{name}", f"PPid:\t{above}", f"NSpid:\t{nspid if confined else number}",
                 f"Seccomp:\t{seccomp if confined else 2}", f"Seccomp_filters:\t{filters if confined else 1}"]
        (folder / "status").write_text("\n".join(lines))
        (folder / "cmdline").write_bytes(b"\0".join([name.encode(), word.encode(), b""]))
    return sandbox_state(str(root), OURS)


def test_namespaces_and_a_filter_of_its_own_are_a_sandbox(tmp_path):
    assert table(tmp_path) == "on"


@pytest.mark.parametrize("lack", [{"nspid": "60"}, {"seccomp": "0"}, {"filters": "1"}], ids=str)
def test_without_one_of_them_there_is_none(tmp_path, lack):
    assert table(tmp_path, **lack) == "off"


@pytest.mark.parametrize("other", [{"kind": "--type=gpu-process"}, {"parent": 1}], ids=str)
def test_only_our_own_browsers_renderers_count(tmp_path, other):
    assert table(tmp_path, **other) == "unknown"


def looked(*states):
    looks = iter(states)
    return asyncio.run(seen_sandbox("chromium", lambda: next(looks), pause=0))


def test_a_renderer_that_was_just_forked_gets_its_filter_yet():
    assert looked("unknown", *["off"] * 19, "on") == "on"


def test_one_that_never_gets_a_filter_has_no_sandbox():
    assert looked("unknown", *["off"] * 19, "unknown", *["off"] * 20) == "off"
