"""What workers do in the plan ``hops``."""
