"""The broker's brain, without I/O: events in, effects out."""
