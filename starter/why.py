"""`GET /v1/why`: what produced each value that stands on a record now, from the ledger and the target's history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

from leadproof.domain.errors import MalformedDelivery, NotFound
from leadproof.domain.events import source_object
from leadproof.domain.field_catalog import OWNER, specs_for
from leadproof.domain.mutation import Mutation
from leadproof.domain.plan import TargetObject
from leadproof.domain.policy import Policy
from leadproof.domain.provenance import Origin, Provenance, as_last_seen, provenance
from leadproof.domain.provenance_words import Effect, never_set, said
from leadproof.domain.records import LookUp, Presence
from leadproof.domain.review import Decision, DecisionRow, DecisionVerdict
from leadproof.domain.salesforce_ids import salesforce_object
from leadproof.domain.steps import Receipts
from leadproof.ports import Crm, Ledger
from starter import problems
from starter.api import Text
from starter.auth import Tokens
from starter.off_loop import off_loop

Look = Callable[[str], Crm | None]
"""The target system's adapter; `None` where this process cannot ask that system."""

_SALESFORCE: Final = "salesforce"
_MAKES_ANOTHER: Final = frozenset({Decision.OVERWRITE, Decision.RESTORE})


class Why:
    """Explains records.

    Args:
        look: opens the target systems that can be asked; without one the ledger alone is told.
        policy: names owners and declares the fields of today.
    """

    def __init__(self, *, ledger: Ledger, policy: Policy, look: Look) -> None:
        self._ledger = ledger
        self._policy = policy
        self._look = look

    def router(self, tokens: Tokens) -> APIRouter:
        """The route, for the application."""
        router = APIRouter(prefix="/v1", tags=["leads"])
        router.add_api_route(
            "/why",
            self.answer,
            methods=["GET"],
            dependencies=[Depends(tokens.require("read"))],
            response_model=None,
            summary="What produced each value that stands on a record now",
        )
        return router

    async def answer(self, record: Text = None, field: Text = None, target_system: Text = None) -> JSONResponse:
        """Per field of a record: its value, who made it and when, and the effect, plan and decisions behind it."""
        if not record:
            raise problems.malformed("record: say which, by the id that it has in its system")
        try:
            told = await off_loop(lambda: self.explained(record, field=field, target_system=target_system))
        except MalformedDelivery as error:
            raise problems.malformed(str(error)) from None
        return JSONResponse(told)

    def explained(
        self, record_id: str, *, field: str | None = None, target_system: str | None = None
    ) -> dict[str, Any]:
        """The answer of `GET /v1/why`.

        Args:
            record_id: the id that the record has in its system, or our external id.
            field: our name of one field; `None` for all that were read.
            target_system: which system's record it is, where several know such an id.

        Raises:
            NotFound: nothing is known of such a record, or of such a field of it.
            MalformedDelivery: several systems have such a record.
        """
        effects = self._ledger.effects_on(record_id, target_system=target_system)
        system, target_object = self._which(record_id, effects, target_system)
        effects = tuple(effect for effect in effects if effect.target_system == system)
        provider_id = next((one.provider_record_id for one in effects if one.provider_record_id), None)
        asked = provider_id or record_id
        found, note = self._read(system, target_object, asked)
        seen = found.record if found is not None else None
        record = seen or as_last_seen(effects)
        if record is None:
            raise NotFound(f"nothing is known of {system} {target_object} {record_id}: {note or 'it is not there'}")
        if record.record_id != asked:  # merged away: what we did to the other one is a part of the story
            others = self._ledger.effects_on(record.record_id, target_system=system)
            effects = tuple({one.mutation_key: one for one in (*others, *effects)}.values())
        told = provenance(record, effects, specs_for(self._policy, system))
        if field is not None:
            told = tuple(one for one in told if one.field == field)
            if not told:
                raise NotFound(f"{system} {target_object} {record.record_id} shows no field {field!r} of ours")
        effects_told = self._effects(effects, told)
        owners = self._policy.owner_names(system)
        return {
            "record": {
                "target_system": system,
                "target_object": target_object,
                "provider_record_id": record.record_id,
                "external_id": record.external_id,
                "presence": found.presence if found is not None else None,
                "note": note,
            },
            "fields": [_field(one, system, owners, effects_told) for one in told],
            "effects": {key: effect.model_dump(mode="json") for key, effect in effects_told.items()},
        }

    def _read(self, system: str, target_object: TargetObject, record_id: str) -> tuple[LookUp | None, str | None]:
        """The record as it is now, and what has to be said of it."""
        crm = self._look(system)
        if crm is None:
            return None, f"this process cannot ask {system}; the ledger alone is told"
        found = crm.read(target_object, record_id, tuple(specs_for(self._policy, system)), history=True)
        return found, _note(system, found, record_id)

    def _which(
        self, record_id: str, effects: Iterable[Mutation], target_system: str | None
    ) -> tuple[str, TargetObject]:
        """The system and the kind of the record that is meant."""
        leads, _ = self._ledger.leads(outcome=None, source_record_id=record_id, limit=20, cursor=None)
        known = {(one.target_system, TargetObject(one.target_object)) for one in effects}
        known |= {
            (lead.source_system, source_object(lead.event_kind))
            for lead in leads
            if lead.source_system in self._policy.targets and target_system in (None, lead.source_system)
        }
        systems = sorted({system for system, _ in known})
        if len(systems) > 1:
            raise MalformedDelivery(f"record: {' and '.join(systems)} have such a record; say which system is meant")
        if known:
            return min(known)
        kind = salesforce_object(record_id)
        if kind is not None and target_system in (None, _SALESFORCE) and _SALESFORCE in self._policy.targets:
            return _SALESFORCE, kind
        if target_system in self._policy.targets:
            return str(target_system), TargetObject.CONTACT
        raise NotFound(
            "no lead and no effect in this ledger is about such a record: name it by its id in its CRM (the number or "
            "code in its address there), and say which system it is in"
        )

    def _effects(self, effects: Iterable[Mutation], told: Iterable[Provenance]) -> dict[str, Effect]:
        """The effects that the answer names, each with its event, its plan and what was decided."""
        named = {origin.mutation_key for one in told for origin in (one.now, *one.earlier)}
        return {one.mutation_key: self._effect(one) for one in effects if one.mutation_key in named}

    def _effect(self, mutation: Mutation) -> Effect:
        lead = self._ledger.lead(mutation.event_key)
        plan = self._ledger.plan_of(mutation.event_key, mutation.policy_version)
        receipts = self._ledger.receipts(mutation.mutation_key)
        parent = self._ledger.receipts(mutation.parent_key) if mutation.parent_key is not None else None
        intent = mutation.intended_state
        return Effect(
            mutation_key=mutation.mutation_key,
            parent_key=mutation.parent_key,
            action_kind=mutation.action_kind,
            status=mutation.status,
            event_key=mutation.event_key,
            event_kind=lead.event_kind if lead is not None else None,
            occurred_at=lead.occurred_at if lead is not None else None,
            policy_version=mutation.policy_version,
            planner=" ".join(filter(None, (plan.planner.kind, plan.planner.model))) if plan is not None else None,
            reason=intent.reason if intent is not None else None,
            evidence=tuple(f"{one.source}: {one.says}" for one in intent.evidence) if intent is not None else (),
            made_by=next((one for one in _applied(parent) if one.decision in _MAKES_ANOTHER), None),
            decisions=_applied(receipts),
        )


