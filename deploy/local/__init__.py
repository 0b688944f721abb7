"""The embedded stack: everything on this machine, nothing else installed."""
