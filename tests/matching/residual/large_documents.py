"""Documents of a given size with many nodes of one kind."""

from __future__ import annotations

from collections.abc import Callable

Maker = Callable[[int], bytes]


def inside(content: bytes) -> bytes:
    return b"<a>%s</a>" % content


def instructions(n: int) -> bytes:
    return inside(b"<?p?>" * n)


def instructions_in_front(n: int) -> bytes:
    return b"<?p?>" * n + b"<a/>"


def comments(n: int) -> bytes:
    return inside(b"<!--c-->" * n)


def attributes(n: int) -> bytes:
    each = b" ".join(b"x%d=''" % place for place in range(n // 20))
    return inside(b"<b %s/>" % each * 100)


def namespaces(n: int) -> bytes:
    declared = b" ".join(b"xmlns:n%d='u%d'" % (place, place) for place in range(n // 10))
    return b"<a %s>%s</a>" % (declared, b"<b/>" * n)


def texts(n: int) -> bytes:
    return inside(b"t<b/>" * n)


def text_of_one_letter(n: int) -> bytes:
    return inside(b"a" * (50 * n))


def levels(n: int) -> bytes:
    depth = min(250, max(1, n // 80))
    return b"<a>" * depth + b"<b>7</b>" * n + b"</a>" * depth


def attributes_inside(n: int) -> bytes:
    depth = min(250, max(1, n // 80))
    each = b" ".join(b"x%d=''" % place for place in range(min(200, n // 20)))
    return b"<a %s>" % each * depth + b"<b/>" * n + b"<b xml:lang='de'/>" + b"</a>" * depth


def alike(n: int) -> bytes:
    front = b"p" * n
    pair = b"<b x='%s'>%s%d</b><c y='%s'>%sx%d</c>"
    places = range(n // 20)
    return inside(
        b"".join(
            pair % (front[::20], front[::20], place, front[::20], front[::20], place)
            for place in places
        )
    )


def identified(n: int) -> bytes:
    elements = b"".join(b"<b i='n%d'>n%d </b>" % (place, place) for place in range(n))
    return b"<!DOCTYPE a [<!ATTLIST b i ID #IMPLIED>]>" + inside(elements)
