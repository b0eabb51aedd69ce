"""Covering tasks by enumerated patterns of machines."""
