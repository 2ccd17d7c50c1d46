"""From syntax trees to conditions, and to the exact part of what is not exact."""
