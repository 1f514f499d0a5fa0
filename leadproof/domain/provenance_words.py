"""Where a value came from, in one sentence for people. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from pydantic import BaseModel, ConfigDict

from leadproof.domain.attribution import IN_OUR_WRITE, US
from leadproof.domain.provenance import Basis, Origin
from leadproof.domain.review import Decision, DecisionRow
from leadproof.domain.wording import author, reviewer_in_words

_KEY_DIGITS: Final = 12


class Effect(BaseModel):
    """An effect of ours as the story of a value tells it.

    Attributes:
        parent_key: the effect that it answers, of an effect that a decision made.
        planner: kind, and model where there was one.
        reason: why it was planned, in the planner's words.
        evidence: what it was planned on.
        made_by: the decision about `parent_key` that made it.
        decisions: those that were applied to it; one that made another effect is among them.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    mutation_key: str
    parent_key: str | None = None
    action_kind: str
    status: str
    event_key: str
    event_kind: str | None = None
    occurred_at: datetime | None = None
    policy_version: str
    planner: str | None = None
    reason: str | None = None
    evidence: tuple[str, ...] = ()
    made_by: DecisionRow | None = None
    decisions: tuple[DecisionRow, ...] = ()


def never_set(origin: Origin) -> bool:
    """Whether there is no value, and nothing that tells of one that was taken away."""
    return origin.basis is Basis.NOTHING and origin.value is None


def said(origin: Origin, effect: Effect | None, *, system: str, owners: Mapping[str, str]) -> str:
    """Where a value came from.

    Args:
        effect: the one that the origin names, where the ledger has it.
        system: the target system.
        owners: the policy's names of the target's owners, by id.
    """
    at = f" on {origin.at:%Y-%m-%d %H:%M:%S} UTC" if origin.at is not None else ""
    ours = _told(effect) if effect is not None else "an effect that this ledger does not know"
    if never_set(origin):
        return f"never set, as far as {system}'s history and this ledger tell"
    if origin.basis is Basis.NOTHING:
        return f"neither {system}'s history nor this ledger tells who set it"
    if origin.basis is Basis.RECORD:
        return f"{system} keeps no history of it; we changed the record last{at}, with {ours}"
    if origin.basis is Basis.LEDGER:
        return f"{system} keeps no history of it; as we saw it last{at} it was of {ours}, and nothing tells of a change"
    if origin.by == IN_OUR_WRITE:
        return f"software in {system} set it{at}, in the transaction of {ours}"
    if origin.by == US:
        return f"set by us{at}, with {ours}" if origin.mutation_key else f"set by us{at}, without an effect's marker"
    by = author(origin.by, owners) if origin.by is not None else f"somebody whom {system} does not name"
    return f"set by {by}{at}"


def _told(effect: Effect) -> str:
    planned = f", planned by {effect.planner}" if effect.planner is not None and effect.parent_key is None else ""
    because = f" ({effect.reason})" if effect.reason else ""
    event = f" for {effect.event_kind}" if effect.event_kind is not None else ""
    # what was written over it, or put back in its place, is the story of another effect
    own = [one for one in effect.decisions if one.decision in _LET_IT_WRITE]
    decided = "".join(f", {_decided(one)}" for one in (effect.made_by, *own) if one is not None)
    return (
        f"effect {effect.action_kind} {effect.mutation_key[:_KEY_DIGITS]}{event} under policy {effect.policy_version}"
        f"{planned}{because}{decided}"
    )


def _decided(row: DecisionRow) -> str:
    return f"{_DECIDED.get(str(row.decision), row.decision)} by {reviewer_in_words(row.reviewer)}"


_LET_IT_WRITE: Final = frozenset({Decision.APPROVE, Decision.RETRY})
_DECIDED: Final = {"approve": "approved", "retry": "tried again", "overwrite": "written over", "restore": "put back"}
