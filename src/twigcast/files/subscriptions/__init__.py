"""Subscriptions and changes to them, from files."""
