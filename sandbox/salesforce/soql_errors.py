"""Why a query is refused, in Salesforce's words and codes."""

from typing import ClassVar

CONTEXT = 40
"""How much of the query a message repeats on either side of the fault. Values of the query are in it."""


class SoqlError(ValueError):
    """A query that cannot be answered: HTTP 400.

    Args:
        what: the fault in words.
        text: the query, and `at` where in it the fault is: then the message shows the place.
    """

    code: ClassVar[str]

    def __init__(self, what: str, text: str = "", at: int | None = None) -> None:
        self.message = what if at is None else f"{_place(text, at)}{what}"
        super().__init__(self.message)


class Malformed(SoqlError):
    """It is no query, or none of the subset that is understood."""

    code = "MALFORMED_QUERY"


class UnknownField(SoqlError):
    """A field that is not there, or that is compared with a value of another type."""

    code = "INVALID_FIELD"


class UnknownObject(SoqlError):
    code = "INVALID_TYPE"


class WrongOperator(SoqlError):
    """An operator that the field does not take, or an id that is none."""

    code = "INVALID_QUERY_FILTER_OPERATOR"


class OutOfRange(SoqlError):
    code = "NUMBER_OUTSIDE_VALID_RANGE"


def no_such_field(name: str, object_name: str, text: str, at: int) -> UnknownField:
    return UnknownField(
        f"No such column '{name}' on entity '{object_name}'. If you are attempting to use a custom field, be sure to "
        "append the '__c' after the custom field name. Please reference your WSDL or the describe call for the "
        "appropriate names.",
        text,
        at,
    )


def no_such_object(name: str, text: str, at: int) -> UnknownObject:
    return UnknownObject(
        f"sObject type '{name}' is not supported. If you are attempting to use a custom object, be sure to append the "
        "'__c' after the entity name. Please reference your WSDL or the describe call for the appropriate names.",
        text,
        at,
    )


def _place(text: str, at: int) -> str:
    line = text.count("\n", 0, at) + 1
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    shown = text[max(start, at - CONTEXT) : min(len(text) if end < 0 else end, at + CONTEXT)]
    caret = " " * (at - max(start, at - CONTEXT)) + "^"
    return f"\n{shown}\n{caret}\nERROR at Row:{line}:Column:{at - start + 1}\n"
