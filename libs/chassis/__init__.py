"""What every service stands on: settings, gRPC server and channels, identity, table store, events, database, drain."""
