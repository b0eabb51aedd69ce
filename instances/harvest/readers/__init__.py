"""Readers of foreign traces, which become harvest instances."""
