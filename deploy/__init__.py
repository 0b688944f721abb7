"""How Eastwind is run."""
