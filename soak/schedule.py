"""What happens in a soak, as data: a pure function of the seed and the number of leads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from soak.fault_decks import DECKS, Fault

Kind = Literal["hubspot", "routed", "form", "salesforce"]
"""A contact of HubSpot's; one whose lead is made in Salesforce; a form; a lead of Salesforce's."""

Process = Literal["worker", "starter"]

SECONDS_A_LEAD = 0.12
"""How fast leads arrive: about as fast as two cores carry them out."""

_SHORTEST_SECONDS = 4.0
_KINDS: Mapping[Kind, int] = {"hubspot": 11, "routed": 3, "form": 3, "salesforce": 3}
_FAULTS_EACH = (0, 1, 1, 1, 2, 2, 3)
_COMPANIES = ("Acme", "Globex", "Initech", "Umbrella")
_FEWEST_WITH_KILLS = 10
_KILLS: tuple[tuple[float, Process], ...] = ((0.15, "worker"), (0.3, "starter"), (0.4, "worker"), (0.6, "starter"))
"""A killed worker's plan is tried again when its time is up, after two and a half minutes: so none is killed late."""

_MORE_KILLS: tuple[tuple[float, Process], ...] = ((0.5, "worker"), (0.8, "starter"))
_MANY = 200


@dataclass(frozen=True, slots=True)
class Edit:
    """A person's save, some seconds after the record is there."""

    after_seconds: float
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ScheduledLead:
    """One lead.

    Attributes:
        at_seconds: when it appears in its source.
        copies: when each delivery of it is made, in seconds after that; the source may add some.
    """

    number: int
    kind: Kind
    at_seconds: float
    properties: Mapping[str, str]
    copies: tuple[float, ...]
    faults: tuple[Fault, ...] = ()
    edits: tuple[Edit, ...] = ()

    @property
    def email(self) -> str:
        return next(value for name, value in self.properties.items() if name.lower() == "email")


@dataclass(frozen=True, slots=True)
class Kill:
    """A process that is ended at once, with no word to it."""

    at_seconds: float
    process: Process


@dataclass(frozen=True, slots=True)
class Schedule:
    """Everything that is done to the house in one soak."""

    seed: int
    leads: tuple[ScheduledLead, ...]
    kills: tuple[Kill, ...]


def scheduled(seed: int, leads: int) -> Schedule:
    """The schedule of a seed."""
    chance = Random(f"soak:{seed}:{leads}")  # noqa: S311
    window = max(_SHORTEST_SECONDS, leads * SECONDS_A_LEAD)
    dealer = _Dealer(chance)
    kinds = _kinds(chance, leads)
    planned = tuple(_lead(chance, dealer, number, kind, window) for number, kind in enumerate(kinds, 1))
    wanted = _KILLS + (_MORE_KILLS if leads >= _MANY else ()) if leads >= _FEWEST_WITH_KILLS else ()
    kills = (Kill(round(share * window, 2), process) for share, process in wanted)
    return Schedule(seed, planned, tuple(sorted(kills, key=lambda kill: kill.at_seconds)))


def _kinds(chance: Random, leads: int) -> list[Kind]:
    """As many of each kind as its share says, so that few leads have every kind too."""
    every: list[Kind] = [kind for kind, share in _KINDS.items() for _ in range(share)]
    first: list[Kind] = list(_KINDS)
    rest = chance.choices(every, k=max(0, leads - len(first)))
    kinds = (first + rest)[:leads]
    chance.shuffle(kinds)
    return kinds


@dataclass
class _Dealer:
    """Deals each kind's faults from a shuffled deck, so that none is met a second time before all were met once."""

    chance: Random
    decks: dict[Kind, Iterator[Fault]] = field(default_factory=dict)

    def deal(self, kind: Kind, number: int) -> tuple[Fault, ...]:
        deck = self.decks.setdefault(kind, self._endless(DECKS[kind]))
        return tuple(next(deck) for _ in range(number))

    def _endless(self, faults: Sequence[Fault]) -> Iterator[Fault]:
        while True:
            yield from self.chance.sample(faults, k=len(faults))


def _lead(chance: Random, dealer: _Dealer, number: int, kind: Kind, window: float) -> ScheduledLead:
    copies = [0.0, *(round(chance.expovariate(0.5), 2) for _ in range(chance.choice((0, 1, 1, 2, 3))))]
    if chance.random() < 0.3:  # a second delivery before the first is answered
        copies.append(0.01)
    return ScheduledLead(
        number=number,
        kind=kind,
        at_seconds=round(chance.uniform(0, window), 2),
        properties=_properties(chance, number, kind),
        copies=tuple(sorted(copies)),
        faults=dealer.deal(kind, chance.choice(_FAULTS_EACH)),
        edits=_edits(chance, kind),
    )


def _properties(chance: Random, number: int, kind: Kind) -> dict[str, str]:
    email = f"person{number}@{chance.choice(('rival', 'lead', 'lead', 'lead'))}.example"
    company = chance.choice(_COMPANIES)
    given, family = f"Given{number}", f"Family{number}"
    if kind == "salesforce":  # only what a competitor sends is written to
        return {"Email": f"person{number}@rival.example", "FirstName": given, "LastName": family, "Company": company}
    if kind == "form":
        employees = {"employees": chance.choice(("20", "700", "3000"))}
        return {
            "email": email,
            "first_name": given,
            "last_name": family,
            "company": company,
            "country": "US",
        } | employees
    if kind == "routed":
        email = f"person{number}@lead.example"
    contact = {"email": email, "firstname": given, "lastname": family, "company": company}
    if kind == "routed":  # the save of a country is an event of its own
        return {**contact, "country": "GB"}
    return {**contact, "numemployees": chance.choice(("5-25", "500-1000", "1000+"))}


def _edits(chance: Random, kind: Kind) -> tuple[Edit, ...]:
    """What people save meanwhile: what we write as well, what is an event of its own, and what is neither."""
    if kind == "form" or chance.random() < 0.5:
        return ()
    choices: Sequence[dict[str, str]] = (
        (
            {"hs_lead_status": "CONNECTED"},
            {"hubspot_owner_id": "503"},
            {"lifecyclestage": "customer"},
            {"country": "DE"},
            {"jobtitle": "Buyer"},
        )
        if kind != "salesforce"
        else ({"Status": "Working - Contacted"}, {"Title": "Buyer"}, {"Company": "Renamed"})
    )
    times = sorted(round(chance.expovariate(0.3), 2) for _ in range(chance.choice((1, 1, 2))))
    return tuple(Edit(at, chance.choice(choices)) for at in times)


def described(schedule: Schedule) -> dict[str, Any]:
    """How much of what is in a schedule."""
    faults = [fault for lead in schedule.leads for fault in lead.faults]
    return {
        "leads": len(schedule.leads),
        "deliveries": sum(len(lead.copies) for lead in schedule.leads),
        "faults": len(faults),
        "edits": sum(len(lead.edits) for lead in schedule.leads),
        "kills": len(schedule.kills),
    }
