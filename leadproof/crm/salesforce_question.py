"""One question about a Salesforce org, asked once: its answer read, or one sentence why there is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeVar

from leadproof.crm import salesforce_refusal
from leadproof.crm.answers import lost
from leadproof.crm.salesforce_client import SalesforceClient
from leadproof.crm.salesforce_session import Session
from leadproof.deadline import Deadline, Exchange, Response
from leadproof.domain.errors import ConfigurationRefused, TargetForeign, TargetUnreachable
from leadproof.domain.mutation import Answer, AnswerClass

T = TypeVar("T")


def answered(asked: Exchange[Any] | Answer) -> Response | Answer:
    """The complete answer to a call, or what stands in its place."""
    if isinstance(asked, Answer):
        return asked
    nothing = lost(asked)
    if nothing is not None or asked.response is None:
        return nothing or Answer(outcome=AnswerClass.UNCERTAIN, detail="no complete answer arrived")
    return asked.response


def body_of(response: Response) -> Any:
    """The JSON of an answer, with numbers as they are written.

    Raises:
        ValueError: it is none.
    """
    return json.loads(response.body, parse_float=Decimal)


def ask(
    client: SalesforceClient,
    put: Callable[[Deadline], Exchange[Any] | Answer],
    deadline: Deadline,
    read: Callable[[Any, Response], T],
) -> T:
    """Ask, and read the answer.

    Args:
        put: puts the question: one call of the client.
        read: makes what is wanted of the answer's JSON and of the answer itself; whatever it raises means that the
            answer is none.

    Raises:
        TargetUnreachable: Salesforce cannot be reached, or not now.
        TargetForeign: what answers has no such page and gives no reason of Salesforce, or answers what cannot be read.
        ConfigurationRefused: Salesforce refuses us.
    """
    response = answered(put(deadline))
    if isinstance(response, Answer):
        raise _no_answer(client, response)
    if not 200 <= response.status < 300:
        refusal = salesforce_refusal.of_response(response)
        code = refusal.codes[0] if refusal.codes else "without a reason"
        if response.status == 404 and not refusal.codes:
            raise TargetForeign(f"Salesforce refuses us: 404 {code}")
        if refusal.meaning(response.status).outcome is AnswerClass.REFUSES_US:
            raise ConfigurationRefused(f"Salesforce refuses us: {response.status} {code}")
        raise ConfigurationRefused(f"Salesforce could not be asked: {response.status} {code}")
    try:
        return read(body_of(response), response)
    except Exception as error:  # a body that is not what it should be can be anything
        why = type(error).__name__
    raise TargetForeign(f"what Salesforce answered is no description of an org ({why})")


def session_of(client: SalesforceClient, deadline: Deadline) -> Session:
    """Who we are in which org.

    Raises:
        TargetUnreachable, ConfigurationRefused: as for `ask`.
    """
    session = client.session(deadline)
    if isinstance(session, Answer):
        raise _no_answer(client, session)
    return session


def _no_answer(client: SalesforceClient, said: Answer) -> ConfigurationRefused:
    why = f"{said.code}: {said.detail}" if said.code else f"{said.detail}"
    if said.outcome is AnswerClass.REFUSES_US:
        return ConfigurationRefused(f"Salesforce refuses us: {why}")
    return TargetUnreachable(f"Salesforce cannot be reached at {client.address}: {why}")
