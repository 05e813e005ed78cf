"""Where credentials of known kinds lie in a stranger's bytes.

Each search is linear in the data, whatever the data is: ``bytes.find`` looks for a telling word first, and the
patterns are such that no byte is looked at more often than a constant. What repeats without a bound either cannot
hold the word that begins a match, or ends the match, or begins only where such a run begins.

Sources of the formats: the token prefixes that GitHub, GitLab, AWS, Slack, npm, PyPI, Google and Stripe document,
RFC 7468 (PEM), RFC 7519 (JWT), RFC 9110 section 11.6.2 (Authorization), RFC 3986 section 3.2.1 (userinfo).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

Span = tuple[int, int]
"""Start and end of what must not be seen."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of credential: ``words``, one of which is there whenever ``pattern`` matches; group 1 is the secret.

    ``cut`` is the pattern for data that once went on, so that a token at its very end need not be whole.
    ``lowered``: words and pattern are for the data in lower case.
    """

    words: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    cut: re.Pattern[bytes] | None = None
    lowered: bool = False

    def spans(self, data: bytes, *, cut: bool) -> Iterator[Span]:
        """Every secret of this kind, in order."""
        pattern = self.cut if cut and self.cut else self.pattern
        return (found.span(1) for found in pattern.finditer(data))


def _token(prefix: bytes, characters: bytes, least: int, *words: bytes) -> Kind:
    """A token that says what it is: a prefix that stays, then at least ``least`` characters."""
    whole, size = b"%b([%b]{%d,})", (prefix, characters, least)
    return Kind(words or (prefix,), re.compile(whole % size),
                re.compile(b"%b([%b]{%d,}|[%b]+\\Z)" % (*size, characters)))


_ALNUM, _DASHED = b"A-Za-z0-9", b"A-Za-z0-9_-"
_HEADER = rb"authorization[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?"
_SCHEME = rb"(?:apikey|aws4-hmac-sha256|basic|bearer|digest|negotiate|ntlm|token)[ \t]++"
_PLAUSIBLE = rb"(?=[a-z._~+/=-]*+[0-9])[a-z0-9._~+/=-]{8,}+|[a-z._~+/=-]{20,}+"
"""Rather a secret than a word of prose."""

KINDS = (
    _token(b"gh[pousr]_", _ALNUM, 30, b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"),
    _token(b"github_pat_", _DASHED, 22),
    _token(b"glpat-", _DASHED, 20),
    _token(b"xox[a-z]-", _DASHED, 10, b"xox"),
    _token(b"npm_", _ALNUM, 36),
    _token(b"pypi-AgE", _DASHED, 16),
    _token(b"AIza", _DASHED, 35),
    _token(b"[rs]k_live_", _ALNUM, 16, b"k_live_"),
    Kind((b"AKIA", b"ASIA"), re.compile(rb"(?<![A-Za-z0-9])A[KS]IA([A-Z0-9]{16})(?![A-Za-z0-9])")),
    Kind((b"eyJ",), re.compile(rb"(?<![\w-])eyJ([\w-]{7,}+\.eyJ[\w-]*+\.[\w-]{10,}+)")),
    Kind((b"://",), re.compile(rb"://[^\s/?#\"'<>:@]*+:([^\s/?#\"'<>]+)@")),
    Kind((b"authorization",), re.compile(_HEADER + _SCHEME + rb"([^\r\n\"'<>]++)"), lowered=True),
    Kind((b"authorization",), re.compile(_HEADER + rb"(" + _PLAUSIBLE + rb")"), lowered=True),
    Kind((b"bearer",), re.compile(rb"bearer[ \t]{1,8}(" + _PLAUSIBLE + rb")"), lowered=True),
)
_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,24}PRIVATE KEY-----((?:[A-Za-z0-9+/=\s\\:,]|-(?!----))*+)")
_INK = re.compile(rb"\S+")


def _holds(data: bytes, word: bytes) -> bool:
    """``word in data``; a search for one byte costs a tenth of that, and is enough where it is in vain."""
    return word[-1:] in data and word in data


def credential_spans(data: bytes, *, cut: bool = False) -> Iterator[Span]:
    """Everything of a known kind, kind by kind; what two kinds see is there twice."""
    lowered = data.lower()
    for kind in KINDS:
        text = lowered if kind.lowered else data
        if any(_holds(text, word) for word in kind.words):
            yield from kind.spans(text, cut=cut)
    if b"PRIVATE KEY-----" in data:
        for found in _PRIVATE_KEY.finditer(data):  # line by line, so that its shape stays
            yield from (line.span() for line in _INK.finditer(data, *found.span(1)))
