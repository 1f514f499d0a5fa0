"""Salesforce's record ids: 15 characters in which case counts, or the same with a suffix that makes it count no more.

Source: Salesforce's help, "What is the difference between the 15- and 18-character ids"; checked against captured ids.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from leadproof.domain.errors import MalformedValue
from leadproof.domain.plan import TargetObject

PREFIXES: Final[Mapping[str, str]] = MappingProxyType({TargetObject.LEAD: "00Q", TargetObject.CONTACT: "003"})
"""How the ids of an object begin."""

_ID: Final = re.compile(r"[A-Za-z0-9]{15}(?:[A-Z0-5]{3})?", re.ASCII)
_SUFFIX: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"


def salesforce_id(text: object, *, prefix: str = "") -> str:
    """An id in its 18 characters.

    Args:
        text: an id of 15 or 18 characters.
        prefix: the three characters that say what the id is of (`00D` an organization, `00Q` a lead).

    Raises:
        MalformedValue: it is no id, its suffix is another id's, or it is of something else; the value is not repeated.
    """
    if not isinstance(text, str) or _ID.fullmatch(text) is None:
        raise MalformedValue("record_id", "it is no Salesforce id")
    whole = text[:15] + _suffix(text[:15])
    if text not in {whole, whole[:15]}:
        raise MalformedValue("record_id", "it is no Salesforce id: its last three characters belong to another one")
    if not text.startswith(prefix):
        raise MalformedValue("record_id", f"it is no Salesforce id that begins with {prefix}")
    return whole


def spellings(text: str) -> tuple[str, ...]:
    """A record id of any system as it was typed and, where it may be Salesforce's in 15 characters, in its 18 too."""
    try:
        return tuple(dict.fromkeys((text, salesforce_id(text))))
    except MalformedValue:
        return (text,)


def salesforce_object(text: str) -> TargetObject | None:
    """What a record is by its Salesforce id; `None` for what is no such id, or of an object that is not handled."""
    try:
        whole = salesforce_id(text)
    except MalformedValue:
        return None
    return next((TargetObject(each) for each, prefix in PREFIXES.items() if whole.startswith(prefix)), None)


def _suffix(short: str) -> str:
    """One character per five: which of them are upper-case letters, the first as the lowest bit."""
    chunks = (short[start : start + 5] for start in range(0, 15, 5))
    return "".join(_SUFFIX[sum(1 << place for place, one in enumerate(chunk) if one.isupper())] for chunk in chunks)
