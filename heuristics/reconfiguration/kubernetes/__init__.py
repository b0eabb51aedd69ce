"""The rules of `heuristics/provisioning/kubernetes`, plan after plan."""
