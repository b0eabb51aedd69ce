"""Figures of many runs: gaps, wins, profiles, anytime curves, and the tables that show them."""
