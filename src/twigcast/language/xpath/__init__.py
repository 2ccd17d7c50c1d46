"""XPath 1.0 as written: tokens, syntax trees, and advice where an expression is refused."""
