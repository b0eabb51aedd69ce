"""Covering tasks by enumerated contents of machines."""
