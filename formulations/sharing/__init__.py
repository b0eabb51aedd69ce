"""Methods of the sharing family."""
