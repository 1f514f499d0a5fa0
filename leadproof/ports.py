"""What the business needs from the outside. Protocols only; adapters implement them and never import each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from leadproof.domain.candidates import Candidate
from leadproof.domain.diagnosis import FieldPresence, FieldState, Opened, OurField, Permissions, Remark, WantedField
from leadproof.domain.events import Lead, LeadSnapshot, Outcome
from leadproof.domain.mutation import Answer, Mutation, Reason, RecordRef
from leadproof.domain.plan import Plan, PlannerInfo, RecordedPlan
from leadproof.domain.policy import Policy
from leadproof.domain.records import Description, LookUp
from leadproof.domain.review import DecisionRow, DecisionVerdict, ReviewDecision, ReviewItem
from leadproof.domain.steps import (
    Admission,
    Applied,
    Arrival,
    Claim,
    QuarantineEntry,
    Question,
    RecordedResult,
    Reservation,
    Settled,
    Settlement,
    TargetRow,
    WriteRequest,
)
from leadproof.views import LedgerViews


class Clock(Protocol):
    """Time from outside; the wall clock for what is stored, the monotonic one for deadlines."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...


class Crm(Protocol):
    """A CRM as target and source of records.

    Every call has a total deadline and no retry of its own; a read never raises for what the target answered or for a
    lost answer, it says *unknown*; a write never raises at all, it returns the class of the answer.
    """

    @property
    def system(self) -> str: ...

    @property
    def identity(self) -> str:
        """The identity with which we read and write, for the receipts; no secret."""
        ...

    def read(self, target_object: str, record_id: str, fields: Sequence[str], *, history: bool) -> LookUp:
        """Read one record by the target's own id, with its marker and external id.

        A `record_id` in the answer that is not the one asked for means that the record was merged away.
        """
        ...

    def find(self, record: RecordRef, fields: Sequence[str], *, history: bool) -> LookUp:
        """Look a record up by external id and then by the target's unique fields, archived and merged ones included."""
        ...

    def write(self, request: WriteRequest) -> Answer:
        """Send one write; no retry, no redirect followed."""
        ...

    def keeps_history(self, target_object: str, fields: Sequence[str]) -> bool:
        """Whether the target keeps the history of every one of these fields."""
        ...

    def describe(self, target_object: str) -> Description:
        """What the target says of itself.

        Raises:
            ConfigurationRefused: the target cannot be reached or refuses us, in one sentence.
        """
        ...


class ClosableCrm(Crm, Protocol):
    """An adapter as it is made, for whoever has to end it again."""

    def close(self) -> None:
        """Close the idle connections."""
        ...


class CrmDiagnosis(Protocol):
    """What `leadproof doctor` asks of a CRM before it is trusted.

    Every question has a total deadline and raises `ConfigurationRefused`, in one sentence, where the target cannot be
    reached, refuses us, or does not tell.
    """

    @property
    def system(self) -> str: ...

    def opened(self) -> Opened:
        """The account that the credentials open, and the target's clock."""
        ...

    def permissions(self) -> Permissions: ...

    def our_fields(self) -> tuple[FieldState, ...]:
        """The two fields that are ours, as the target defines them; one that is not there is listed as missing."""
        ...

    def remarks(self) -> tuple[Remark, ...]:
        """What only this target can tell; a question that is not answered is left out, or is a remark of its own."""
        ...

    def presence_of(self, name: str) -> FieldPresence:
        """Whether there is a field of this name, the target's own."""
        ...

    def by_hand(self, field: FieldState | WantedField) -> str | None:
        """How a person makes a field that `create_field` cannot make, in one sentence; `None` where it can."""
        ...

    def create_field(self, field: OurField | WantedField) -> None:
        """Make one of our two, or one that the policy names with its options; a lost answer raises too, and looking
        again says whether it was made."""
        ...

    def close(self) -> None: ...


