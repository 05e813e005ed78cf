"""Which recorded URLs a browser may be sent to."""

from __future__ import annotations

from urllib.parse import urlsplit

from runner.sources.wording import wrong


def check_url(url: str, key: str = "target_url") -> None:
    """Whether a session may begin with this URL. Raises ReportError, which names the key."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url or len(url) > 16_384:
        raise wrong(key, url, "an http or https URL")
