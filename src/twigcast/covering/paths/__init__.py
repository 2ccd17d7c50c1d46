"""Label paths: automata of them, where they come from, and how to count them."""
