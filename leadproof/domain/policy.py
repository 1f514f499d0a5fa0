"""The written, versioned rules of a deployment."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from leadproof.domain.events import Scope
from leadproof.domain.fields import FieldSpec
from leadproof.domain.plan import MOST_ACTIONS, ActionKind, TargetObject

_FROZEN = ConfigDict(frozen=True, defer_build=True, extra="forbid")


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value,)


def _no_number(value: Any) -> Any:
    if isinstance(value, int | float):  # else it would be read as seconds since 1970
        raise ValueError("is a time, as in 2026-01-01T00:00:00Z")  # noqa: TRY004 - pydantic's
    return value


def _no_action(value: Any) -> Any:
    return None if value == "none" else value


_Seconds = Annotated[float, Field(strict=True, ge=0, le=10_000_000, allow_inf_nan=False)]
_SomeSeconds = Annotated[float, Field(strict=True, gt=0, le=10_000_000, allow_inf_nan=False)]
_Days = Annotated[float, Field(strict=True, ge=0, le=100_000, allow_inf_nan=False)]
_Hours = Annotated[float, Field(strict=True, gt=0, le=1_000_000, allow_inf_nan=False)]
_Bound = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Share = Annotated[float, Field(strict=True, ge=0, le=1)]
_Name = Annotated[str, Field(min_length=1)]
_Kind = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$")]  # as one may come
_YesNo = Annotated[bool, Field(strict=True)]
_Texts = Annotated[tuple[str, ...], BeforeValidator(_listed)]  # one text, or a list of them
_Values = Annotated[tuple[Any, ...], BeforeValidator(_listed)]
_Model = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,199}$")]


class ScopeEntry(BaseModel):
    """From when on an event kind has a scope; decided by the event's own time of occurrence."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid", populate_by_name=True)

    from_: Annotated[AwareDatetime, BeforeValidator(_no_number)] = Field(alias="from")
    scope: Scope


PlannerKind = Literal["rules", "claude"]


class EventKind(BaseModel):
    """An event kind that this deployment handles; any other kind is counted as ignored.

    Attributes:
        properties: for change events, the source's names of the fields whose change counts; empty: all.
        scopes: the scope history, oldest first; the recipe of the key.
        planner: who plans events of this kind; `None`: the policy's planner.
    """

    model_config = _FROZEN

    source: _Name
    kind: _Kind
    properties: tuple[str, ...] = ()
    scopes: tuple[ScopeEntry, ...] = Field(min_length=1)
    planner: PlannerKind | None = None

    def scope_at(self, moment: datetime) -> Scope:
        """The scope that holds for an event that occurred at `moment`; the earliest entry reaches back for ever."""
        holding = self.scopes[0]
        for entry in self.scopes:
            if entry.from_ <= moment:
                holding = entry
        return holding.scope


class TargetField(BaseModel):
    """A field of a target beyond the built-in ones, or another property for a built-in one."""

    model_config = _FROZEN

    property: _Name
    spec: FieldSpec = FieldSpec()


class Target(BaseModel):
    """The numbers of one target system, all durations in seconds.

    Attributes:
        apply_lag_seconds: how long the target may go on working on a request that it has received.
        apply_lag_source: where that number comes from.
        connect_timeout_seconds: a connection is made within this time or not at all.
        call_timeout_seconds: total deadline of one call, from the first byte out to the last byte in.
        send_within_seconds: after this time since the claim nothing is sent (`send_before`).
        clock_margin_seconds: how far clocks may differ.
        observation_window_seconds: how long the reconciler keeps reading before it asks a person.
        read_spacing_seconds: wait before the second read; doubled up to a fifth of the window.
        base_age_seconds: the read before the write may be left out while the base is younger than this and the target
            keeps the history of every field of the intent.
        max_attempts: attempts of one mutation before a person is asked.
        patience_seconds: how long writes park while the target refuses us.
        probe_seconds: how often a parked write probes.
        found_unlinked: what to do with a found record that carries no external id of ours.
        linked_elsewhere: what to do with a found record that carries another external id.
        fields: further fields by our name.
    """

    model_config = _FROZEN

    apply_lag_seconds: _Seconds
    apply_lag_source: str = Field(min_length=1)
    connect_timeout_seconds: _SomeSeconds = 5
    call_timeout_seconds: _SomeSeconds = 15
    send_within_seconds: _SomeSeconds = 10
    clock_margin_seconds: _Seconds = 2
    observation_window_seconds: _SomeSeconds = 300
    read_spacing_seconds: _SomeSeconds = 2
    base_age_seconds: _Seconds = 60
    max_attempts: int = Field(default=3, strict=True, ge=1, le=100)
    patience_seconds: _Seconds = 3600
    probe_seconds: _SomeSeconds = 30
    found_unlinked: Literal["link", "review"] = "review"
    linked_elsewhere: Literal["review"] = "review"
    fields: dict[str, TargetField] = {}

    @property
    def quiescence(self) -> timedelta:
        """Time after an attempt's `send_before` in which its request can still change the target."""
        return timedelta(seconds=self.connect_timeout_seconds + self.apply_lag_seconds + self.clock_margin_seconds)

    @property
    def observation_window(self) -> timedelta:
        return timedelta(seconds=self.observation_window_seconds)


