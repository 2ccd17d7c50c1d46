"""Scenarios: experiments as people write them in TOML."""
