"""A document with a price, and a matcher that looks for it."""

from __future__ import annotations

import twigcast

FEED = b"<feed><trade id='7'><price>120</price></trade></feed>"


def matcher(engine: str = "auto") -> twigcast.Matcher:
    return twigcast.Matcher({"price": "//price", 2: "//trade[last() = 1]"}, engine=engine)
