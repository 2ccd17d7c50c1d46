"""The verbs that fit one file each."""
