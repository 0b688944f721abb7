"""What a computer plays."""
