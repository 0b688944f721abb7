"""The game of mahjong, pure: no I/O, no wall clock, no ambient randomness."""
