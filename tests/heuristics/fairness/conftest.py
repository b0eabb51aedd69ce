"""The exact fair point that heuristics are measured against."""

import schedgap.formulations.fairness.water_filling  # noqa: F401 - registers it
