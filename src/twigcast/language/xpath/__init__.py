"""XPath 1.0 expressions: tokens, syntax trees, and advice where one is refused."""
