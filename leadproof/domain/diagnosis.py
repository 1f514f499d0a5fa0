"""What a target tells of credentials, of our two fields and of its clock, before any of them is trusted."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from leadproof.domain import records
from leadproof.domain.fields import FieldType
from leadproof.domain.plan import TargetObject

_FROZEN = ConfigDict(frozen=True, defer_build=True)


class OurField(StrEnum):
    """A field that is ours in every target: identity and effect marker, as descriptions name them."""

    EXTERNAL_ID = "external_id"
    MARKER = records.MARKER


class FieldPresence(StrEnum):
    """*archived*: it was there and its name is still taken."""

    LIVE = "live"
    ARCHIVED = "archived"
    MISSING = "missing"


class FieldState(BaseModel):
    """One of our two fields as the target defines it.

    Attributes:
        name: the target's own name of it, as the settings say.
        kind: the target's word for its type; empty where there is none.
        text: it holds one line of text.
        holds: most characters that it holds; `None` where the target does not tell.
        addresses: a record can be addressed by its value; `None` where every unique field can do that.
        case_sensitive: values that differ in case only are different ones; `None` where the target does not tell.
    """

    model_config = _FROZEN

    field: OurField
    target_object: TargetObject = TargetObject.CONTACT
    name: str
    presence: FieldPresence
    kind: str = ""
    text: bool = False
    unique: bool = False
    holds: int | None = None
    addresses: bool | None = None
    case_sensitive: bool | None = None
    writable: bool = False
    keeps_history: bool = False


class WantedField(BaseModel):
    """A field that a policy names and a target lacks.

    Attributes:
        field: our name of it.
        name: the name that it has, or is to have, in the target.
        type: of its values.
        options: all values that the policy writes to it, in its order; empty where the policy does not list them.
        instead: what the policy can say instead, where nobody can make it.
    """

    model_config = _FROZEN

    field: str
    target_object: TargetObject = TargetObject.CONTACT
    name: str
    type: FieldType
    options: tuple[str, ...] = ()
    instead: str | None = None

    @property
    def several(self) -> bool:
        """Whether more than one of the options can be chosen."""
        return self.type is FieldType.MULTI_PICKLIST

    @property
    def kind(self) -> str:
        """What it has to be, for a person."""
        if not self.options:
            return f"one that holds a {self.type.value.replace('_', ' ')}"
        listed = "checkboxes" if self.several else "a dropdown"
        return f"{listed} with the options {', '.join(self.options)}"


class Permissions(BaseModel):
    """What credentials may do, in the target's own words.

    Attributes:
        needed: without these a worker cannot read what it has to.
        to_write: needed beside them to write; in shadow mode nothing is written.
        to_create: needed to create our fields.
        granted: `None` where the target does not tell.
        app: id of the app that the credentials belong to, where the target tells.
    """

    model_config = _FROZEN

    needed: tuple[str, ...]
    to_write: tuple[str, ...] = ()
    to_create: tuple[str, ...] = ()
    granted: frozenset[str] | None = None
    app: str | None = None

    def lacking(self, wanted: tuple[str, ...]) -> list[str]:
        """Those of `wanted` that are not granted; none where the target does not tell."""
        return [] if self.granted is None else [name for name in wanted if name not in self.granted]


class Remark(BaseModel):
    """Something further that only this target can tell.

    Attributes:
        check: what was looked at, in one word.
        says: what was found, in one sentence without a full stop.
        do: what to do about it; `None` where all is well.
        fatal: nothing works before it is done.
    """

    model_config = _FROZEN

    check: str
    says: str
    do: str | None = None
    fatal: bool = False


class ServerTime(BaseModel):
    """Between which two moments a server's clock stood when it answered."""

    model_config = _FROZEN

    earliest: datetime
    latest: datetime


class Opened(BaseModel):
    """What the credentials open.

    Attributes:
        account: the target's id of the account.
        time: the target's clock, where its answer tells.
        unusable: why nothing further can be asked.
    """

    model_config = _FROZEN

    account: str
    time: ServerTime | None = None
    unusable: Remark | None = None


def least_difference(server: ServerTime, asked: datetime, answered: datetime) -> timedelta:
    """How far two clocks differ at least: what neither the way of an answer nor its rounding explains.

    Args:
        server: the other clock, read at some moment between `asked` and `answered`.
        asked, answered: our clock before the question and after the answer.

    Returns:
        Positive where the other clock is ahead, negative where it is behind, zero where they may agree.
    """
    ahead, behind = server.earliest - answered, asked - server.latest
    if ahead > timedelta(0):
        return ahead
    return -behind if behind > timedelta(0) else timedelta(0)
