"""When a decision is over."""
