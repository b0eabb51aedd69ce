"""What is said of a plan for a running cluster: in which order it is carried out, what is missing, whom it disturbs."""
