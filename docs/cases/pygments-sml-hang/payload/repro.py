"""Standard ML that ends in the keyword ``exception``."""

from pygments.lexers import SMLLexer

print("colouring", flush=True)
print(sum(1 for _ in SMLLexer().get_tokens("exception")), "tokens")
