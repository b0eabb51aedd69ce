"""Arc-flow formulations of machine patterns, whole and window by window."""
