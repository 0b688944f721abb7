"""Every player's rating per variant."""
