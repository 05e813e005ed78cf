"""Imports by LiteTraffic's rules, what ``open()`` reads, and the digest over what they reach."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from scenario_drafts import HOOKS, MANIFEST, SCRIPT, changed, written

from runner.errors import InputError
from runner.load.job import HELPER
from runner.scenarios.load import load_scenario


def refusal(folder: Path, manifest: object = None, **files: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        load_scenario(written(folder / "s", manifest, **files))
    assert caught.value.message.isprintable()
    return caught.value.message.removeprefix(f"{folder}/s/")


def digest(manifest: object, files: dict[str, bytes]) -> str:
    """LiteTraffic's digest, spelled out."""
    raw = json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode()
    lines = [f"\n{name}\0{sha256(content).hexdigest()}".encode() for name, content in sorted(files.items())]
    return sha256(raw + b"".join(lines)).hexdigest()


@pytest.mark.parametrize("line", [
    "import x from 'TARGET';", 'import x from"TARGET"', "import 'TARGET'", "import('TARGET')", "import\n(  'TARGET')",
    "export * from 'TARGET'", "const x = require('TARGET')", "require (\n'TARGET')", "// once from 'TARGET'",
    "/* import 'TARGET' */"])
@pytest.mark.parametrize("target", ["/abs.js", "//cdn/x.js", "file:x.js", "FILE:x.js", "https://cdn/x.js", "k6/x/sql",
                                    "./gone.js", "../out.js", "./../../etc/passwd", "./lib", "./a\\u002ejs"])
def test_refused_wherever_it_is_written(tmp_path: Path, line: str, target: str) -> None:
    (tmp_path / "out.js").write_text("")
    message = refusal(tmp_path, journeys_js=line.replace("TARGET", target), lib__x_js="")
    assert message.startswith("journeys.js: imports ")


@pytest.mark.parametrize("text", [
    "import http from 'k6/http'; import exec from 'k6/execution'", "import x from 'note: hello'",
    "// taken from `/orders`", "const x = {from: '/orders'}", "fromage('/orders')", "load(path)"])
def test_not_an_import_of_a_file(tmp_path: Path, text: str) -> None:
    assert list(load_scenario(written(tmp_path / "s", journeys_js=text)).files) == ["journeys.js"]


def test_the_closure_is_followed_once_and_digested(tmp_path: Path) -> None:
    files = {"journeys.js": "import './lib/a.js'; import { options } from './litetraffic/runtime.js';",
             "lib/a.js": "import '../b.js'; import '../litetraffic/runtime.js'", "b.js": "import './lib/a.js'",
             "unused.js": "import 'https://unused'"}
    scenario = load_scenario(written(tmp_path / "s", **{
        name.replace("/", "__").replace(".js", "_js"): text for name, text in files.items()}))
    helper = (Path(__file__).parents[2] / "images" / "k6" / "runtime.js").read_bytes()
    covered = {name: text.encode() for name, text in files.items() if name != "unused.js"} | {HELPER: helper}
    assert scenario.helper
    assert sorted(scenario.files) == sorted(covered)
    assert scenario.sha256 == digest(MANIFEST, covered)


def test_the_digest_covers_pool_inputs_and_files_that_argv_names(tmp_path: Path) -> None:
    document = changed("fixtures", {"recipe": "é", "pool": "data/pool.json", "command": {
        **HOOKS, "setup": ["sh", "./make.sh", "--file=seed.sql", "/etc/passwd", "x" * 5000, "../s/make.sh", "lib"],
        "teardown": ["drop.sh", "\0"], "inputs": ["seed.sql"]}})
    pool = json.dumps([{"n": number} for number in range(20)]).encode()
    scenario = load_scenario(written(tmp_path / "s", document, data__pool_json=pool, make_sh="m", drop_sh="d",
                                     seed_sql="s", other_sql="o", lib__x_js=""))
    covered = {"journeys.js": SCRIPT.encode(), "data/pool.json": pool, "make.sh": b"m", "drop.sh": b"d",
               "seed.sql": b"s"}
    assert sorted(scenario.files) == sorted(covered)
    assert scenario.sha256 == digest(document, covered)
    assert not scenario.helper
    assert scenario.pool == "data/pool.json"


