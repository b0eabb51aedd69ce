"""SlackSched's prediction engine and matching, its variants, and one rule of our own."""
