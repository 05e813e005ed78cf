"""Payloads: walked, judged, fingerprinted, sent and copied. The steward's image carries this package."""
