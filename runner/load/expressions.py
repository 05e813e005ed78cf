"""``${…}`` in an observation: whole numbers, ``+ - *``, parentheses, and the names of a few numbers of the run."""

from __future__ import annotations

import re
from collections.abc import Mapping

NAMES = frozenset({"planned_journeys", "seed"})
MAX_CHARS, MAX_NESTING, MAX_BITS = 200, 32, 4096
_WHOLE = re.compile(r"\$\{(.*)\}", re.DOTALL)
_TOKEN = re.compile(r"\s*([0-9]+|[a-z_]+|[-+*()])", re.ASCII)


def expression_in(value: object) -> str | None:
    """The expression, if the value is a text that is exactly ``${EXPR}``."""
    found = _WHOLE.fullmatch(value) if isinstance(value, str) else None
    return found[1] if found else None


def evaluate(expression: str, names: Mapping[str, int]) -> int:
    """Its value. Raises ValueError for one that breaks a rule, in one sentence."""
    if len(expression) > MAX_CHARS:
        raise ValueError(f"the expression is longer than {MAX_CHARS} characters")
    parser = _Parser(_tokens(expression), names)
    value = parser.sum()
    if parser.rest:
        raise ValueError(f"the expression has {parser.rest[-1]!r} where it should end")
    return value


def _tokens(expression: str) -> list[str]:
    tokens, at, text = [], 0, expression.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"the expression has {text[at:].strip()[:10]!r}, which is no number, name, + - * or ()")
        tokens.append(found[1])
        at = found.end()
    return tokens


class _Parser:
    """Recursive descent, as deep as parentheses and signs are nested."""

    def __init__(self, tokens: list[str], names: Mapping[str, int]) -> None:
        self.rest = tokens[::-1]
        self._names = names
        self._depth = 0

    def sum(self) -> int:
        value = self._product()
        while self.rest and self.rest[-1] in "+-":
            sign = 1 if self.rest.pop() == "+" else -1
            value += sign * self._product()
        return value

    def _product(self) -> int:
        value = self._term()
        while self.rest and self.rest[-1] == "*":
            self.rest.pop()
            value *= self._term()
            if value.bit_length() > MAX_BITS:
                raise ValueError("the expression's value is too large")
        return value

    def _term(self) -> int:
        if not self.rest:
            raise ValueError("the expression ends where a number or a name is missing")
        token = self.rest.pop()
        if token in ("(", "-", "+"):
            return self._nested(token)
        if token.isdigit():
            return int(token)
        if token in self._names:
            return self._names[token]
        if token in ("*", ")"):
            raise ValueError(f"the expression has {token!r} where a number or a name is missing")
        raise ValueError(f"the expression knows {' and '.join(sorted(self._names))}, not {token!r}")

    def _nested(self, opening: str) -> int:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise ValueError(f"the expression is nested deeper than {MAX_NESTING}")
        value = self.sum() if opening == "(" else self._term()
        if opening == "(" and (not self.rest or self.rest.pop() != ")"):
            raise ValueError("the expression lacks a )")
        self._depth -= 1
        return -value if opening == "-" else value
