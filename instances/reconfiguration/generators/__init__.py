"""Generators of reconfiguration instances."""
