"""Readers of job traces in foreign formats."""
