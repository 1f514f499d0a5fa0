"""What differs between the CRMs, as far as a case of conformance has to know it; the cases themselves name none.

Names and values stand here by hand and are not asked of the adapters: a mistake in a map of fields must not cancel out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from leadproof.domain.mutation import AnswerClass
from leadproof.domain.plan import TargetObject
from leadproof.ports import Crm
from tests.conformance.hands import Standing


class ClosingCrm(Crm, Protocol):
    """An adapter that keeps connections."""

    def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class System:
    """One CRM.

    Attributes:
        name: of the target system, and of the sandbox's provider.
        target_object: the object that leads stand in, in our words.
        kind: the same in the words of the sandbox's control plane.
        properties: our field name to the CRM's own.
        external_id, marker: the CRM's names of the two fields that are ours.
        required: texts without which the CRM makes no record.
        person: a user of the CRM who is not us.
        owner, other_owner: active owners; there may be only one.
        inactive_owner: one who has left, where anybody has.
        status, other_status: values of the lead status, neither of them what a new record has by itself.
        unusable: a field and a value of it that the CRM does not have, where a field refuses any.
        missing_id: a well-formed id that no record has.
        rate_limited: what an answer that says *too many requests* means.
        refusals: so many 401 make one call say that we are refused.
        silent_updates: an update is answered without a body, so that nothing of its answer can trickle.
        precondition: a write that meets a later change than the check saw is refused by the CRM itself.
        rewriter: who a record's history says has rewritten a value in our own transaction.
        refuses_unsent: values that the CRM would refuse are found before anything is sent.
        standing: reads a record as the sandbox's control plane shows it.
        adapter: builds the adapter for a sandbox at an address; its time-outs to connect and for a whole call.
    """

    name: str
    target_object: TargetObject
    kind: str
    properties: Mapping[str, str]
    external_id: str
    marker: str
    required: tuple[str, ...]
    person: str
    owner: str
    other_owner: str | None
    inactive_owner: str | None
    status: str
    other_status: str
    unusable: Mapping[str, str] | None
    missing_id: str
    rate_limited: AnswerClass
    refusals: int
    silent_updates: bool
    precondition: bool
    rewriter: str
    refuses_unsent: bool
    standing: Callable[[Mapping[str, Any]], Standing]
    adapter: Callable[[str, float, float], ClosingCrm]

    @property
    def event_kind(self) -> str:
        """What a case calls that a record of this CRM is to be looked at."""
        return f"{self.target_object}.saved"

    @property
    def write(self) -> str:
        """The sandbox's operation of a write."""
        return f"{self.kind}.write"

    @property
    def read(self) -> str:
        """The sandbox's operation of a read."""
        return f"{self.kind}.read"

    def shows(self, values: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
        """Whether the CRM's values are these of our fields; what is empty may be missing."""
        return all((values.get(name) or "") == (value or "") for name, value in self.raw(fields).items())

    def raw(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Fields by the CRM's own names."""
        return {self.properties[name]: value for name, value in fields.items()}
