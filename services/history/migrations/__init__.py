"""The schema of the history database, revision by revision."""
