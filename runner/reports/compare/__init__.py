"""Reports side by side, by the rules of ReproMin's ``report compare``."""
