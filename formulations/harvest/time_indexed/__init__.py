"""Time-indexed programs: bounds, and optima on a grid of time."""
