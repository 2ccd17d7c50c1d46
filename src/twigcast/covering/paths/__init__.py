"""Label paths: automata of them, where they come from, and how many there are."""
