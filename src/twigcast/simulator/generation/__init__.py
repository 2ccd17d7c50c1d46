"""From a scenario to a schedule of events."""
