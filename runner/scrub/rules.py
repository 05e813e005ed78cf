"""Which names say that their value is a secret. A name is read word by word (camelCase, snake_case, kebab-case), so
that ``author``, ``discard``, ``cardinality``, ``secretary`` and ``passenger`` are none.

Sources: the header, cookie and parameter lists of LOKI 1.11's HAR scrubber; the parameter names of OAuth 2 (RFC 6749),
pre-signed URLs of AWS and Azure, and the anti-forgery fields of common web frameworks.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from runner.browser.redacted import REDACTED

DROPPED = "[DROPPED: not readable, so it may hold secrets]"
"""Stands for a body, a line or a value that could not be read."""
SHORTEST = 6
"""Characters of a value that is looked for everywhere. What is shorter goes only where its name gives it away."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LONGEST_NAME = 200
_ANYWHERE = frozenset({
    "password", "passwords", "passwd", "passphrase", "passcode", "passwort", "kennwort", "pwd", "secret", "secrets",
    "token", "tokens", "auth", "authorization", "oauth", "credential", "credentials", "jwt", "bearer", "sessid",
    "sessionid", "jsessionid", "phpsessid", "sid", "csrf", "xsrf", "apikey", "cvv", "cvc", "csc", "ssn", "otp",
    "totp", "signature", "accesskey", "privatekey", "secretkey", "cardnumber", "creditcard"})
_AT_THE_END = frozenset({
    "pass", "pw", "pin", "card", "sig", "session", "cookie", "cookies", "authentication"})
"""Words with other meanings too: a secret only where the name ends with one."""
_PAIRS = frozenset({
    *((word, "key") for word in ("api", "private", "access", "secret", "signing", "encryption", "client", "session",
                                 "license", "subscription", "ssh", "account", "service")),
    ("session", "id"), ("session", "key"), ("credit", "card"), ("card", "number"), ("card", "no"), ("card", "num"),
    ("social", "security"), ("security", "code"), ("verification", "code"), ("auth", "code"), ("pass", "word")})
_GROUPS = frozenset({"secret", "secrets", "password", "passwords", "credential", "credentials", "auth", "authorization",
                     "oauth", "token", "jwt"})
_HARMLESS_END = frozenset({
    "type", "types", "count", "counts", "in", "at", "expires", "expiry", "expiration", "length", "size", "ttl",
    "required", "enabled", "disabled", "valid", "policy", "strength", "method", "methods", "scheme", "provider",
    "endpoint", "limit", "label", "placeholder", "error", "errors", "message", "name", "names", "param", "header",
    "headers", "storage", "duration", "status", "state", "version", "age", "time", "timeout", "date", "visible",
    "icon", "form", "button", "title", "rate"})
_RUN_TOGETHER = re.compile(r"password|passwd|token$|sessionid$|sessid$|apikey$|secret$")
_NUMBERED = re.compile(r"\d+$")
_TRIVIAL = frozenset({"", "*", "0", "1", "true", "false", "null", "none", "undefined", REDACTED.lower()})
_COMMON = frozenset({
    "accepted", "active", "admin", "anonymous", "application", "authenticated", "basic", "bearer", "boolean",
    "chromium", "cookie", "cookies", "current", "default", "denied", "disabled", "enabled", "english", "expired",
    "failed", "failure", "firefox", "follow", "function", "granted", "guest", "hidden", "include", "inactive",
    "invalid", "javascript", "localhost", "logged-in", "missing", "nothing", "number", "object", "offline", "omit",
    "online", "optional", "password", "passed", "pending", "private", "public", "reload", "required", "revoked",
    "same-origin", "secret", "session", "signed-in", "standard", "string", "success", "system", "undefined",
    "unknown", "username", "valid", "value", "webkit", "access_token", "authorization_code", "client_credentials",
    "current-password", "new-password", "refresh_token"})
"""Words that stand where secrets do and are none: they are replaced there, but not everywhere else."""


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether a header, cookie, parameter, form field, JSON key or attribute of this name holds a secret."""
    words = _words(name)
    if not words or words[-1] in _HARMLESS_END:
        return False
    return (words[-1] in _AT_THE_END or any(word in _ANYWHERE or _RUN_TOGETHER.search(word) for word in words)
            or any(pair in _PAIRS for pair in pairwise(words)))


@lru_cache(maxsize=4096)
def is_secret_group(name: str) -> bool:
    """Whether everything in a JSON object or list of this name is secret, whatever the keys in it are."""
    words = _words(name)
    return bool(words) and words[-1] in _GROUPS


def is_trivial(value: str) -> bool:
    """A value that tells nothing, and stays where it is."""
    return value.strip().lower() in _TRIVIAL


def is_learnable(value: str) -> bool:
    """Whether a secret is long and rare enough to be looked for everywhere."""
    return len(value) >= SHORTEST and REDACTED not in value and value.lower() not in _COMMON


def _words(name: str) -> list[str]:
    words = [word.lower() for word in _WORDS.findall(name[-_LONGEST_NAME:])]
    while len(words) > 1 and _NUMBERED.match(words[-1]):
        words.pop()
    return words
