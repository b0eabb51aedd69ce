"""Bounds and exact methods for provisioning over time."""
