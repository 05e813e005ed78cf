"""Threat: the page that is played with reaches, or learns of, what is not its own: files and pages of the browser,
other hosts, devices, and who drives it.
"""

from __future__ import annotations

import json
from pathlib import Path

from browsing import FOUND, RECORDED, page, replayed, telling

PLACES = ("file:///workspace/job.json", "file:///etc/passwd", "file:///tmp/", "chrome://crash/", "chrome://version/",
          "view-source:http://127.0.0.1:8801/", "devtools://devtools/bundled/inspector.html",
          "chrome-extension://abcdefghijklmnopabcdefghijklmnop/x.html", "about:config",
          "filesystem:http://127.0.0.1:8801/temporary/")
ASK = f"""
const silent = () => new Promise(done => setTimeout(() => done('nothing'), 2000));
const asked = async (how, place, ask) => {{
  let answer;
  try {{ answer = await Promise.race([ask(place), silent()]); }} catch (error) {{ answer = error.name; }}
  seen[how + ' ' + place] = String(answer).slice(0, 200);
}};
const frame = place => new Promise(done => {{
  const it = document.createElement('iframe');
  it.onload = () => {{ try {{ done(it.contentDocument.documentElement.textContent); }} catch (e) {{ done(e.name); }} }};
  it.src = place;
  document.body.append(it);
}});
const opened = place => {{
  const it = open(place);
  return it === null ? 'no window' : new Promise(done => setTimeout(() => {{
    try {{ done(it.document.documentElement.textContent); }} catch (error) {{ done(error.name); }}
  }}, 500));
}};
const sync = place => {{
  const it = new XMLHttpRequest();
  it.open('GET', place, false);
  it.send();
  return it.responseText;
}};
const worker = place => new Promise((done, fail) => {{ new Worker(place).onerror = () => fail(new Error()); }});
const style = place => new Promise((done, fail) => {{
  const it = document.createElement('link');
  Object.assign(it, {{rel: 'stylesheet', href: place, onload: () => done('loaded'), onerror: () => fail(new Error())}});
  document.head.append(it);
}});
await Promise.all({json.dumps(PLACES)}.flatMap(place => [
  asked('frame', place, frame), asked('fetch', place, async it => (await fetch(it)).text()),
  asked('sync', place, sync), asked('worker', place, worker), asked('style', place, style),
  asked('window', place, opened)]));
for (const place of {json.dumps(PLACES[:6])}) location.href = place;
"""
REFUSALS = {"", "nothing", "no window", "Error", "NetworkError", "SecurityError", "TypeError"}


def test_a_page_reads_nothing_but_its_application(tmp_path: Path) -> None:
    """Neither the driver's job nor a file or page of the browser's: in a frame, window, worker or request."""
    done = replayed(tmp_path, {"page.html": telling(ASK)})
    assert (done.code, done.keys("reproduced")) == (0, FOUND), done
    seen = json.loads(done.said())
    assert len(seen) == 6 * len(PLACES)
    assert {what: said for what, said in seen.items() if said not in REFUSALS} == {}


NETWORK = """
const tried = async (name, attempt) => {
  const silent = new Promise(done => setTimeout(() => done('silent'), 5000));
  try { seen[name] = await Promise.race([attempt(), silent]); } catch (error) { seen[name] = error.name; }
};
const fetched = url => tried(url, async () => (await fetch(url, {mode: 'no-cors'})).type);
const socket = url => tried(url, () => new Promise(done => {
  const it = new WebSocket(url);
  it.onopen = () => done('open');
  it.onerror = () => done('refused');
}));
const candidates = [];
const gather = async servers => {
  const peer = new RTCPeerConnection({iceServers: servers.map(urls => ({urls}))});
  peer.createDataChannel('x');
  peer.onicecandidate = event => event.candidate && candidates.push(event.candidate.candidate);
  await peer.setLocalDescription(await peer.createOffer());
};
await Promise.all([
  ...['http://10.0.0.1/', 'http://172.17.0.1/', 'http://169.254.169.254/latest/', 'http://[fe80::1]/', 'https://1.1.1.1/',
    'http://example.com/', 'http://example.com:8801/'].map(fetched), ...['ws://10.0.0.1/', 'ws://example.com/'].map(socket),
  gather([]), gather(['stun:10.0.0.1', 'stun:1.1.1.1:19302']),
  tried('WebTransport', () => new WebTransport('https://10.0.0.1/').ready)]);
await new Promise(done => setTimeout(done, 1000));
seen.candidates = candidates;
"""
DNS = r"""
import socket, threading
def serve():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 53))
        while True:
            asked, peer = sock.recvfrom(4096)
            name_ends = asked.index(0, 12) + 5
            found = asked[name_ends - 4:name_ends - 2] == b"\0\1"
            sock.sendto(asked[:2] + b"\x81\x80\0\1\0" + bytes([found]) + bytes(4) + asked[12:name_ends]
                        + (b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1" if found else b""), peer)
threading.Thread(target=serve, daemon=True).start()
def attack(handler):
    return False
"""


