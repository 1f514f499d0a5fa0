"""`leadproof send`: deliver a recorded webhook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from leadproof.settings import Settings

HUBSPOT_PATH = "/webhooks/hubspot"
OUTBOUND_MESSAGE_PATH = "/webhooks/salesforce/outbound-message"


def send(
    file: Annotated[
        Path,
        typer.Argument(
            exists=True, dir_okay=False, help="the body of a HubSpot webhook or a Salesforce outbound message, as sent"
        ),
    ],
    times: Annotated[int, typer.Option(min=1, max=1000, help="how often the same bytes are delivered")] = 1,
) -> None:
    """Deliver a recorded webhook file to the starter as its source would: signed, or to its secret address."""
    from console.leaving import CommandRefused
    from console.tables import say_json
    from leadproof.settings import load

    settings = load()
    body = file.read_bytes()
    for number in range(1, times + 1):
        status, answer = deliver(settings, body)
        say_json({"delivery": number, "status": status, "answer": answer})
        if status != 200:
            raise CommandRefused(f"the starter answered {status} to delivery {number}")


def deliver(settings: Settings, body: bytes) -> tuple[int, Any]:
    """Deliver one body, with the first of its source's configured secrets.

    Returns:
        Status and answer of the starter.

    Raises:
        ConfigurationRefused: no secret is configured, or no starter answers.
    """
    return _outbound_message(settings, body) if _is_xml(body) else _webhook(settings, body)


def _is_xml(body: bytes) -> bool:
    wide = body.startswith((b"\xff\xfe", b"\xfe\xff"))
    return wide or body.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


def _webhook(settings: Settings, body: bytes) -> tuple[int, Any]:
    from console import hubspot_signature
    from console.starter_api import StarterApi
    from leadproof.domain.errors import ConfigurationRefused

    if not settings.hubspot_webhook_secrets:
        raise ConfigurationRefused(
            "LEADPROOF_HUBSPOT_WEBHOOK_SECRETS is not set; `leadproof up` says how to use an embedded stack's"
        )
    secret = settings.hubspot_webhook_secrets[0].get_secret_value()
    signed_url = settings.public_url.rstrip("/") + HUBSPOT_PATH
    return StarterApi(settings).deliver(HUBSPOT_PATH, body, hubspot_signature.headers(secret, signed_url, body))


def _outbound_message(settings: Settings, body: bytes) -> tuple[int, Any]:
    from console.starter_api import StarterApi
    from leadproof.domain.errors import ConfigurationRefused

    if not settings.salesforce_path_secrets:
        raise ConfigurationRefused(
            "LEADPROOF_SALESFORCE_PATH_SECRETS is not set; `leadproof up` says how to use an embedded stack's"
        )
    path = f"{OUTBOUND_MESSAGE_PATH}/{settings.salesforce_path_secrets[0].get_secret_value()}"
    headers = {"content-type": "text/xml", "soapaction": '""'}
    status, problem = StarterApi(settings).deliver(path, body, headers)
    return status, problem or {"acknowledged": status == 200}
