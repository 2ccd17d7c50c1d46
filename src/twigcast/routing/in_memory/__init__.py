"""Routers joined in memory."""
