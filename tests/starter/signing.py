"""Signatures as the sources' own documentation says, written apart from the code under test."""

from __future__ import annotations

import base64
import hashlib
import hmac


def hubspot_headers(body: bytes, *, secret: str, url: str, milliseconds: int) -> dict[str, str]:
    """Headers of a HubSpot delivery; `url` with its query, decoded as HubSpot says."""
    stamp = str(milliseconds)
    message = f"POST{url}".encode() + body + stamp.encode()
    signature = base64.b64encode(hmac.new(secret.encode(), message, hashlib.sha256).digest()).decode()
    return {
        "content-type": "application/json",
        "x-hubspot-signature-v3": signature,
        "x-hubspot-request-timestamp": stamp,
    }


def standard_headers(body: bytes, *, secret: str, seconds: int, message_id: str = "msg_1") -> dict[str, str]:
    """Headers of a delivery by Standard Webhooks."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{message_id}.{seconds}.".encode() + body, hashlib.sha256).digest()
    return {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": f"v1,{base64.b64encode(mac).decode()}",
    }
