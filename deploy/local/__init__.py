"""The embedded stack: real backing servers that need nothing installed but this package's `local` extra."""
