"""Documents in zip and tar archives, within bounds."""
