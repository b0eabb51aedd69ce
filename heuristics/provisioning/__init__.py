"""Heuristics for the family provisioning: which machines to rent for these tasks."""
