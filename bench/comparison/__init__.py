"""Whether one directory of results is worse than another."""
