"""The router: events in, effects out."""
