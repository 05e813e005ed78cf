"""The Docker backend: the only room that talks to an engine."""
