"""What a source system itself shows of a record: from this a catch-up makes the events that no delivery brought."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class Version(BaseModel):
    """One entry of a property's history, in the source's own words.

    Attributes:
        value: as the source shows it; `None` where it was cleared.
        source: kind of the originator (`CRM_UI`, `INTEGRATION`, ...).
        source_id: which one.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    value: str | None
    at: datetime
    source: str | None = None
    source_id: str | None = None


class Candidate(BaseModel):
    """A source record that changed, read by its id.

    Attributes:
        created: when and by whom the record was made; its value is `None`.
        history: the source's name of a property to its versions, newest first.
        concealed: properties whose values the source leaves out of its deliveries.
        changed: when and by whom the record was last changed, where the source keeps no history; its value is `None`.
        touched: when the source last moved it in any way, its own upkeep included (Salesforce's `SystemModstamp`).
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    record_id: str
    created: Version
    history: dict[str, tuple[Version, ...]] = {}
    concealed: frozenset[str] = frozenset()
    changed: Version | None = None
    touched: datetime | None = None
