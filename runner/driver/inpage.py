"""Our scripts inside a page. What they report is the page's claim, as everything a page does is.

Nothing of ours stays in sight: the way to the driver is a function under a name drawn for the session that is taken
off the window before any script of the page runs, and we reach our script by an event whose type is as secret.
"""

from __future__ import annotations

import json

START = """(() => {
  const name = %NAME%, ears = %EVENT%;
  const tell = window[name];
  delete window[name];
  let left = 500;
  const say = (...words) => {
    if (typeof tell === 'function' && left-- > 0) tell(words.map((word) => String(word).slice(0, 4096)));
  };
  window.addEventListener('unhandledrejection', (event) => {
    if (!event.isTrusted) return;
    const reason = event.reason;
    const texts = [];
    for (const text of [() => reason.stack, () => reason.message, () => String(reason), () => reason.constructor.name,
                        () => `${reason.constructor.name}(${reason.length})`,
                        () => reason instanceof Error ? '' : JSON.stringify(reason) || '']) {
      try { texts.push(text()); } catch (error) { texts.push(''); }
    }
    say('rejection', ...texts);
  });
  window.addEventListener('error', (event) => {
    const part = event.target;
    if (!event.isTrusted || !(part instanceof Element)) return;
    const url = part.currentSrc || part.src || part.href || '';
    if (url) say('resource', part.tagName.toLowerCase(), url);
  }, true);
  let online = true, ours = false;
  const hear = (event) => { if (!ours) event.stopImmediatePropagation(); };
  window.addEventListener('online', hear);
  window.addEventListener('offline', hear);
  window.addEventListener(ears, (event) => {
    event.stopImmediatePropagation();
    const wanted = event.detail.online;
    if (online === wanted) return;
    online = wanted;
    if (event.detail.quiet) return;
    ours = true;
    try { window.dispatchEvent(new Event(online ? 'online' : 'offline')); } finally { ours = false; }
  });
  const own = Object.getOwnPropertyDescriptor(Navigator.prototype, 'onLine');
  const apply = (native, self, words) => { Reflect.apply(native, self, words); return online; };
  const get = new Proxy(own.get, {apply});
  Object.defineProperty(Navigator.prototype, 'onLine', {...own, get});
})();"""

LOOK = """() => {
  const seen = (node) => node.getClientRects().length > 0;
  const text = (node) => node.data.trim() && node.parentElement && seen(node.parentElement)
    && !/^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE)$/.test(node.parentElement.tagName);
  const content = /^(IMG|SVG|CANVAS|VIDEO|IFRAME|FRAME|INPUT|BUTTON|SELECT|TEXTAREA|OBJECT|EMBED)$/i;
  const shows = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    let left = 5000;
    for (let node; (node = walker.nextNode());) {
      if (left-- === 0 || node.shadowRoot) return true;
      if (node.nodeType === Node.TEXT_NODE ? text(node) : content.test(node.tagName) && seen(node)) return true;
    }
    return false;
  };
  const empty = (root) => !root.firstElementChild && !root.textContent.trim();
  const name = (root) => `<${root.tagName.toLowerCase()}${root.id ? ` id="${root.id}"` : ''}>`;
  const complete = document.readyState === 'complete';
  const roots = [...document.querySelectorAll('#root, #app, #__next, main')];
  let blank = '';
  if (document.body === null || !shows(document.body)) blank = 'the page is blank';
  else if (complete && roots.length && roots.every(empty)) blank = `the application's root ${name(roots[0])} is empty`;
  return {complete, blank: complete ? blank : '', title: document.title.slice(0, 500),
          url: location.href.slice(0, 4000)};
}"""

BROKEN_IMAGES = """() => [...document.images].slice(0, 5000)
  .filter((image) => image.complete && image.naturalWidth === 0 && image.src && !image.src.startsWith('data:'))
  .slice(0, 100).map((image) => image.currentSrc || image.src)"""

LAYOUT = """(width) => {
  const body = document.body;
  const wide = Math.max(document.documentElement.scrollWidth, body ? body.scrollWidth : 0);
  const meta = document.querySelector('meta[name="viewport"]');
  return {wide, meta: meta === null ? null : (meta.getAttribute('content') || '')};
}"""

FORCE_ENABLE = """() => {
  const locked = document.querySelectorAll('[disabled], [aria-disabled]');
  for (const element of locked) {
    element.removeAttribute('disabled');
    element.removeAttribute('aria-disabled');
    element.style.pointerEvents = 'auto';
  }
  return locked.length;
}"""

TAMPER_HIDDEN = """() => {
  const inputs = document.querySelectorAll('input[type="hidden"], [readonly]');
  for (const input of inputs) {
    input.removeAttribute('readonly');
    input.value = 'ADVERSARY_MODIFIED_ADMIN';
  }
  return inputs.length;
}"""
"""LOKI's own marker, because an application's answer can depend on it."""


def start_script(name: str, event: str) -> str:
    """For every document before its own scripts: ``name`` is the way to us, ``event`` ours to it."""
    return START.replace("%NAME%", json.dumps(name)).replace("%EVENT%", json.dumps(event))


def online_script(event: str, online: bool, *, quiet: bool) -> str:
    """Tell the documents whether the network is there; ``quiet``: without the events, for a document that begins so."""
    detail = json.dumps({"online": online, "quiet": quiet})
    return f"window.dispatchEvent(new CustomEvent({json.dumps(event)}, {{detail: {detail}}}));"