class Condition(BaseModel):
    """A condition over the snapshot; all parts must hold, an empty one always holds.

    Attributes:
        source: source systems of which the lead must come from one.
        equals: field to the values of which one must stand there, compared in normal form.
        email_domain: domains of which one must be the e-mail address's; a subdomain is another domain.
        present: fields that must not be empty.
        absent: fields that must be empty; one that the source did not return counts as empty here.
        at_least, at_most: bounds of number fields; a missing value is in no bounds.
    """

    model_config = _FROZEN

    source: _Texts = ()
    equals: dict[str, _Values] = {}
    email_domain: _Texts = ()
    present: _Texts = ()
    absent: _Texts = ()
    at_least: dict[str, _Bound] = {}
    at_most: dict[str, _Bound] = {}


class ActionPermission(BaseModel):
    """An action kind that a planner may propose for a target, and with which fields.

    Attributes:
        compare_also: further fields that the check before the write compares with the base.
        without_history: allow fields whose history the target does not keep (the lost update is then not seen).
    """

    model_config = _FROZEN

    kind: ActionKind
    target: str
    object: TargetObject = TargetObject.CONTACT
    fields: tuple[str, ...] = Field(min_length=1)
    compare_also: tuple[str, ...] = ()
    without_history: _YesNo = False


class Approval(BaseModel):
    """A rule that holds an allowed action for a person.

    Attributes:
        action: the action kind it is about; `None`: any.
        sets: hold only when the action sets one of these fields; empty: any.
        changes: hold only when the action gives one of these fields another value than the one that stands there.
        first_write: hold only when the record is there and carries no effect of ours yet.
        below_confidence: hold when the planner's confidence is lower, or missing.
    """

    model_config = _FROZEN

    name: _Name
    action: ActionKind | None = None
    sets: _Texts = ()
    changes: _Texts = ()
    first_write: _YesNo = False
    when: Condition = Condition()
    below_confidence: _Share | None = None
    why: _Name
    queue: str = "default"


class RuleAction(BaseModel):
    """A further action of a rule: it waits until the one before it is observed.

    Attributes:
        fields: as those of the rule; besides, `{ record_id_of = "salesforce lead" }` is the id of the record that an
            action before it is about, named by target and object.
    """

    model_config = _FROZEN

    action: ActionKind
    target: str = "hubspot"
    object: TargetObject = TargetObject.CONTACT
    fields: dict[str, Any] = {}

    @property
    def about(self) -> str:
        """Which record it is about, as a further action names it."""
        return f"{self.target} {self.object}"


class Rule(BaseModel):
    """A rule of the rules planner; the first whose condition holds gives the actions.

    Attributes:
        action: `None` (in the text `"none"`): a lead for which this rule holds is left as it is.
        fields: our field name to value; `owner` by its name in `owners`.
        then: further actions, in order.
    """

    model_config = _FROZEN

    name: _Name
    when: Condition = Condition()
    action: Annotated[ActionKind | None, BeforeValidator(_no_action)] = ActionKind.QUALIFY
    target: str = "hubspot"
    object: TargetObject = TargetObject.CONTACT
    fields: dict[str, Any] = {}
    reason: str = ""
    then: tuple[RuleAction, ...] = Field(default=(), max_length=MOST_ACTIONS - 1)

    @property
    def proposals(self) -> tuple[RuleAction, ...]:
        """All that it proposes, in order: its own action and what follows."""
        if self.action is None:
            return ()
        own = RuleAction(action=self.action, target=self.target, object=self.object, fields=self.fields)
        return (own, *self.then)


