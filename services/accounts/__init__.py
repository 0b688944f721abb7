"""Who you are: accounts, guests, sessions and the keys that sign access tokens."""
