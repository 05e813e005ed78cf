"""The source of the scripts that we hand out: read as text and put together, never imported by the runner itself.

Each part is a module of its own so that it can be read, checked and tested like any other. A script made of them runs
on a stranger's machine: they use the standard library and Playwright, and of ours only each other.
"""
