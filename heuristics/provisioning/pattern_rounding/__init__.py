"""Rounding of the pattern relaxation, and its kernels."""
