"""A network of brokers in simulated time."""
