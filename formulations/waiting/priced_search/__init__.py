"""Schedules made with hindsight from the prices of `bound-fluid`, improved by large neighbourhood search."""