@pytest.mark.parametrize(("pool", "said"), [
    (b"[1]", "has 1 items, and 20 journeys need one item each"), (b"{}", "is no array"), (b"[", "is not JSON"),
    (b"[NaN]", "has NaN"), (b"\xff", "is not UTF-8"), (b"[" * 500, "nested deeper")])
def test_a_pool_has_an_item_for_each_journey(tmp_path: Path, pool: bytes, said: str) -> None:
    message = refusal(tmp_path, changed("fixtures.pool", "pool.json"), pool_json=pool)
    assert message.startswith("pool.json: ")
    assert said in message


@pytest.mark.parametrize("text", [
    "open('gone.json')", 'const d = open( "gone.json" , "b")', "open(`gone.json`)", "open('/etc/passwd')",
    "open('../out.json')", "open('file:///etc/passwd')", "x = 'it\\'s'; open('gone.json')"])
def test_what_is_opened_must_be_there(tmp_path: Path, text: str) -> None:
    (tmp_path / "out.json").write_text("[]")
    assert refusal(tmp_path, journeys_js=text).startswith("journeys.js: opens ")


@pytest.mark.parametrize("text", [
    "// open('gone.json')", "/* open('gone.json') */", "/* open('gone.json')", "x.open('gone.json')", "reopen('gone')",
    "function open() {}", "'open(\"gone\")'", "const text = 'say open(\\'gone\\')'", "open()"])
def test_what_only_looks_like_opening(tmp_path: Path, text: str) -> None:
    assert load_scenario(written(tmp_path / "s", journeys_js=text)).warnings == ()


@pytest.mark.parametrize("text", ["open(name)", "open('a' + b)", "open(`data/${n}.json`)", "open( \n name)"])
def test_a_computed_name_is_a_warning(tmp_path: Path, text: str) -> None:
    warnings = load_scenario(written(tmp_path / "s", journeys_js=text)).warnings
    assert warnings == ("journeys.js: opens a file by a computed name, so nobody can check that it is there",)


def test_a_module_opens_beside_itself_or_beside_the_script(tmp_path: Path) -> None:
    written(tmp_path / "s", journeys_js="import './lib/read.js'", lib__read_js="open('here.csv'); open('root.csv')",
            lib__here_csv="1", root_csv="2")
    assert load_scenario(tmp_path / "s").warnings == ()


@pytest.mark.parametrize("name", ["litetraffic__runtime_js", "litetraffic_"])
def test_the_helper_has_its_place(tmp_path: Path, name: str) -> None:
    folder = written(tmp_path / "s")
    (folder / "litetraffic").mkdir() if "runtime" in name else (folder / "litetraffic").write_text("")
    if "runtime" in name:
        (folder / "litetraffic" / "runtime.js").write_text("")
    with pytest.raises(InputError, match=r"s/litetraffic(/runtime\.js: this name is|: must be a directory)"):
        load_scenario(folder)


def test_too_many_imports(tmp_path: Path) -> None:
    chain = {f"m{number}_js": f"import './m{number + 1}.js'" for number in range(600)}
    message = refusal(tmp_path, journeys_js="import './m0.js'", m600_js="", **chain)
    assert "imports more than 500 files" in message


@pytest.mark.parametrize("text", ["import" + " " * 200_000, "/*" * 200_000, "open (" + " " * 200_000, "from'" * 60_000,
                                  "'\\" * 200_000, "open(" * 60_000, "import (" * 40_000, b"\xff\0" * 200_000])
def test_no_script_takes_long(tmp_path: Path, text: str | bytes) -> None:
    assert load_scenario(written(tmp_path / "s", journeys_js=text)).script == "journeys.js"
