"""Reports of every known format, turned into a :class:`runner.case.Case`.

A report is a stranger's file. It is opened without following links, parsed within fixed bounds, checked field
by field, and either becomes a frozen case or ends in one clear line and exit 2.
:func:`runner.sources.load.load_case` is the door; :mod:`runner.sources.native` and
:mod:`runner.sources.repomin` know one format each, both ways.
"""
