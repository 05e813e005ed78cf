"""Replays bug reports that nobody should trust, and says whether they really fail as claimed."""

__version__ = "0.1.0"
