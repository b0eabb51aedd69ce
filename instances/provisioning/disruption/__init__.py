"""Which running machines controllers may give back: the model, and running machines in files."""
