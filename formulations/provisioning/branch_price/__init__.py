"""Branch-cut-and-price: patterns of machines priced exactly, cuts of rank 1, pairs of tasks branched on."""
