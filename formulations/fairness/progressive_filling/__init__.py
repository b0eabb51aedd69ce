"""Eunomia's Algorithm 1: repaired, and as printed."""
