"""What runs inside a page of the stepped pace: two scripts, one before and one after Playwright's clock is put in.

The first keeps back what servers, workers and frames send (websocket, server-sent events, messages) until the driver
lets it through, and counts what moves in the page and what it waits for. The second gives the page seeded random
numbers, and hands errors of its timers to the page, where the clock would keep them to itself.
"""

from __future__ import annotations

import hashlib
import json

ANSWER_MS, TAIL_MS = 300, 100
"""How long (real time) a message may take that is owed to the page, and one that may follow another; and never less
than a few looks at the page, which take longer on a busy machine."""
MAX_RELEASED = 500
"""Messages let through at one boundary; the rest wait for the next."""

_HOLD = """(() => {
  const ANSWER = %(answer)d, TAIL = %(tail)d, MAX = %(released)d, NAME = "%(name)s";
  const later = setTimeout.bind(globalThis), frame = requestAnimationFrame.bind(globalThis);
  const now = performance.now.bind(performance);
  const {addEventListener: listen, dispatchEvent: dispatch} = EventTarget.prototype;
  const call = Reflect.apply, make = Reflect.construct, set = Object.defineProperty;
  const getAnimations = Document.prototype.getAnimations;
  const notes = new Set(), passing = new WeakSet(), channels = new Map(), queue = [];
  let changes = 0, stirred = 0, pending = 0;
  const watcher = new MutationObserver(records => { changes += records.length; });
  watcher.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});

  const touch = channel => { channel.since = now(); channel.looks = 0; };
  const owe = channel => { if (channel) { channel.owed += 1; touch(channel); } };
  const within = (channel, time, looks) => now() - channel.since < time || channel.looks < looks;
  const copy = event => {
    if (event instanceof MessageEvent) {
      const {data, origin, lastEventId, source, ports} = event;
      return new MessageEvent(event.type, {data, origin, lastEventId, source, ports: [...ports]});
    }
    if (event instanceof CloseEvent) return new CloseEvent(event.type, event);
    return event instanceof ErrorEvent ? new ErrorEvent(event.type, event) : new Event(event.type, event);
  };
  const keep = (channel, type) => {
    if (channel.types.has(type)) return;
    channel.types.add(type);
    call(listen, channel.target, [type, event => {
      if (passing.has(event)) return;
      event.stopImmediatePropagation();
      if (channel.owed === 0 && !within(channel, TAIL, 3)) notes.add(channel.name + " push");
      channel.owed = Math.max(0, channel.owed - 1);
      touch(channel);
      queue.push([channel.target, copy(event)]);
    }]);
  };
  const hold = (target, name, types) => {
    const channel = {target, name, types: new Set(), owed: 1, since: now(), looks: 0};
    channels.set(target, channel);
    types.forEach(type => keep(channel, type));
    return channel;
  };
  const wrap = (name, prepare) => {
    const native = globalThis[name];
    if (!native) return;
    const wrapped = new Proxy(native, {construct(target, given, asked) {
      const made = make(target, given, asked === wrapped ? target : asked);
      prepare(made);
      return made;
    }});
    set(globalThis, name, {value: wrapped, writable: true, configurable: true, enumerable: false});
    set(native.prototype, "constructor", {value: wrapped, writable: true, configurable: true, enumerable: false});
  };
  const sends = (owner, method) => {
    const native = owner.prototype[method];
    owner.prototype[method] = {[method](...given) {
      owe(channels.get(this));
      return call(native, this, given); }}[method];
  };
  const noting = (owner, method, note, when = () => true) => {
    const native = owner && owner[method];
    if (native) owner[method] = {[method](...given) {
      if (when(given)) notes.add(note);
      return call(native, this, given); }}[method];
  };

  const awaited = (owner, method) => {
    const native = owner && owner[method];
    if (native) owner[method] = {[method](...given) {
      pending += 1;
      return call(native, this, given).then(
        answer => { pending -= 1; return answer; }, error => { pending -= 1; throw error; }); }}[method];
  };

  const asked = (owner, method) => {
    const native = owner[method], done = () => { pending -= 1; };
    if (native) owner[method] = {[method](...given) {
      const request = call(native, this, given);
      pending += 1;
      ["success", "error"].forEach(type => call(listen, request, [type, done, {once: true}]));
      return request; }}[method];
  };
  const counting = (owner, method) => {
    const native = owner[method];
    owner[method] = {[method](...given) { changes += 1; return call(native, this, given); }}[method];
  };
  const frames = () => Array.from({length: Math.min(length, 20)}, (_, at) => globalThis[at]);
  const fellows = () => frames().forEach(other => {
    try { if (other.document) notes.add("iframe of the same origin"); } catch (error) { return; }
  });
  call(listen, globalThis, ["message", event => {
    changes += 1;
    if (passing.has(event) || !event.source || event.source === globalThis) return;
    event.stopImmediatePropagation();
    queue.push([globalThis, copy(event)]);
  }]);

  awaited(globalThis, "fetch");
  ["arrayBuffer", "blob", "bytes", "formData", "json", "text"].forEach(name => awaited(Response.prototype, name));
  const sendNow = XMLHttpRequest.prototype.send;
  XMLHttpRequest.prototype.send = {send(...given) {
    pending += 1;
    call(listen, this, ["loadend", () => { pending -= 1; }, {once: true}]);
    try { return call(sendNow, this, given); } catch (error) { pending -= 1; throw error; }
  }}.send;
  sends(WebSocket, "send");
  wrap("WebSocket", made => hold(made, "websocket", ["open", "message", "error", "close"]));
  wrap("EventSource", made => {
    const channel = hold(made, "server-sent events", ["open", "message", "error"]);
    set(made, "addEventListener", {value(type, ...rest) {
      keep(channel, String(type));
      return call(listen, made, [type, ...rest]); }});
  });
  if (globalThis.Worker) sends(Worker, "postMessage");
  wrap("Worker", made => { notes.add("worker"); hold(made, "worker", ["message", "messageerror", "error"]); });
  wrap("SharedWorker", () => notes.add("shared worker"));
  wrap("WebTransport", () => notes.add("webtransport"));
  wrap("RTCPeerConnection", () => notes.add("webrtc"));
  if (globalThis.ServiceWorkerContainer) noting(ServiceWorkerContainer.prototype, "register", "service worker");
  counting(MessagePort.prototype, "postMessage");
  if (globalThis.Scheduler) counting(Scheduler.prototype, "postTask");
  ["open", "deleteDatabase"].forEach(name => asked(IDBFactory.prototype, name));
  const reads = ["get", "getAll", "getKey", "getAllKeys", "count", "openCursor", "openKeyCursor"];
  ["add", "put", "delete", "clear", ...reads].forEach(name => asked(IDBObjectStore.prototype, name));
  reads.forEach(name => asked(IDBIndex.prototype, name));
  noting(XMLHttpRequest.prototype, "open", "synchronous request", given => given.length > 2 && !given[2]);
  if (globalThis.Scheduler) {
    noting(Scheduler.prototype, "postTask", "delayed task", given => Boolean(given[1] && given[1].delay));
  }
  const ends = ["transitionrun", "transitionstart", "transitionend", "transitioncancel", "animationstart",
    "animationend", "animationcancel"];
  noting(EventTarget.prototype, "addEventListener", "css animation", given => ends.includes(given[0]));
  for (const owner of [HTMLElement.prototype, SVGElement.prototype, Document.prototype, globalThis]) {
    for (const type of ends) {
      const own = Object.getOwnPropertyDescriptor(owner, "on" + type);
      if (own && own.set && own.configurable) set(owner, "on" + type, {...own, set(handler) {
        notes.add("css animation");
        return call(own.set, this, [handler]); }});
    }
  }
  call(listen, globalThis, ["animationstart", () => still(), true]);
  call(listen, globalThis, ["animationiteration", event => event.stopImmediatePropagation(), true]);
  call(listen, document, ["playing", () => notes.add("media playback"), true]);

  const hop = () => new Promise(done => {
    const turn = () => later(() => later(done, 0), 0);
    let waiting = true;
    const once = () => { if (waiting) { waiting = false; turn(); } };
    frame(once);
    later(once, 60);
  });
  const still = () => {
    for (const animation of call(getAnimations, document, [])) {
      if (animation.playState !== "running" || !(animation.timeline instanceof DocumentTimeline)) continue;
      const end = animation.effect ? animation.effect.getComputedTiming().endTime : 0;
      try {
        if (Number.isFinite(end)) animation.finish(); else { animation.pause(); animation.currentTime = 0; }
      } catch (error) { notes.add("css animation"); }
    }
  };
  const restless = () => [...channels.values()].some(channel => {
    channel.looks += 1;
    if (channel.owed > 0 && !within(channel, ANSWER, 6)) channel.owed = 0;
    return within(channel, channel.owed > 0 ? ANSWER : TAIL, 3);
  });
  const pulse = async requests => {
    if (requests !== stirred) { stirred = requests; channels.forEach(touch); }
    still();
    fellows();
    await hop();
    return {changes, pending, held: queue.length, restless: restless(), notes: [...notes]};
  };
  const release = async () => {
    const order = [...frames(), parent];
    const place = ([target, event]) => target === globalThis ? order.indexOf(event.source) : -2;
    queue.sort((one, other) => place(one) - place(other));
    for (let left = Math.min(queue.length, MAX); left > 0; left -= 1) {
      const [target, event] = queue.shift();
      passing.add(event);
      call(dispatch, target, [event]);
      await new Promise(done => later(done, 0));
    }
  };
  set(globalThis, NAME, {value: Object.freeze({pulse, release})});
})();"""

