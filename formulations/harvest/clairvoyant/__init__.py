"""Clairvoyant heuristics: schedules by lists of tasks."""
