"""Fixed machines and the jobs that wait for them, played over time."""
