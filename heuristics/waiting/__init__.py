"""Methods of the waiting family: a compiled simulator, the paper's policies, and one of our own."""
