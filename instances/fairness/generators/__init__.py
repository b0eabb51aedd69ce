"""Seeded generators of fairness instances."""

from schedgap.instances.fairness.generators.users import alice_bob, micro, random_users

__all__ = ["alice_bob", "micro", "random_users"]
