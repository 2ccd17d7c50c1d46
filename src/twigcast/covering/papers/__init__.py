"""Data structures of the papers, for comparison: XNET's and Dissemination's trees."""
