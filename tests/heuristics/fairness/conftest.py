"""The exact fair point that heuristics are measured against."""

import schedgap.formulations.fairness.fair_point  # noqa: F401 - registers it
