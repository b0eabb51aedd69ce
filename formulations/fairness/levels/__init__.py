"""The levels of water-filling: the fluid problem, its programs and the cuts that prove them."""
