"""Branch-cut-and-price: contents of machines priced exactly, cuts of rank 1, pairs of tasks branched on."""
