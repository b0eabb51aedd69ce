"""What a suite asks for, where its instances come from, and what a directory of its results holds."""
