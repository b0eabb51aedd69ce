"""Methods of the reconfiguration family: the player of online policies, Eva, its rivals, and one of our own."""
