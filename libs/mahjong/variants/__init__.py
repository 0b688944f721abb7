"""The rulesets, one folder per preset."""
