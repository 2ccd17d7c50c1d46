"""Documents in files, folders and archives: reading, watching, filing."""
