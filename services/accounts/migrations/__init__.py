"""The schema of the accounts database, revision by revision."""
