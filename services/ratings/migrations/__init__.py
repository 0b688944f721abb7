"""The schema of the ratings database, revision by revision."""
