"""The contract of a method, tried on small and large instances."""
