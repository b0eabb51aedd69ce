"""Methods of the fairness family."""
