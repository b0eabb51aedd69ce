"""Seeded generators of job traces."""

from schedgap.instances.waiting.generators.bursty import bursty
from schedgap.instances.waiting.generators.mms import mms

__all__ = ["bursty", "mms"]
