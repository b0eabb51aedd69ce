"""Queues served in compiled loops, for the policies of the paper on millions of jobs."""
