"""Keys as they are described, made with `hashlib` and `json` alone: a mistake of ours must not cancel out."""

from __future__ import annotations

import hashlib
import json

from leadproof.domain.events import Lead
from leadproof.domain.mutation import Mutation
from tests.support.house import House


def digest(*parts: str | None) -> str:
    """The key over an array of plain texts and nulls."""
    return hashlib.sha256(json.dumps(parts, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()


def event_key(lead: Lead) -> str:
    """The key that the columns of an event's row make."""
    return digest(
        "lead-event/1",
        lead.tenant,
        lead.environment,
        lead.source_system,
        lead.source_record_id,
        lead.event_kind,
        lead.occurrence,
    )


def mutation_key(mutation: Mutation) -> str:
    """The key that the columns of a mutation's row make."""
    return digest(
        "mutation/1",
        mutation.event_key,
        mutation.policy_version,
        mutation.action_kind,
        mutation.target_system,
        mutation.target_object,
        mutation.discriminator,
    )


def check_keys(house: House) -> None:
    """Every key in the ledger is what its own columns make."""
    leads, more = house.ledger.leads(limit=500)
    mutations, further = house.ledger.mutations(limit=500)
    assert more is further is None
    assert leads
    assert {lead.event_key for lead in leads} == {event_key(lead) for lead in leads}
    assert [one.mutation_key for one in mutations] == [mutation_key(one) for one in mutations]
