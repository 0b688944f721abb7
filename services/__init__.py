"""The services, each with one thing that it alone decides."""
