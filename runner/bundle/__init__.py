"""Bundles: a report and its payload in one ``.repro`` file, packed, read as a stranger's, unpacked.

The format ``runner.bundle/1`` is documented byte for byte in ``docs/bundles.md``: a canonical tar stream (see
:mod:`runner.payload.tar`) in one zstd frame. :func:`runner.bundle.load.read_report_or_bundle` is the door for
whoever takes a report, :func:`runner.bundle.read.read_bundle` for whoever needs the payload too.
"""
