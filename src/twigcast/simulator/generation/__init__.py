"""Generation of schedules from scenarios."""