class Candidates(Protocol):
    """Records of a source that changed, found without its deliveries. Reads only, for one caller at a time.

    Every request has a total deadline. A lost answer is asked for again, and where the source asks us to wait, we
    wait; both within bounds. What then still stands in the way raises `ConfigurationRefused`, in one sentence.
    """

    def account(self) -> str:
        """The account that the credentials open."""
        ...

    def changed_since(self, since: datetime) -> Iterator[str]:
        """Ids of the records that were made or changed since then, as far as the source's index knows.

        Only a hint what to read: an index is late, and a record may be gone when it is read.
        """
        ...

    def read(self, record_id: str, properties: Sequence[str]) -> Candidate | None:
        """Read one record by its id, with the history of these properties of the source.

        Returns:
            `None` where it is archived, merged away, or not there.
        """
        ...

    def close(self) -> None:
        """End every wait and close the connections."""
        ...


class Planner(Protocol):
    """Proposes a plan for one event; the guard decides what of it stands."""

    @property
    def kind(self) -> str: ...

    def plan(
        self, lead: Lead, snapshot: LeadSnapshot, policy: Policy, *, stronger: bool = False
    ) -> tuple[Plan, PlannerInfo]:
        """Propose.

        Args:
            stronger: ask the policy's stronger model, where the planner has one.

        Raises:
            MalformedPlan: what was proposed cannot be used at all.
            PlannerRefused: there is no plan, and asking again would not change that.
            PlannerUnavailable: there is no plan now.
        """
        ...


