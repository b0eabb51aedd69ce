"""The waiting family: how many fixed machines to buy, who waits for them, who rents (Waiting Game)."""
