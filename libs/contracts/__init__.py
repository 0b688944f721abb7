"""Contracts between services, and the converters between them and the game."""
