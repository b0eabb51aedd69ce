"""The rules of the shared simulator, played over time."""
