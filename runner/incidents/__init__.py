"""Incidents: what went wrong in a browser session, with what is needed to play it again.

An incident is read from a run directory, LOKI's or ours, or made from what a driver said of a session. Its failures
bear identities, which are stable names: the same bug, seen twice, has the same one.
"""
