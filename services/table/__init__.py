"""What is legal, what happened, in which order."""
