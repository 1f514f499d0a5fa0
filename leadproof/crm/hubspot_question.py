"""One question about a HubSpot account, asked once: its answer read, or one sentence why there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from leadproof.crm import hubspot_refusal
from leadproof.crm.answers import lost
from leadproof.crm.hubspot_client import HubSpotClient
from leadproof.deadline import Deadline, Response
from leadproof.domain.errors import ConfigurationRefused, TargetForeign, TargetUnreachable
from leadproof.domain.mutation import AnswerClass

T = TypeVar("T")


def ask(
    client: HubSpotClient,
    method: Callable[..., Any],
    deadline: Deadline,
    read: Callable[[Any, Response], T],
    **asked: Any,
) -> T:
    """Ask, and read the answer.

    Args:
        method: of one of the client's api objects.
        read: makes what is wanted of the client library's reading and of the answer itself; whatever it raises means
            that the answer is none.

    Raises:
        TargetUnreachable: HubSpot cannot be reached.
        TargetForeign: what answers has no such page and gives no reason of HubSpot, or answers what cannot be read.
        ConfigurationRefused: HubSpot refuses us.
    """
    exchange = client.call(method, deadline=deadline, **asked)
    nothing, response = lost(exchange), exchange.response
    if nothing is not None or response is None:
        why = nothing.detail if nothing is not None else "no answer"
        raise TargetUnreachable(f"HubSpot cannot be reached at {client.address}: {why}")
    if not 200 <= response.status < 300:
        refusal = hubspot_refusal.of_response(response, ())
        code = refusal.codes[0] if refusal.codes else "without a reason"
        if response.status == 404 and not refusal.codes:
            raise TargetForeign(f"HubSpot refuses us: 404 {code}")
        if refusal.meaning(response.status).outcome is AnswerClass.REFUSES_US:
            raise ConfigurationRefused(f"HubSpot refuses us: {response.status} {code}")
        raise ConfigurationRefused(f"HubSpot could not be asked: {response.status} {code}")
    try:
        if exchange.fault is None:
            return read(exchange.value, response)
        why = exchange.fault
    except Exception as error:  # the models promise nothing about a body that is not what it should be
        why = type(error).__name__
    raise TargetForeign(f"what HubSpot answered is no description of an account ({why})")
