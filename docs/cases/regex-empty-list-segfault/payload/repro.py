"""A fuzzy match for any word of a list, and the list is empty."""

import regex

print("matching with", regex.__version__, flush=True)
print(regex.match(r"(?:\L<words>){e<=5}", "blah", words=[]))
