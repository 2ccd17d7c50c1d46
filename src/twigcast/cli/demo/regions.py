"""The country that the demo plays in: who prints what where, and which lines join them.

Documents come from *desks*, each with words of its own and with the kinds of blocks that it fills
pages with (the sport desk has fixtures, the politics desk interviews and polls). Readers live in
*towns*, each of them a broker. The towns of a region share a *regional* broker and like the same
desks, one above all and another a little; regions are joined by two brokers and these by the
capital, where the newsroom is::

    Capital ──┬── West ──┬── Coast ──┬── Cliff
              │          │           ├── Cove ...
              │          └── Port ...
              └── East ...

So interests are regional, as they are everywhere, and that is what routing lives on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from twigcast.routing import Topology

NEWSROOM: Final = "Capital"
"""The broker that everything is published at."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What a desk writes about, in which kinds of blocks, and what its readers ask for."""

    words: str
    blocks: tuple[str, ...]
    """The kinds that no other desk uses."""
    interests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """Towns around a regional broker, joined to one half of the country."""

    half: str
    towns: tuple[str, ...]
    desks: tuple[str, str]
    """The one that is read most, and the one that is read next."""


DESKS: Final = {
    "sea": Desk(
        "ferry fleet flood gale harbour island lighthouse regatta storm tide trawler",
        ("timeline", "film"),
        (
            "//timeline/step[paragraph[contains(., '{word}')]]",
            "//film[@seconds]/caption[contains(., '{word}')]",
            "//film[credit]//paragraph[contains(., '{word}')]",
            "//step[moment > {number}]//paragraph[contains(., '{word}')]",
        ),
    ),
    "markets": Desk(
        "bakery budget dividend factory grain harvest inflation merger pension strike tariff",
        ("table",),
        (
            "//table[@kind = 'prices']//cell[contains(., '{word}')]",
            "//row[@total = 'yes']/cell[contains(., '{word}')]",
            "//table[caption[contains(., '{word}')]]//amount",
            "//table/columns/column[contains(., '{word}')]",
        ),
    ),
    "politics": Desk(
        "ballot council court debate election embassy parliament protest reform summit treaty",
        ("interview", "poll"),
        (
            "//interview//turn[paragraph]/speaker[contains(., '{word}')]",
            "//poll[@closed = 'no'][question[contains(., '{word}')]]",
            "//interview/subhead[contains(., '{word}')]",
            "//turn[speaker[contains(., '{word}')]]/paragraph",
        ),
    ),
    "culture": Desk(
        "archive concert exhibition festival gallery library museum novel opera parade theatre",
        ("verse", "sound"),
        (
            "//verse/verse-line[contains(., '{word}')]",
            "//sound[credit]/caption[contains(., '{word}')]",
            "//verse-line/work[contains(., '{word}')]",
            "//sound/transcript//paragraph[contains(., '{word}')]",
        ),
    ),
    "sport": Desk(
        "coach derby final goal league marathon medal referee relay season stadium",
        ("fixture", "listing"),
        (
            "//fixture[score]/venue[contains(., '{word}')]",
            "//fixture/incident[contains(., '{word}')]",
            "//fixture[side[@home = 'yes'][contains(., '{word}')]]",
            "//listing[@order = 'numbered']/entry[contains(., '{word}')]",
        ),
    ),
    "science": Desk(
        "climate comet drought forecast glacier hospital patent reactor satellite vaccine volcano",
        ("box", "editor-note"),
        (
            "//box[@kind = 'fact']//measure[. > {number}]",
            "//box[@kind = 'portrait']/caption[contains(., '{word}')]",
            "//editor-note[@audience = 'public']/paragraph[contains(., '{word}')]",
            "//box[caption]//picture/caption[contains(., '{word}')]",
        ),
    ),
}

REGIONS: Final = {
    "Coast": Region("West", ("Cliff", "Cove", "Dune", "Isle"), ("sea", "culture")),
    "Port": Region("West", ("Ferry", "Harbour", "Mill", "Quay"), ("markets", "sea")),
    "Lakes": Region("West", ("Brook", "Lake", "River", "Willow"), ("politics", "markets")),
    "Forest": Region("East", ("Alder", "Birch", "Elm", "Oak"), ("culture", "science")),
    "Hills": Region("East", ("Dale", "Glen", "Granite", "Ridge"), ("sport", "politics")),
    "Moors": Region("East", ("Fen", "Heath", "Juniper", "Moor"), ("science", "sport")),
}


def country() -> Topology:
    """The brokers and the links between them; the newsroom comes first."""
    halves = dict.fromkeys(region.half for region in REGIONS.values())
    links = [[NEWSROOM, half] for half in halves]
    for name, region in REGIONS.items():
        links.append([region.half, name])
        links.extend([name, town] for town in region.towns)
    return Topology.of({"links": links})
