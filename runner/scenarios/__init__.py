"""Load scenarios: a directory with a manifest, as LiteTraffic's users have it, read as a stranger's files. Pure."""
