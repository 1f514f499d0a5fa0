"""The names that stand outside the process: queues, signals, updates, queries, search attributes."""

from __future__ import annotations

from temporalio.common import SearchAttributeKey

from leadproof.domain.environment import is_shadow

LEADS_QUEUE = "leads"

LEAD_WORKFLOW = "LeadWorkflow"
SWEEP_WORKFLOW = "SweepWorkflow"
SWEEP_SCHEDULE = "leadproof-sweep"
SWEEP_ID = "leadproof-sweep-run"

_SHADOW = "-shadow"


def queue_of(environment: str) -> str:
    """The task queue of an environment's runs: those of shadow mode have one of their own, so that a worker that writes
    never meets them."""
    return _of(LEADS_QUEUE, environment)


def sweep_schedule_of(environment: str) -> str:
    """The id of an environment's sweep schedule."""
    return _of(SWEEP_SCHEDULE, environment)


def sweep_id_of(environment: str) -> str:
    """The workflow ID of an environment's sweeps."""
    return _of(SWEEP_ID, environment)


def _of(name: str, environment: str) -> str:
    return name + _SHADOW if is_shadow(environment) else name


SIGNAL_DECIDE = "decide"
SIGNAL_RECORD_FREE = "record_free"
UPDATE_SUBMIT_DECISION = "submit_decision"
QUERY_STATUS = "status"

TENANT = SearchAttributeKey.for_keyword("LeadproofTenant")
SOURCE = SearchAttributeKey.for_keyword("LeadproofSource")
OUTCOME = SearchAttributeKey.for_keyword("LeadproofOutcome")
REVIEW_QUEUE = SearchAttributeKey.for_keyword("LeadproofReviewQueue")
MUTATION_KEYS = SearchAttributeKey.for_keyword_list("LeadproofMutationKeys")
MUTATION_STATUS = SearchAttributeKey.for_keyword_list("LeadproofMutationStatus")

SEARCH_ATTRIBUTES = (TENANT, SOURCE, OUTCOME, REVIEW_QUEUE, MUTATION_KEYS, MUTATION_STATUS)
"""The registry: registered by `leadproof up`, checked when a worker starts."""

MOST_MUTATION_KEYS = 25
"""At 31 keys in a keyword list the server fails the run (tried), so the newest derived keys replace their parents."""
