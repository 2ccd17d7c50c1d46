"""Which patterns a broker forwards over each link."""
