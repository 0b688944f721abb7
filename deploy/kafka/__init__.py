"""Apache Kafka for development and CI: one node, from the official jars that Maven brings."""
