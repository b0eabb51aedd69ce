"""`schedgap new`, and the templates that it fills in."""
