"""Ids as requests name them, and the giver of new ones."""

from sandbox.salesforce.soql_ids import MalformedId, numbered, whole

INSTANCE = "xx"


def read(text: str) -> str | None:
    """The 18 characters of what is an id in 15 or 18; nothing if it is none."""
    try:
        return whole(text)
    except MalformedId:
        return None


def looks_like_id(text: str) -> bool:
    return len(text) in {15, 18} and text.isascii() and text.isalnum() and text[0].isdigit()


class Ids:
    """Gives ids, of whatever object, from one row of numbers."""

    def __init__(self, first: int) -> None:
        self._next = first

    def new(self, prefix: str) -> str:
        self._next += 1
        return numbered(f"{prefix}{INSTANCE}", self._next - 1)
