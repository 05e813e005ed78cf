"""Secrets in a URL: userinfo, parameters of the query and of the fragment, whatever is nested in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, unquote, unquote_plus

from runner.browser.redacted import REDACTED
from runner.scrub.rules import is_trivial
from runner.scrub.words import Words

_USERINFO = re.compile(r"\A([A-Za-z][A-Za-z0-9+.-]{0,31}:)?//([^/?#@\s]*(?:@[^/?#@\s]*)*)@")
_PAIR = re.compile(r"(?<=[?&;#])([^=&;#?]{1,512}+)=([^&;#]*+)")
_OAUTH = re.compile(r"[?&#]state=")
_DATA = re.compile(r"\Adata:([^,]{0,256}?)(;base64)?,", re.IGNORECASE)


def scrub_url(url: str, words: Words) -> str:
    """The URL with everything else as it was. A secret parameter keeps its name."""
    if data := _DATA.match(url):
        return url[:data.end()] + words.data_url(data[1], bool(data[2]), url[data.end():])
    if info := _USERINFO.match(url):
        _learn_userinfo(info[2], words)
        url = f"{info[1] or ''}//{REDACTED}@{url[info.end():]}"
    return scrub_pairs(url, words, oauth=bool(_OAUTH.search(url)))


def scrub_pairs(text: str, words: Words, *, oauth: bool = False) -> str:
    """``name=value`` after each ``?``, ``&``, ``;`` or ``#``."""
    def pair(found: re.Match[str]) -> str:
        name, value = unquote_plus(found[1]), found[2]
        if is_trivial(value):
            return found[0]
        if words.secret_name(name) or (oauth and name == "code"):
            return f"{found[1]}={words.secret(value)}"
        return f"{found[1]}={_nested(value, words.value)}"
    return _PAIR.sub(pair, text)


def scrub_form(text: str, words: Words) -> str:
    """A form body (``application/x-www-form-urlencoded``)."""
    return scrub_pairs("?" + text, words)[1:]


def _nested(value: str, scrub: Callable[[str], str]) -> str:
    """A parameter's value, decoded where that tells more; in its own encoding unless something was found."""
    for decoded in dict.fromkeys((unquote_plus(value), unquote(value), value)):
        if (clean := scrub(decoded)) != decoded:
            return clean if decoded == value else quote(clean, safe="[]:/")
    return value


def _learn_userinfo(info: str, words: Words) -> None:
    user, colon, password = info.partition(":")
    words.secret(password if colon else user)
    words.secret(info)
