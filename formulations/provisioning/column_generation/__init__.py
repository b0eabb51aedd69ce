"""Column generation on the pattern model, with dives, branching and local searches."""
