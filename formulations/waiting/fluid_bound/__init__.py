"""Bounds from prices on the time of fixed machines, by when the last fixed job ends."""
