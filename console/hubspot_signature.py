"""Signs a delivery as HubSpot does: signature v3."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time


def headers(secret: str, url: str, body: bytes) -> dict[str, str]:
    """The headers of a signed POST.

    Args:
        secret: the app's client secret.
        url: the address as HubSpot calls it.
        body: the bytes as sent.

    Returns:
        Headers by https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests: base64 of
        HMAC-SHA256 over method, URI, body and the timestamp in milliseconds.
    """
    timestamp = str(time.time_ns() // 1_000_000)
    signed = hmac.new(secret.encode(), b"POST" + url.encode() + body + timestamp.encode(), hashlib.sha256)
    return {
        "Content-Type": "application/json",
        "X-HubSpot-Request-Timestamp": timestamp,
        "X-HubSpot-Signature-v3": base64.b64encode(signed.digest()).decode(),
    }
