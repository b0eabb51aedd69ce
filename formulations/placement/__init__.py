"""Methods of the placement family."""
