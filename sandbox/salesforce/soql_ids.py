"""Record ids: 15 characters in which case counts, and 3 more with which it need not."""

import re

_ID = re.compile(r"[A-Za-z0-9]{15}(?:[A-Z0-5]{3})?", re.ASCII)
_SUFFIX = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class MalformedId(ValueError):
    """It is no id, or its last three characters are another one's."""


def whole(text: str) -> str:
    """An id of 15 or 18 characters in its 18.

    Raises:
        MalformedId: it is none.
    """
    if _ID.fullmatch(text) is None or text not in {text[:15], text[:15] + _suffix(text[:15])}:
        raise MalformedId(text)
    return text[:15] + _suffix(text[:15])


def numbered(prefix: str, number: int) -> str:
    """The id of a number: `prefix` is what all ids of its kind in this org begin with (`00Qxx0000`)."""
    digits = ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return whole(prefix + digits.rjust(15 - len(prefix), "0"))


def _suffix(short: str) -> str:
    """One character for five: which of them are upper-case letters, the first as the lowest bit."""
    chunks = (short[start : start + 5] for start in range(0, 15, 5))
    return "".join(_SUFFIX[sum(1 << place for place, one in enumerate(chunk) if one.isupper())] for chunk in chunks)
