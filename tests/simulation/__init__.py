"""A simulator: Eastwind's own code in one thread on virtual time, with seeded faults."""
