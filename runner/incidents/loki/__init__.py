"""Run directories of LOKI (loki-chaos-agent 1.11): ``incident.json`` and the ``network.har`` beside it.

What LOKI does not keep is told in the incident's notes, and filled as its own replay would where that is right.
"""
