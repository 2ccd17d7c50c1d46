"""Messages between brokers as bytes."""
