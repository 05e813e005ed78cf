"""State faults in a real Chromium, on a stage of the driver: each has its real effect, in the order of the trace."""

from __future__ import annotations

import pytest
from chromium import chromium
from small_server import HTML, Reply, serving

from runner.browser.faults import StateFault
from runner.browser.job import Job
from runner.driver import poison
from runner.driver.elements import Failed
from runner.driver.launch import device_of
from runner.driver.pace import RecordedPace, SteppedPace
from runner.driver.poison_scripts import QUOTA_WORDS
from runner.driver.stage import Stage

HOUR = 3_600_000
PACES = {"recorded": RecordedPace, "stepped": lambda: SteppedPace(1)}
DRIFT = StateFault("clock_drift", "clock", "Date.now", offset_ms=HOUR)
QUOTA = StateFault("quota_exceeded", "Storage", "Storage.prototype.setItem")
RELOAD = StateFault("poisoned_reload", "lifecycle")
ROT = StateFault("schema_rot", "localStorage", "cart", '{"_rotten": true}')
SAVE = """() => {
  try { localStorage.setItem('x', '1'); return 'kept'; } catch (e) { return e.name + ': ' + e.message; }
}"""
CLOCK = """() => ({now: Date.now(), made: new Date().getTime(), text: Date.parse(Date()), fixed: new Date(5).getTime(),
  date: new Date() instanceof Date, own: new Date().constructor === Date, name: Date.name,
  utc: Date.UTC(1970, 0, 2)})"""