class Escalation(BaseModel):
    """When a stronger model plans instead.

    Attributes:
        model: the stronger model.
        when: leads that it plans from the beginning, in one call; `None`: none.
        below_confidence: ask it when the first plan is less sure than this: a second call for that event.
        after_refusal: ask it when the guard refused an action of the first plan: a second call for that event.
    """

    model_config = _FROZEN

    model: _Model
    when: Condition | None = None
    below_confidence: _Share | None = None
    after_refusal: _YesNo = False


class Claude(BaseModel):
    """How Claude is asked for a plan.

    Attributes:
        model: the model's id, as the provider names it.
        effort: how much it thinks before it answers.
        max_tokens: most tokens of one answer, thinking included.
        call_timeout_seconds: total deadline of one call.
        instructions: what the team wants, in its own words; goes to the model as it stands.
        shows: lead fields that the model is shown; what is not listed never leaves.
    """

    model_config = _FROZEN

    model: _Model = "claude-haiku-5-5"
    effort: Literal["low", "medium", "high"] = "low"
    max_tokens: int = Field(default=4096, strict=True, ge=1024, le=32_000)
    call_timeout_seconds: float = Field(default=30, strict=True, ge=1, le=60, allow_inf_nan=False)
    instructions: str = Field(default="", max_length=20_000)
    shows: _Texts = ("company", "website", "title", "country", "region", "employees", "message")
    escalation: Escalation | None = None


class Queue(BaseModel):
    """A named review queue.

    Attributes:
        due_hours: age at which an item is due.
        abandon_after_hours: age at which an item that nobody has decided is abandoned by the policy; `None`: it stays
            open, however long it takes.
        raw_signals_count: whether a decision sent as a raw signal, without the starter's proof, is applied.
    """

    model_config = _FROZEN

    due_hours: _Hours = 24
    abandon_after_hours: _Hours | None = None
    raw_signals_count: _YesNo = True


class Retention(BaseModel):
    """How long keys are remembered, in days.

    Attributes:
        keys_days: per action kind.
        human_rerun_days: the time in which people re-run things.
        personal_days: how long personal columns are kept.
    """

    model_config = _FROZEN

    keys_days: dict[ActionKind, _Days] = {}
    human_rerun_days: _Days = 30
    personal_days: _Days = Field(default=365, gt=0)


class Policy(BaseModel):
    """One version of the policy; `text` is kept in the ledger, byte for byte.

    Attributes:
        digest: SHA-256 of `text`.
        planner: who plans where an event kind names nobody else.
        claude: how Claude is asked; there where it plans anything.
        owners: a name for people to the target's owner id, per target.
        stages: lifecycle stages in their order, lowest first, per target; the guard knows from it what is backward.
        values: the values that other picklist fields may be given, per target and field; a field that is not listed
            takes any value of its type.
        sources: longest retry window in hours, per source.
    """

    model_config = _FROZEN

    version: str = Field(min_length=1, max_length=60)
    digest: str
    text: str = Field(repr=False)
    planner: PlannerKind = "rules"
    claude: Claude | None = None
    events: tuple[EventKind, ...]
    targets: dict[str, Target]
    owners: dict[str, dict[str, _Name]] = {}
    stages: dict[str, tuple[str, ...]] = {}
    values: dict[str, dict[str, tuple[str, ...]]] = {}
    actions: tuple[ActionPermission, ...]
    approvals: tuple[Approval, ...] = ()
    rules: tuple[Rule, ...] = ()
    queues: dict[str, Queue]
    retention: Retention = Retention()
    sources: dict[str, _Hours] = {}

    def event_kind(self, source: str, kind: str) -> EventKind | None:
        return next((event for event in self.events if event.source == source and event.kind == kind), None)

    def planner_of(self, source: str, kind: str) -> PlannerKind:
        """Who plans events of a kind."""
        event = self.event_kind(source, kind)
        return (event.planner if event is not None else None) or self.planner

    def plans_with(self, planner: PlannerKind) -> bool:
        """Whether anything is planned by this planner."""
        return planner in {event.planner or self.planner for event in self.events}

    def owner_names(self, target: str) -> dict[str, str]:
        """The names of a target's owners, by the target's id."""
        return {owner_id: name for name, owner_id in self.owners.get(target, {}).items()}

    def permission(self, kind: str, target: str, target_object: str) -> ActionPermission | None:
        return next(
            (a for a in self.actions if (a.kind, a.target, a.object) == (kind, target, target_object)),
            None,
        )

    def queue(self, name: str | None) -> tuple[str, Queue]:
        """The named queue, or the default one where the policy has no such name."""
        chosen = name if name in self.queues else "default"
        return chosen, self.queues[chosen]
