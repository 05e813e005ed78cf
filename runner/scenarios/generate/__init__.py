"""Scenarios made from a small description: who owns what, or which write may be sent twice."""
