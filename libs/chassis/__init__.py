"""What every service stands on."""
