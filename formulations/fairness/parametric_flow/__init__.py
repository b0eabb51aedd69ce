"""The fair point as maximum flows in exact arithmetic."""
