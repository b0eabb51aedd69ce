"""The fair point in whole numbers of any size."""