class Ledger(LedgerViews, Protocol):
    """The last word on what was already done. Every method is one transaction; times are the ledger's clock's."""

    # -- admission -----------------------------------------------------------------------------------------------
    def admit(self, arrivals: Sequence[Arrival]) -> dict[str, Admission]:
        """Insert each event or count its deliveries and conflicts, in one statement for the batch.

        Args:
            arrivals: one per event key.
        """
        ...

    def quarantine(self, entries: Sequence[QuarantineEntry]) -> None:
        """Keep what could not be used; the same delivery and position again changes nothing."""
        ...

    def close_quarantined(self, delivery_digest: str, position: int, *, state: str) -> QuarantineEntry | None:
        """Move a held entry to `retried` or `dropped` and empty its body; one that is not held stays as it is."""
        ...

    # -- planning ------------------------------------------------------------------------------------------------
    def record_plan(self, plan: RecordedPlan, mutations: Sequence[Mutation]) -> RecordedResult:
        """Insert the plan or nothing, and one `reserved` row per mutation; all rows of a plan exist or none.

        A plan that exists is returned as it is. A key that exists with another fingerprint undoes the transaction
        (`conflict`). An event with a final outcome is not planned (`closed`). A plan without mutations closes the
        event: `nothing_to_do`, or `refused` where the guard refused every action.
        """
        ...

    def reserve(self, mutation: Mutation) -> tuple[Reservation, Mutation]:
        """Reserve one derived mutation outside a plan's transaction: *won*, *replay*, or *conflict*."""
        ...

    # -- the write boundary --------------------------------------------------------------------------------------
    def claim(
        self, mutation_key: str, *, version: int, number: int, send_within: timedelta, quiescence: timedelta
    ) -> Claim:
        """Insert the attempt and move the row to `submitted`, in one transaction, or do neither.

        Args:
            version, number: the caller's own reading of the row: its version, and the number of the attempt to make.
            send_within: `send_before` of the attempt, counted from inside the transaction.
            quiescence: of the target.
        """
        ...

    def store_answer(self, mutation_key: str, number: int, answer: Answer, *, request_digest: str | None) -> None:
        """Complete an attempt, if it is still open, and keep the answer as the mutation's acceptance receipt.

        Never fails on an index; the provider's record id is put on the mutation where no other mutation holds it.
        """
        ...

    def settle(self, mutation_key: str, *, version: int, step: Settlement) -> Settled:
        """Store one step of a mutation; see `Settlement`. Closes an open item that the evidence answers, passes
        dependencies on, and recomputes the event's outcome."""
        ...

    def rename_reason(self, mutation_key: str, *, version: int, reason: Reason | None) -> Settled:
        """Change the reason alone: no transition, but the version rises."""
        ...

    def target(self, target_system: str) -> TargetRow | None: ...

    def mark_target(self, target_system: str, *, up: bool, reason: str | None) -> TargetRow: ...

    # -- review --------------------------------------------------------------------------------------------------
    def open_event_review(self, event_key: str, question: Question) -> ReviewItem:
        """Open the item of an event that has no mutation in question, or return the open one."""
        ...

    def open_review(self, mutation_key: str, question: Question) -> ReviewItem:
        """Open an item about a mutation, or return the open one."""
        ...

    def record_decision(
        self,
        decision: ReviewDecision,
        *,
        reviewer: str,
        via: str,
        verdict: DecisionVerdict = DecisionVerdict.PENDING,
    ) -> DecisionRow:
        """Keep a decision, or return the row that already stands under its id.

        What a person typed without an id, and was impossible when it was typed before, is kept anew where what it is
        about has moved since: the row's id is then another one.

        Args:
            verdict: *pending*, or that of a decision which is not to be applied at any time.
        """
        ...

    def record_decisions(
        self, decisions: Sequence[ReviewDecision], *, reviewer: str, via: str
    ) -> tuple[DecisionRow, ...]:
        """Keep several decisions, all of them or none, each as `record_decision` does; their rows in their order."""
        ...

    def record_malformed(
        self, decision_id: str, *, reviewer: str, via: str, why: str, review_id: str | None = None
    ) -> DecisionRow:
        """Keep what was sent as a decision and is none; `review_id` where it names a question."""
        ...

    def apply_decision(self, decision_id: str, *, quiescence: timedelta) -> Applied:
        """Apply a recorded decision: verdict, item closed and the mutation's row, in one transaction.

        A decision that was applied before answers the same again. `overwrite` and `restore` move the parent to
        `superseded` and insert the derived row, which takes the hold over. Where the stage would move backward they
        insert two, of which the second depends on the first; where the policy does not permit that, they are
        *impossible*. While an unanswered attempt that no read-back has shown to have landed is younger than its
        quiescence, what would give the hold up stays pending.
        """
        ...

    def expire(self, event_key: str) -> tuple[DecisionRow, ...]:
        """Record the policy's decision, `abandon`, on each open question of an event whose window is over and that
        allows it; pending, to be applied as any other. The same again changes nothing."""
        ...

    # -- the event -----------------------------------------------------------------------------------------------
    def close_as_echo(self, event_key: str, mutation_key: str) -> Lead | None:
        """Close an event as the one echo of a write; `None` where another event of its record was that already."""
        ...

    def close_event(self, event_key: str, outcome: Outcome, *, echo_of: str | None = None) -> Lead:
        """Give an event without mutations its final outcome: `gone`, `echo`, `abandoned`."""
        ...

    def refresh_outcome(self, event_key: str) -> Lead:
        """Recompute an event's outcome from its item and mutations."""
        ...

    # -- the sweep -----------------------------------------------------------------------------------------------
    def unfinished(self, *, older_than: timedelta, limit: int) -> tuple[Lead, ...]:
        """Leads without a final outcome that no step of a run has touched for a while; deliveries don't count."""
        ...

    def elect_run(self, event_key: str, *, run: int) -> bool:
        """Move the lead from run `run` to the next one, by compare-and-set; its workflow ID follows."""
        ...

    # -- policy --------------------------------------------------------------------------------------------------
    def load_policy(self, policy: Policy) -> None:
        """Keep a policy version's text.

        Raises:
            PolicyRefused: the same version stands with another text, or the scope history moves a key.
        """
        ...

    def policy_text(self, version: str) -> str | None: ...

    # -- signing in ----------------------------------------------------------------------------------------------
    def spend_link(self, digest: str, *, expires_at: datetime) -> bool:
        """Spend a one-time link to the review page; `False` where it was spent before, by whomever.

        Args:
            expires_at: from when the link opens nothing anyway, and need not be remembered.
        """
        ...

    def ping(self) -> None:
        """Ask whether the ledger answers.

        Raises:
            LedgerUnavailable: it does not.
        """
        ...
