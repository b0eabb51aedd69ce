"""A search without a model: over the parameters that a candidate declares, numbers, choices and expressions."""