def test_there_is_no_network_but_loopback(tmp_path: Path) -> None:
    """Requests, websockets, WebRTC and WebTransport end at once. The application may give names to its own loopback, as
    a name server there, and they lead to nothing but itself.
    """
    done = replayed(tmp_path, {"page.html": telling(NETWORK), "attack.py": DNS})
    assert (done.code, done.keys("reproduced")) == (0, FOUND), done
    assert json.loads(done.said()) == {
        **dict.fromkeys(("http://10.0.0.1/", "http://172.17.0.1/", "http://169.254.169.254/latest/",
                         "http://[fe80::1]/", "https://1.1.1.1/", "http://example.com/"), "TypeError"),
        "http://example.com:8801/": "opaque", "ws://10.0.0.1/": "refused", "ws://example.com/": "refused",
        "WebTransport": "WebTransportError", "candidates": []}


PERMISSIONS = """
const tried = async (name, attempt) => {
  const silent = new Promise(done => setTimeout(() => done('silent'), 2000));
  try { seen[name] = String(await Promise.race([attempt(), silent])); } catch (error) { seen[name] = error.name; }
};
await Promise.all([
  tried('notification', () => Notification.requestPermission()),
  tried('geolocation', () => new Promise(done =>
    navigator.geolocation.getCurrentPosition(done, error => done(`code ${error.code}`)))),
  tried('camera', () => navigator.mediaDevices.getUserMedia({audio: true, video: true})),
  tried('screen', () => navigator.mediaDevices.getDisplayMedia()),
  tried('midi', () => navigator.requestMIDIAccess()),
  tried('clipboard', () => navigator.clipboard.readText()),
  tried('fullscreen', () => document.body.requestFullscreen()),
  tried('pointer lock', () => document.body.requestPointerLock()),
  tried('persist', () => navigator.storage.persist()),
  tried('usb', () => navigator.usb.requestDevice({filters: []})),
  tried('bluetooth', () => navigator.bluetooth.requestDevice({acceptAllDevices: true})),
  tried('files', () => showOpenFilePicker()),
]);
"""


def test_what_asks_for_permission_is_refused_and_waits_for_nobody(tmp_path: Path) -> None:
    done = replayed(tmp_path, {"page.html": telling(PERMISSIONS)})
    assert (done.code, done.keys("reproduced"), done.keys("new")) == (0, FOUND, []), done
    assert json.loads(done.said()) == {
        "notification": "default", "geolocation": "code 1", "camera": "NotFoundError", "screen": "NotSupportedError",
        "midi": "NotAllowedError", "clipboard": "NotAllowedError", "fullscreen": "TypeError",
        "pointer lock": "NotAllowedError", "persist": "false", "usb": "SecurityError", "bluetooth": "TypeError",
        "files": "SecurityError"}


DETECT = r"""
const frame = document.createElement('iframe');
document.body.append(frame);
const usual = new Set(Object.getOwnPropertyNames(frame.contentWindow));
seen.extra = Object.getOwnPropertyNames(window).filter(name => !usual.has(name) && !['0', 'seen'].includes(name));
seen.webdriver = navigator.webdriver;
seen.headless = /Headless/.test(navigator.userAgent);
seen.online = navigator.onLine;
const print = Function.prototype.toString;
const owners = [Navigator, Element, Document, EventTarget, Window, XMLHttpRequest, Node, Event, Storage, HTMLElement];
seen.patched = [Date, Math, console, JSON, Promise, window, ...owners.map(owner => owner.prototype)].flatMap(owner =>
  Object.entries(Object.getOwnPropertyDescriptors(owner)).flatMap(([name, it]) => ['value', 'get', 'set']
    .filter(kind => typeof it[kind] === 'function' && !/\[native code\]/.test(print.call(it[kind])))
    .map(kind => `${kind} ${name}`)));
"""


def test_what_a_page_can_tell_of_the_driver(tmp_path: Path) -> None:
    """``navigator.webdriver``, as any driven browser says, and the name of a headless one; nothing of ours."""
    done = replayed(tmp_path, {"page.html": telling(DETECT)})
    assert (done.code, done.keys("reproduced"), done.keys("new")) == (0, FOUND, []), done
    assert json.loads(done.said()) == {"extra": [], "webdriver": True, "headless": True, "online": True, "patched": []}


def test_a_page_that_behaves_while_it_is_watched_is_not_reproduced(tmp_path: Path) -> None:
    """It can tell, so it can hide: all steps are taken, and what was not seen is not claimed."""
    behaving = page("if (navigator.webdriver) go.onclick = () => {};")
    done = replayed(tmp_path, {"page.html": behaving})
    assert (done.code, done.keys("not_reproduced"), done.keys("new")) == (1, [f"pageerror: {RECORDED}"], []), done
