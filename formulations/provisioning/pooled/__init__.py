"""Which machines to rent for all tasks together, and then which task on which of them."""
