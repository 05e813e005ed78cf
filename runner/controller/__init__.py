"""The straight line from a case to a verdict: :mod:`replay`, :mod:`record`, and what both share."""
