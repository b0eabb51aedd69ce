"""Compiled code that families share. Importing a module of it imports Numba; importing the package does not."""