def _applied(kept: Receipts | None) -> tuple[DecisionRow, ...]:
    return tuple(one for one in kept.decisions if one.verdict is DecisionVerdict.APPLIED) if kept is not None else ()


def _field(told: Provenance, system: str, owners: Mapping[str, str], effects: Mapping[str, Effect]) -> dict[str, Any]:
    def shown(origin: Origin) -> dict[str, Any]:
        name = owners.get(origin.value) if told.field == OWNER and isinstance(origin.value, str) else None
        effect = effects.get(origin.mutation_key or "")
        return {
            **origin.model_dump(mode="json"),
            "value_name": name,
            "never_set": never_set(origin),
            "said": said(origin, effect, system=system, owners=owners),
        }

    return {"field": told.field, **shown(told.now), "earlier": [shown(one) for one in told.earlier]}


def _note(system: str, found: LookUp, asked: str) -> str | None:
    """What has to be said of the record beside its values."""
    if found.presence is Presence.UNKNOWN:
        return f"{system} could not be read ({found.detail or 'it did not say why'}); the ledger alone is told"
    if found.presence is Presence.REMOVED:
        return f"the record is archived or deleted in {system}; the values are those that we saw last"
    if found.presence is Presence.ABSENT:
        return f"{system} has no such record now; the values are those that we saw last"
    if found.record is not None and found.record.record_id != asked:
        return f"{asked} was merged into {found.record.record_id}"
    return None
