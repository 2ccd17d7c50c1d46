"""Subscriptions split into shards."""
