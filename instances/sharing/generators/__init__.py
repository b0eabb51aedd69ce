"""Generators of sharing instances."""

from schedgap.instances.sharing.generators.jobs import macro, micro, random_jobs

__all__ = ["macro", "micro", "random_jobs"]
