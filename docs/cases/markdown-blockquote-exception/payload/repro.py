"""A block quote whose last line is an empty quote line, and nothing comes after it."""

from markdown_it import MarkdownIt

print(MarkdownIt().render("> quoted\n>"))
