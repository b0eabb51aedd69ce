"""Seeded generators of harvest instances."""
