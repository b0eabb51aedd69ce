"""Arc-flow formulations of machine contents, whole and window by window."""
