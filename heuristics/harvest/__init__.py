"""Methods of the harvest family."""
