"""Revisions, oldest first by their names."""
