"""Signatures: what of a failure stays the same from run to run. :mod:`learn` is the way in.

Readers turn output into blocks (one exception each), a chooser picks the one that stands for the failure:
:mod:`python`, :mod:`java` (with :mod:`surefire`), :mod:`process`. All of it is linear in hostile input.
"""
