"""The `eastwind` command."""
