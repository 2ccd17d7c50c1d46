"""Files that are whole or not there: locks, hidden names, syncing."""
