"""Seeded generators of job traces."""

from schedgap.instances.waiting.generators.arrivals import bursty, mms

__all__ = ["bursty", "mms"]
