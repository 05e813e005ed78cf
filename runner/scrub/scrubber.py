"""The scrubber: what it knows, and how it goes through texts, URLs, bodies and JSON values."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote_plus

from runner.browser.redacted import REDACTED
from runner.scrub import assigned, bodies, json_text, urls
from runner.scrub.credentials import Span
from runner.scrub.documents import scrub_document
from runner.scrub.known import Known
from runner.scrub.patterns import decoded_basic, shaped_spans
from runner.scrub.rules import DROPPED, is_learnable, is_secret_group, is_secret_name, is_trivial

PATIENCE = 16_000_000
LARGEST = 32 << 20
"""Characters of a text that is gone through; a longer one becomes a marker."""
_DEEPEST = 8
_ROUNDS = 4
_SHORT = 256
_MEMORY = 1 << 15
_SCHEME = re.compile(r"(?i)\A((?:apikey|basic|bearer|digest|negotiate|ntlm|token)[ \t]+)(\S.*)\Z", re.DOTALL)
_URL = re.compile(r"\A(?:[A-Za-z][A-Za-z0-9+.-]{0,31}:)?//\S*\Z|\A/[^\s?#]*[?#]\S*\Z|\Adata:[^,\s]{1,256},")
_LINK = re.compile(r"(?<![\w+.-])([A-Za-z][A-Za-z0-9+.-]{1,31}+://[^\s\"'<>`\\)]{1,8192}?)"
                   r"((?::[0-9]{1,9}){0,2})(?![^\s\"'<>`\\)])")
"""A URL that a text quotes, and the line and column that a stack adds."""
_STEM = re.compile(r"pass|pwd|pw|secret|token|auth|credential|jwt|bearer|sess|sid|[cx]srf|key|cvv|cvc|csc|ssn|otp|"
                   r"signature|sig|pin|card|cookie|social|security|verification|kennwort", re.IGNORECASE)


class Scrubber:
    """Removes secrets from everything that one run leaves behind. ``keep`` are texts of our own (the application's
    address, what the personas typed): no value that is part of one of them is learned.

    ``removed`` counts replacements; it grows while learning too. ``patience`` is how many items of JSON texts are yet
    gone through, each time that all files are: what a hostile page sends beyond it becomes a marker.
    """

    def __init__(self, keep: Iterable[str] = ()) -> None:
        self.removed = 0
        self.patience = PATIENCE
        self.known = Known()
        self._keep = tuple(keep)
        self._learning = False
        self._depth = 0
        self._names: set[str] = set()
        self._done: dict[str, str] = {}

    @contextmanager
    def learning(self) -> Iterator[None]:
        """While this is open, whatever is scrubbed teaches its secrets; the results are to be thrown away."""
        self._learning = True
        self.patience = PATIENCE
        self._done.clear()
        try:
            yield
        finally:
            self._learning = False
            self.patience = PATIENCE
            self._done.clear()

    def learn(self, *values: str) -> None:
        """These are secrets, wherever they stand (if they are long and rare enough to be told from other text)."""
        if not self._learning:  # while learning, what is known is not looked for yet
            self._done.clear()
        for value in values:
            if is_learnable(value) and not any(value in kept for kept in self._keep):
                self.known.add(value)

    def learn_name(self, name: str) -> None:
        """Fields of this name hold secrets: a password input was called so."""
        if 2 <= len(name) <= _SHORT:
            self._names.add(name.lower())

    def secret_name(self, name: str) -> bool:
        """Whether what is called so is secret, by its words or because a password input was."""
        return is_secret_name(name) or name.lower() in self._names

    def secret_group(self, name: str) -> bool:
        """Whether everything in an object of this name is secret."""
        return is_secret_group(name)

    def secret(self, value: str) -> str:
        """What stands in place of a secret; the scheme of an authorization stays. Learned while learning."""
        self.removed += 1
        value = value.strip()
        scheme = _SCHEME.match(value)
        if self._learning:
            plain = scheme[2] if scheme else value
            basic = decoded_basic(plain) if scheme and scheme[1].lower().startswith("basic") else None
            told = dict.fromkeys((plain, unquote_plus(plain), html.unescape(plain), json_text.decoded(plain)))
            self.learn(*told, *((basic[1], ":".join(basic)) if basic else ()))
        return f"{scheme[1]}{REDACTED}" if scheme else REDACTED

    def cookie(self, name: str, value: str) -> str:
        """What stands in place of a cookie's value: of every cookie, but settings such as ``theme=dark-blue`` are not
        looked for elsewhere.
        """
        if is_trivial(value):
            return value
        random = len(value) >= 16 or (len(value) >= 8 and any(char.isdecimal() for char in value))
        if random or not name or self.secret_name(name):
            return self.secret(value.strip('"'))
        self.removed += 1
        return REDACTED

    def value(self, text: str) -> str:
        """A whole value: as a URL if it is one, else as text."""
        return self.url(text) if _URL.match(text) else self.text(text)

    def url(self, url: str) -> str:
        """A URL; see :mod:`runner.scrub.urls`."""
        if self._depth >= _DEEPEST:
            return DROPPED
        self._depth += 1
        try:
            return self.text(urls.scrub_url(url, self))
        finally:
            self._depth -= 1

    def text(self, text: str) -> str:
        """Any text: JSON, markup, source code, messages, stacks. Again until nothing more is found, since what was
        removed may let something stand alone that did not before.
        """
        if len(text) < 4:
            return text
        if len(text) > LARGEST:
            return DROPPED
        if len(text) > _SHORT:
            return self._rounds(text)
        if (done := self._done.get(text)) is None:
            done = self._rounds(text)
            if len(self._done) >= _MEMORY:
                self._done.clear()
            if self._depth <= _DEEPEST // 2:  # deeper, it may be what the depth made of it
                self._done[text] = done
        return done

    def header(self, name: str, value: str) -> str:
        """A header's value, by the header's name."""
        lowered = name.lower()
        if lowered in ("cookie", "set-cookie"):
            return bodies.scrub_cookies(value, self, several=lowered == "cookie")
        return self.pair(name, value)

    def pair(self, name: str, value: str) -> str:
        """The value of a header, a parameter, a field, by its name."""
        return self.secret(value) if self.secret_name(name) and not is_trivial(value) else self.value(value)

    def form(self, text: str) -> str:
        """A form body."""
        return self.text(urls.scrub_form(text, self))

    def data(self, data: bytes, content_type: str = "") -> bytes:
        """A body of any kind; one that cannot be read becomes a marker. See :mod:`runner.scrub.bodies`."""
        return bodies.scrub_data(data, content_type, self)

    def data_url(self, kind: str, encoded: bool, body: str) -> str:
        """What stands behind the comma of a ``data:`` URL."""
        return bodies.scrub_data_url(kind, encoded, body, self)

    def document(self, value: Any) -> Any:
        """A JSON value, as a new one."""
        return scrub_document(value, self)

    def _rounds(self, text: str) -> str:
        if self._depth >= _DEEPEST:
            return DROPPED
        self._depth += 1
        try:
            for _ in range(_ROUNDS):
                before, text = text, self._once(text)
                if text == before:
                    break
            return text
        finally:
            self._depth -= 1

    def _once(self, text: str) -> str:
        if json_text.looks_like_json(text):
            text = json_text.scrub_json(text, self)
        elif self._names or _STEM.search(text):
            text = self._assigned(text)
        spans = shaped_spans(text)
        if self._learning:
            self.learn(*(text[start:end] for start, end in spans))
        else:
            spans += self.known.spans(text)
        return self._cover(text, spans)

    def _assigned(self, text: str) -> str:
        """Without what a name gives away, in the text and in the URLs that it quotes."""
        if "://" in text:
            text = _LINK.sub(lambda link: urls.scrub_url(link[1], self) + link[2], text)
        found = [*assigned.quoted(text, self.secret_name), *assigned.bare(text, self.secret_name)]
        if "<" in text:
            found += assigned.markup(text, self.secret_name, self.learn_name)
        spans = []
        for one in found:
            scheme = _SCHEME.match(text[one.start:one.end])
            if self._learning and (one.sure or scheme):
                self.secret(text[one.start:one.end])
            spans.append((one.start + (len(scheme[1]) if scheme else 0), one.end))
        return self._cover(text, spans)

    def _cover(self, text: str, spans: list[Span]) -> str:
        """The text with the spans replaced; those that overlap, or touch, by one marker."""
        merged: list[Span] = []
        for start, end in sorted(spans):
            if text.startswith(REDACTED, start) and end - start <= len(REDACTED):
                continue
            if merged and start <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            else:
                merged.append((start, end))
        parts, at = [], 0
        for start, end in merged:
            parts += [text[at:start], REDACTED]
            at = end
        self.removed += len(merged)
        return "".join((*parts, text[at:]))
