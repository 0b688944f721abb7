"""The state machine of a hand and of a match."""
