"""The signatures that HubSpot puts on its webhooks."""

import base64
import hashlib
import hmac

DECODED = {
    "%3A": ":",
    "%2F": "/",
    "%3F": "?",
    "%40": "@",
    "%21": "!",
    "%24": "$",
    "%27": "'",
    "%28": "(",
    "%29": ")",
    "%2A": "*",
    "%2C": ",",
    "%3B": ";",
}


def v1(secret: str, body: bytes) -> str:
    return hashlib.sha256(secret.encode() + body).hexdigest()


def v3(secret: str, method: str, uri: str, body: bytes, timestamp: int) -> str:
    text = method.encode() + decoded(uri).encode() + body + str(timestamp).encode()
    return base64.b64encode(hmac.new(secret.encode(), text, hashlib.sha256).digest()).decode()


def decoded(uri: str) -> str:
    """The URI with the documented escapes undone, and no others."""
    for escape, character in DECODED.items():
        uri = uri.replace(escape, character).replace(escape.lower(), character)
    return uri


def headers(secret: str, target: str, body: bytes, timestamp: int) -> list[tuple[str, str]]:
    """Everything that a delivery of app webhooks carries: both signatures, and a version that names the older one."""
    return [
        ("Accept", "*/*"),
        ("Content-Type", "application/json"),
        (
            "User-Agent",
            "HubSpot Connect 2.0 (http://dev.hubspot.com/) "
            "(namespace: webhooks-nio-http-client) - WebhooksExecutorDaemon-executor",
        ),
        ("X-HubSpot-Request-Timestamp", str(timestamp)),
        ("X-HubSpot-Signature", v1(secret, body)),
        ("X-HubSpot-Signature-Version", "v1"),
        ("X-HubSpot-Signature-v3", v3(secret, "POST", target, body, timestamp)),
        ("X-HubSpot-Timeout-Millis", "10000"),
    ]
