"""Data structures of the papers, kept for comparison: XNET's and Dissemination's trees."""
