"""An address book: server-made pages and forms. Bugs: a name with an apostrophe kills the insert (500), and a card
whose age is not a number cannot be opened (500).
"""

from __future__ import annotations

from html import escape
from itertools import count
from urllib.parse import parse_qs, urlsplit

from serving import Handler, serve

CARDS: dict[int, dict[str, str]] = {1: {"name": "Ada", "age": "36", "note": "first"}}
NUMBERS = count(2)
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Cards</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"></head><body><h1>Cards</h1>%s
</body></html>"""
FORM = """<form method="post" action="%s"><input type="hidden" name="token" value="t1">
<label>Name <input id="name" name="name" value="%s"></label>
<label>Age <input id="age" name="age" type="number" value="%s"></label>
<label>Note <textarea id="note" name="note">%s</textarea></label>
<button id="save">Save</button> <button id="purge" disabled>Purge</button></form>"""
SEARCH = """<form method="get" action="/"><input name="q" placeholder="Search"><button>Find</button></form>
<form method="post" action="/login"><input name="user" placeholder="user"><input name="password" type="password">
<button id="login">Log in</button></form><p id="who">%s</p>"""


class Cards(Handler):
    """The pages."""

    def do_GET(self) -> None:
        """The list, or one card."""
        parts = urlsplit(self.path)
        if parts.path == "/":
            wanted = parse_qs(parts.query).get("q", [""])[0].lower()
            empty = FORM % ("/cards", "", "", "")
            self.answer(200, PAGE % (self.listing(wanted) + empty + SEARCH % "nobody"), "text/html")
            return
        number = int(parts.path.rpartition("/")[2]) if parts.path.rpartition("/")[2].isdigit() else 0
        if number not in CARDS:
            self.answer(404, PAGE % '<p>gone</p><a href="/">back</a>', "text/html")
            return
        card = CARDS[number]
        try:
            born = 2026 - int(card["age"] or "0")
        except ValueError:
            self.answer(500, PAGE % '<p>broken</p><a href="/">back</a>', "text/html")
            return
        fields = FORM % (f"/cards/{number}", escape(card["name"]), escape(card["age"]), escape(card["note"]))
        self.answer(200, PAGE % (f"<p>born {born}</p>{fields}<a href='/'>back</a>"), "text/html")

    def listing(self, wanted: str) -> str:
        """The cards whose name has ``wanted`` in it."""
        rows = "".join(
            f'<li><a href="/cards/{number}">{escape(card["name"]) or "?"}</a> <form method="post" '
            f'action="/cards/{number}/delete"><button>Delete</button></form></li>'
            for number, card in CARDS.items() if wanted in card["name"].lower())
        return f"<ul>{rows}</ul>"

    def do_POST(self) -> None:
        """Insert, change, delete, log in."""
        fields = {name: values[0] for name, values in parse_qs(self.body()).items()}
        steps = self.path.strip("/").split("/")
        if "'" in fields.get("name", ""):
            self.answer(500, PAGE % '<p>near "\'": syntax error</p><a href="/">back</a>', "text/html")
            return
        card = {name: fields.get(name, "") for name in ("name", "age", "note")}
        if steps == ["cards"]:
            CARDS[next(NUMBERS)] = card
        elif len(steps) == 2:
            CARDS[int(steps[1])] = card
        elif len(steps) == 3:
            CARDS.pop(int(steps[1]), None)
        self.answer(303, "", "text/html", location="/")


if __name__ == "__main__":
    serve(Cards)
