"""The image `browser` under its policy: what it is made of, Chromium's own sandbox, fonts, what a session records."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from browser_container import POLICY, browsing, parsed, run_in_browser_image

from runner.images.build import build, obtain
from runner.images.cache import cache_dir
from runner.images.inputs import load_inputs
from runner.resources import data_dir
from runner.sandbox.backends.docker.engine import connect
from runner.sandbox.backends.docker.images import local_image
from runner.sandbox.backends.docker.imagestate import image_states

pytestmark = pytest.mark.engine

SANDBOX = """
def told(pid):
    lines = open(f"/proc/{pid}/status").read().splitlines()
    return dict(line.split(":", 1) for line in lines)
def inside(pid):
    status = told(pid)
    return {"seccomp": status["Seccomp"].strip(), "filters": int(status["Seccomp_filters"]),
            "pids": len(status["NSpid"].split()), "capabilities": status["CapEff"].strip(),
            "no new privileges": status["NoNewPrivs"].strip()}
def words_of(pid):
    return open(f"/proc/{pid}/cmdline").read().replace("\\0", " ").split()  # a renderer writes its own with blanks
def kind_of(pid):
    return next((word.removeprefix("--type=") for word in words_of(pid) if word.startswith("--type=")), "")
async def session(playwright):
    browser = await launched(playwright)
    page = await browser.new_page()
    await page.set_content("<h1>hello</h1>")
    found = {kind_of(pid): inside(pid) for pid in filter(str.isdigit, os.listdir("/proc"))}
    words = [word for pid in filter(str.isdigit, os.listdir("/proc")) for word in words_of(pid) if "sandbox" in word]
    await browser.close()
    return {"renderer": found["renderer"], "own": inside("self"), "words": words}
"""

REFUSED = """
async def session(playwright):
    try:
        await launched(playwright)
    except Error as error:
        return "No usable sandbox" in error.message
    return "started"
"""

GLYPHS = """
DRAW = '''text => {
  const canvas = document.createElement("canvas"); canvas.width = canvas.height = 60;
  const pen = canvas.getContext("2d"); pen.font = "40px sans-serif"; pen.fillText(text, 5, 45);
  const data = pen.getImageData(0, 0, 60, 60).data;
  let ink = 0, coloured = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3]) { ink++; if (data[at] !== data[at + 1] || data[at + 1] !== data[at + 2]) coloured++; }
  }
  return {ink, coloured, picture: canvas.toDataURL()};
}'''
async def session(playwright):
    browser = await launched(playwright)
    page = await browser.new_page()
    letters = {"latin": 0x41, "emoji": 0x1F600, "han": 0x4E2D, "kana": 0x3042, "hangul": 0xD55C, "nobody's": 0x378}
    drawn = {name: await page.evaluate(DRAW, chr(code)) for name, code in letters.items()}
    await browser.close()
    return drawn
"""

RECORDING = """
import http.server, threading, zipfile
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("content-type", "text/html"); self.end_headers()
        self.wfile.write(b"<a download=a.txt href=/file>file</a><button onclick=alert(7)>ask</button>")
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
async def session(playwright):
    browser = await launched(playwright)
    context = await browser.new_context(record_video_dir="out", record_har_path="out/network.har")
    await context.tracing.start(screenshots=True, snapshots=True)
    page = await context.new_page()
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), asyncio.ensure_future(dialog.accept())))
    await page.goto(f"http://localhost:{server.server_port}/")
    await page.click("button")
    async with page.expect_download() as download:
        await page.click("a")
    name = (await download.value).suggested_filename
    await context.tracing.stop(path="out/trace.zip")
    await context.close()
    video = open(await page.video.path(), "rb").read()
    har = json.load(open("out/network.har"))
    await browser.close()
    return {"asked": asked, "download": name, "video": [len(video) > 1000, video[:4].hex()],
            "har": [entry["request"]["url"].rpartition("/")[2] for entry in har["log"]["entries"]],
            "trace": sorted(zipfile.ZipFile("out/trace.zip").namelist())[-3:]}
"""

CONFINED = """
import json, os
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
def writable(path):
    try:
        open(path + "/probe", "w").close()
    except OSError as error:
        return error.strerror
    return "yes"
