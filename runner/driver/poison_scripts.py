"""Our scripts that corrupt a page's state. Each finds out whether its document has it already, under a mark that only
we know and that no listing of properties shows.
"""

from __future__ import annotations

import json

QUOTA_WORDS = "The quota has been exceeded (an injected fault)"
"""The message of the exception that our ``setItem`` throws."""

_DRIFT = """((mark, offset) => {
  const Whole = globalThis.Date;
  if (Whole[mark]) return;
  const {value: before, ...rest} = Object.getOwnPropertyDescriptor(Whole, 'now');
  const now = new Proxy(before, {apply: (native, self, words) => Reflect.apply(native, self, words) + offset});
  Object.defineProperty(Whole, 'now', {...rest, value: now});
  const Drifted = new Proxy(Whole, {
    construct: (native, words, made) =>
      Reflect.construct(native, words.length ? words : [Whole.now()], made === Drifted ? native : made),
    apply: (native) => new native(Whole.now()).toString(),
    get: (native, key) => key === mark ? true : Reflect.get(native, key),
  });
  Whole.prototype.constructor = Drifted;
  globalThis.Date = Drifted;
})(%MARK%, %OFFSET%);"""

_QUOTA = """((mark, words) => {
  const own = Object.getOwnPropertyDescriptor(Storage.prototype, 'setItem');
  if (own.value[mark]) return;
  const full = new Proxy(own.value, {
    apply: (native, self, given) => {
      if (!(self instanceof Storage) || given.length < 2) return Reflect.apply(native, self, given);
      throw new DOMException(words, 'QuotaExceededError');
    },
    get: (native, key) => key === mark ? native : Reflect.get(native, key),
  });
  Object.defineProperty(Storage.prototype, 'setItem', {...own, value: full});
})(%MARK%, %WORDS%);"""

_ROOM = """((mark) => {
  const own = Object.getOwnPropertyDescriptor(Storage.prototype, 'setItem');
  const native = own.value[mark];
  if (native) Object.defineProperty(Storage.prototype, 'setItem', {...own, value: native});
})(%MARK%);"""

STORE = """([area, key, value, mark]) => {
  const storage = window[area];
  const before = storage.getItem(key);
  const set = Storage.prototype.setItem;
  (set[mark] ?? set).call(storage, key, value);
  return before === null ? null : before.slice(0, 120);
}"""
"""Stores a value, even where the quota is exceeded by us; what was there, up to 120 characters."""

SNAPSHOT = """([keys, characters]) => ['localStorage', 'sessionStorage'].map((area) => {
  try {
    const storage = window[area];
    const names = Object.keys(storage).sort().slice(0, keys);
    return names.map((name) => [name.slice(0, characters), String(storage.getItem(name)).slice(0, characters)]);
  } catch (error) {
    return [];
  }
})"""


def drift(mark: str, offset_ms: int) -> str:
    """From now on the document's Date is ``offset_ms`` ahead of what it was."""
    return _DRIFT.replace("%MARK%", json.dumps(mark)).replace("%OFFSET%", str(int(offset_ms)))


def quota(mark: str) -> str:
    """From now on the document's ``setItem`` throws."""
    return _QUOTA.replace("%MARK%", json.dumps(mark)).replace("%WORDS%", json.dumps(QUOTA_WORDS))


def room(mark: str) -> str:
    """``setItem`` works again."""
    return _ROOM.replace("%MARK%", json.dumps(mark))
