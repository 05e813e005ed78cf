"""Carries out a load scenario inside the container of the image ``k6``. Nothing imports it but its tests."""
