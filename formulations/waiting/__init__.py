"""Methods of the waiting family."""
