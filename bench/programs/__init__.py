"""Schedulers that are no Python of ours: programs as methods, programs as policies, solutions that are there already."""
