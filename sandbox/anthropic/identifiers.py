"""Identifiers of the form that Anthropic gives out."""

import random
import string

ALPHABET = string.ascii_letters + string.digits


def request_id() -> str:
    return _identifier("req")


def message_id() -> str:
    return _identifier("msg")


def signature() -> str:
    """What stands for the seal of a thinking block; nothing can be verified with it."""
    return "".join(random.choices(ALPHABET, k=128)) + "=="


def _identifier(kind: str) -> str:
    return f"{kind}_01{''.join(random.choices(ALPHABET, k=22))}"
