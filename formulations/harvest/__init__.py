"""Formulations of the harvest family."""
