"""The report of a suite: what a directory of results holds as one HTML page, as figures for papers, and as tables."""