print(json.dumps({
    "capabilities": {status[name].strip() for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb", "CapInh")} == {"0" * 16},
    "no new privileges": status["NoNewPrivs"].strip(), "seccomp": status["Seccomp"].strip(),
    "root": writable("/"), "opt": writable("/opt/runner"), "shm": os.statvfs("/dev/shm").f_blocks * 4096,
    "interfaces": sorted(line.partition(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:])[:1],
    "driver": os.path.isfile("/opt/runner/driver/runner/driver/main.py"),
    "compiled": any(name.endswith(".pyc") for name in os.listdir("/opt/runner/driver/runner/driver/__pycache__"))}))
"""


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """Of a session with the image's Chromium."""
    return lambda program: parsed(run_in_browser_image(browsing(program), tmp_path))


def test_it_is_on_the_engine_as_its_recipe_stands() -> None:
    with closing(connect()) as api:
        state = next(state for state in image_states(api, data_dir("images")) if state.name == "browser")
        image = local_image(api, "browser")
    assert (state.state, state.id, dict(image.labels)["io.sandbox-runner.layers"]) == ("present", image.id, "2")
    assert image.volumes == ()


def test_a_build_from_scratch_gives_the_very_same_image(tmp_path_factory: pytest.TempPathFactory) -> None:
    inputs = load_inputs(data_dir("images"), "browser")
    first, second = obtain(inputs, cache_dir()), build(inputs, tmp_path_factory.mktemp("second"))
    if first.record.packages != second.record.packages:
        # Debian has newer packages than when the engine's image was made: today's build is compared with another.
        first = build(inputs, tmp_path_factory.mktemp("first"))
    assert second.record == first.record


def test_the_upper_layer_has_all_of_the_driver() -> None:
    paths = {file.path for file in load_inputs(data_dir("images"), "browser").top_files}
    package = Path(__file__).parents[2] / "runner"
    wanted = [*(package / "driver").rglob("*.py"), *(package / "browser").glob("*.py"), package / "errors.py"]
    assert paths == {*(f"/opt/runner/driver/{name}" for name in ("driver.py", "relay.py", "runner/__init__.py")),
                     *(f"/opt/runner/driver/runner/{path.relative_to(package)}" for path in wanted)}


def test_the_container_is_confined_as_a_workloads(tmp_path: Path) -> None:
    assert parsed(run_in_browser_image(CONFINED, tmp_path)) == {
        "capabilities": True, "no new privileges": "1", "seccomp": "2", "root": "Read-only file system",
        "opt": "Read-only file system", "shm": POLICY.shm, "interfaces": ["lo"], "driver": True, "compiled": True}


def test_chromiums_own_sandbox_is_on(run: Any) -> None:
    """A page's process has a PID namespace below the driver's, no capability in it, and filters beside the engine's."""
    seen = run(SANDBOX)
    page, own = seen["renderer"], seen["own"]
    assert page["pids"] > own["pids"] == 1
    assert page["filters"] > own["filters"] >= 1
    assert (page["seccomp"], page["capabilities"], page["no new privileges"]) == ("2", "0" * 16, "1")
    assert not [word for word in seen["words"] if word.startswith(("--no-sandbox", "--disable-setuid-sandbox"))]


def test_without_its_namespaces_chromium_does_not_start(tmp_path: Path) -> None:
    """So that the test above can fail: under a workload's profile there is no sandbox to be had."""
    policy = POLICY.model_copy(update={"seccomp": "workload"})
    assert parsed(run_in_browser_image(browsing(REFUSED), tmp_path, policy)) is True


def test_emoji_and_east_asian_text_are_drawn(run: Any) -> None:
    drawn = run(GLYPHS)
    pictures = {name: glyph["picture"] for name, glyph in drawn.items()}
    assert len(set(pictures.values())) == len(pictures)
    assert all(glyph["ink"] > 50 for glyph in drawn.values())
    assert [name for name, glyph in drawn.items() if glyph["coloured"] > 200] == ["emoji"]


def test_a_session_is_recorded(run: Any) -> None:
    seen = run(RECORDING)
    assert (seen["asked"], seen["download"]) == (["7"], "a.txt")
    assert seen["video"] == [True, "1a45dfa3"]
    assert seen["har"] == [""]
    assert seen["trace"] == ["trace.network", "trace.stacks", "trace.trace"]
