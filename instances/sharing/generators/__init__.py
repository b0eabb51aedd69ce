"""Generators of sharing instances."""

from schedgap.instances.sharing.generators.macro import macro
from schedgap.instances.sharing.generators.micro import micro
from schedgap.instances.sharing.generators.random_jobs import random_jobs

__all__ = ["macro", "micro", "random_jobs"]
