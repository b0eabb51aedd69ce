"""Repacking a cluster that runs: stocks of machines, and a limit on how many tasks may move."""
