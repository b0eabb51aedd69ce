"""Proofs of lower bounds, checked by code of their own: it reads instances by itself and shares nothing with the methods."""
