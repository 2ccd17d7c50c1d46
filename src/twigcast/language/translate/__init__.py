"""Translation of syntax trees to conditions, and to exact necessary conditions."""
