"""Routes, snapshots of them, and documents that are being decided."""
