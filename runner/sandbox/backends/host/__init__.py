"""Runs on the host itself: process hygiene, no boundary. For reports that a person trusts."""
