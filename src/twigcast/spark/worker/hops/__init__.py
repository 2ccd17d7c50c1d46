"""The plan ``hops`` on workers."""
