"""What a run is, what is written down of it, and how it is read back."""
