"""What a hand is worth and who pays."""