PAGE = b"""<!doctype html><link rel=icon href=data:,><p>shop</p><iframe srcdoc="<p>in a frame"></iframe><script>
addEventListener('pagehide', () => { try { localStorage.setItem('cart', 'saved at the end'); } catch (e) {} });
</script>"""
LATE = b"""<!doctype html><link rel=icon href=data:,><div id=root></div><script>
setTimeout(() => { document.getElementById('root').textContent = 'drawn'; }, %d);</script>"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def app():
    with serving({"/shop": Reply(PAGE, HTML), "/late": Reply(LATE % 200, HTML),
                  "/never": Reply(b"<!doctype html><link rel=icon href=data:,><main></main>", HTML)}) as started:
        yield started


@pytest.fixture
def play(browser, app, tmp_path):
    """Runs a script on an open stage; gives what it returns, and the signals."""
    def run(script, path="/shop", pace="recorded"):
        async def on_stage(running):
            job = Job("play", app.url + path, pace=pace)
            stage = Stage(running, job, tmp_path, device_of(browser.playwright, job), pace=PACES[pace]())
            await stage.open()
            await stage.goto()
            try:
                return await script(stage), stage.signals.signals()
            finally:
                await stage.close()
                await stage.context.close()
        return browser.run(on_stage)
    return run


@pytest.mark.parametrize("kind", ["truncated_json", "invalid_literal", "schema_rot", "type_swap"])
@pytest.mark.parametrize("area", ["localStorage", "sessionStorage"])
def test_a_stored_value_is_replaced_as_it_is(play, kind, area):
    value = '{"a": "\\u0000\U0001f4a9 </script>'

    async def script(stage):
        await stage.page.evaluate(f"() => {area}.setItem('cart', 'x'.repeat(500))")
        done = await poison.apply(stage, StateFault(kind, area, "cart", value))
        return done, await stage.page.evaluate(f"() => {area}.getItem('cart')")

    (done, stored), _ = play(script)
    assert stored == value
    assert done.original_value == "x" * 120


def test_the_clock_is_fast_everywhere_from_now_on(play):
    async def script(stage):
        before = await stage.page.evaluate(CLOCK)
        await poison.apply(stage, DRIFT)
        seen = [before, await stage.page.evaluate(CLOCK), await stage.page.frames[1].evaluate(CLOCK)]
        await stage.page.reload()
        seen.append(await stage.page.evaluate(CLOCK))
        seen.append(await stage.page.frames[1].evaluate(CLOCK))
        await poison.apply(stage, DRIFT)
        return [*seen, await stage.page.evaluate(CLOCK)]

    seen, _ = play(script)
    hours = [round((clock[field] - seen[0]["now"]) / HOUR, 1) for clock in seen for field in ("now", "made", "text")]
    assert hours == [0] * 3 + [1] * 12 + [2] * 3
    assert {(clock["fixed"], clock["date"], clock["own"], clock["name"], clock["utc"]) for clock in seen} == {
        (5, True, True, "Date", 86_400_000)}


def test_the_clock_drifts_on_top_of_a_stepped_one(play):
    async def script(stage):
        await stage.pace.settle(stage)
        first = await stage.page.evaluate(CLOCK)
        await poison.apply(stage, DRIFT)
        shifted = await stage.page.evaluate(CLOCK)
        await stage.pace.pause(stage, 1000)
        return first, shifted, await stage.page.evaluate(CLOCK)

    (first, shifted, later), _ = play(script, pace="stepped")
    assert shifted["now"] - first["now"] == HOUR == shifted["made"] - first["made"]
    assert later["now"] - shifted["now"] == 1000


def test_the_quota_holds_in_every_document_until_the_poisoned_reload(play):
    async def script(stage):
        seen = [await stage.page.evaluate(SAVE)]
        await poison.apply(stage, QUOTA)
        seen += [await stage.page.evaluate(SAVE), await stage.page.frames[1].evaluate(SAVE)]
        await stage.page.reload()
        seen.append(await stage.page.evaluate(SAVE))
        await poison.apply(stage, RELOAD)
        seen += [await stage.page.evaluate(SAVE), await stage.page.frames[1].evaluate(SAVE)]
        await poison.apply(stage, QUOTA)
        return [*seen, await stage.page.evaluate(SAVE)]

    seen, _ = play(script)
    full = f"QuotaExceededError: {QUOTA_WORDS}"
    assert seen == ["kept", full, full, full, "kept", "kept", full]


def test_what_our_quota_throws_is_known_as_ours(play):
    async def script(stage):
        await poison.apply(stage, QUOTA)
        async with stage.page.context.expect_event("weberror"):
            await stage.page.evaluate("() => { setTimeout(() => localStorage.setItem('a', 'b')); }")
        async with stage.page.context.expect_event("weberror"):
            await stage.page.evaluate("() => { setTimeout(() => { throw new TypeError('the own one'); }); }")

    _, signals = play(script)
    errors = [signal for signal in signals if signal.kind == "pageerror"]
    assert [(error.own, "quota" in error.message) for error in errors] == [("injected", True), ("", False)]


def test_poison_is_stored_even_where_the_quota_is_exceeded_by_us(play):
    async def script(stage):
        await poison.apply(stage, QUOTA)
        await poison.apply(stage, ROT)
        return await stage.page.evaluate("() => localStorage.getItem('cart')")

    assert play(script)[0] == ROT.injected_value


def test_the_reload_finds_the_poison_whatever_the_page_made_of_it(play):
    async def script(stage):
        await poison.apply(stage, ROT)
        await poison.apply(stage, QUOTA)
        await stage.page.evaluate("() => localStorage.removeItem('cart')")
        done = await poison.apply(stage, RELOAD)
        return done.details, await stage.page.evaluate("() => localStorage.getItem('cart')"), stage.applied

    (details, stored, applied), _ = play(script)
    assert stored == ROT.injected_value
    assert details == "reloaded on 1 poisoned keys"
    assert [fault.fault_type for fault in applied] == ["schema_rot", "quota_exceeded", "poisoned_reload"]


@pytest.mark.parametrize(("path", "collapsed"), [("/shop", False), ("/late", False), ("/never", True)])
@pytest.mark.parametrize("pace", ["recorded", "stepped"])
def test_a_page_that_stays_blank_has_collapsed(play, path, collapsed, pace):
    async def script(stage):
        return (await poison.apply(stage, RELOAD)).details

    assert ("collapsed" in play(script, path, pace)[0]) is collapsed


def test_a_fault_that_cannot_be_put_in_is_said_and_counts(play):
    async def script(stage):
        with pytest.raises(Failed, match="does not say what"):
            await poison.apply(stage, StateFault("type_swap", "localStorage", "cart"))
        return stage.applied

    assert len(play(script)[0]) == 1


def test_nothing_of_the_faults_is_in_sight(play):
    async def script(stage):
        look = """() => [Object.keys(window).sort(), String(Date), String(Storage.prototype.setItem),
                         Reflect.ownKeys(Date).sort(), Reflect.ownKeys(Storage.prototype).length].map(String)"""
        before = await stage.page.evaluate(look)
        await poison.apply(stage, DRIFT)
        await poison.apply(stage, QUOTA)
        return before, await stage.page.evaluate(look)

    before, after = play(script)[0]
    assert before[0] == after[0]
    assert before[3:] == after[3:]
    assert all("native code" in text for text in after[1:3])


def test_a_snapshot_has_both_areas_bounded(play):
    async def script(stage):
        await stage.page.evaluate("""() => {
          localStorage.setItem('b', 'x'.repeat(70000));
          sessionStorage.setItem('s', '1');
          for (let i = 0; i < 99; i++) localStorage.setItem('k' + i, i);
        }""")
        return await poison.snapshot(stage)

    found = play(script)[0]
    assert (len(found.local), len(found.local["b"]), found.session) == (50, 65536, {"s": "1"})


def test_a_page_without_storage_has_an_empty_snapshot(play):
    async def script(stage):
        await stage.page.goto("data:text/html,<p>nowhere")
        return await poison.snapshot(stage)

    assert play(script)[0] == poison.Snapshot()
