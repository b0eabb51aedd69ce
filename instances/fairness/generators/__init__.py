"""Seeded generators of fairness instances."""

from schedgap.instances.fairness.generators.eunomia import alice_bob, micro
from schedgap.instances.fairness.generators.random_users import random_users

__all__ = ["alice_bob", "micro", "random_users"]