_SEEDED = """(() => {
  const SEED = "%(seed)s";
  let state;
  const begin = () => {
    const text = [SEED, location.pathname, location.search, Date.now(), window === top].join("|");
    state = 2166136261;
    for (let at = 0; at < text.length; at += 1) state = Math.imul(state ^ text.charCodeAt(at), 16777619);
  };
  const draw = () => {
    if (state === undefined) begin();
    state = (state + 0x6D2B79F5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  Math.random = {random() { return draw() / 4294967296; }}.random;
  const fill = Crypto.prototype.getRandomValues;
  Crypto.prototype.getRandomValues = {getRandomValues(array) {
    Reflect.apply(fill, this, [array]);
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = draw() & 255;
    return array;
  }}.getRandomValues;
  if (Crypto.prototype.randomUUID) Crypto.prototype.randomUUID = {randomUUID() {
    const bytes = Array.from({length: 16}, () => draw() & 255);
    bytes[6] = bytes[6] & 15 | 64;
    bytes[8] = bytes[8] & 63 | 128;
    const digits = bytes.map(byte => byte.toString(16).padStart(2, "0")).join("");
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }}.randomUUID;

  const report = globalThis.reportError.bind(globalThis), run = globalThis.eval;
  const safe = task => function (...given) {
    try { return typeof task === "function" ? Reflect.apply(task, this, given) : run(String(task)); }
    catch (error) { report(error); }
  };
  for (const name of ["setTimeout", "requestAnimationFrame", "requestIdleCallback", "setInterval"]) {
    const native = globalThis[name];
    if (!native) continue;
    const least = name === "setInterval" ? 4 : 0;
    globalThis[name] = {[name](task, delay, ...rest) {
      if (typeof delay === "object") return native(safe(task), delay);
      return native(safe(task), Math.max(least, Number(delay) || 0), ...rest);
    }}[name];
  }
})();"""


def held_name(seed: int) -> str:
    """The property of ``globalThis`` through which the driver speaks to the first script."""
    return "__" + hashlib.sha256(f"held/{seed}".encode()).hexdigest()[:16]


def hold_script(seed: int) -> str:
    """To run before the clock is put in: it needs the browser's own timers."""
    return _HOLD % {"answer": ANSWER_MS, "tail": TAIL_MS, "released": MAX_RELEASED, "name": held_name(seed)}


def seeded_script(seed: int) -> str:
    """To run after the clock was put in: each document draws from the job's seed, its path and its clock."""
    return _SEEDED % {"seed": json.dumps(str(seed))[1:-1]}
