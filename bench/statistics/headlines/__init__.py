"""Headlines: the tables that answer a suite's question; `registry` names them."""
