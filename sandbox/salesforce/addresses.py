"""Countries and states as an org with state and country picklists keeps them: a label and a code that go together."""

from collections.abc import Collection

from sandbox.salesforce.errors import SalesforceError
from sandbox.salesforce.schema import Field, Object, Option
from sandbox.salesforce.values import Value

PREFIXES = ("", "Mailing")
BAD_COUNTRY = (
    "There's a problem with this country, even though it may appear correct. "
    "Please select a country/territory from the list of valid countries.: "
)
BAD_STATE = (
    "There's a problem with this state, even though it may appear correct. "
    "Please select a state from the list of valid states.: "
)
NO_COUNTRY = "A country/territory must be specified before specifying a state value for field: "


def settle(values: dict[str, Value], written: Collection[str], kind: Object) -> None:
    """Bring label and code together after a write.

    Raises:
        SalesforceError: an unknown country or state, a state of another country, or of none.
    """
    for prefix in PREFIXES:
        countries, states = kind.fields.get(f"{prefix}CountryCode"), kind.fields.get(f"{prefix}StateCode")
        if countries is None or states is None:
            continue
        names = {f"{prefix}{name}" for name in ("Country", "CountryCode", "State", "StateCode")}
        if names.isdisjoint(written):
            continue
        country = _settled(values, written, countries, f"{prefix}Country", BAD_COUNTRY)
        state = _settled(values, written, states, f"{prefix}State", BAD_STATE)
        if state and country is None:
            name = _asked(written, f"{prefix}State", states)
            raise SalesforceError(400, "FIELD_INTEGRITY_EXCEPTION", f"{NO_COUNTRY}{name}", [name])
        if state and country and country.value not in state.of:
            name = _asked(written, f"{prefix}State", states)
            raise SalesforceError(400, "FIELD_INTEGRITY_EXCEPTION", f"{BAD_STATE}{name}", [name])


def _settled(
    values: dict[str, Value], written: Collection[str], codes: Field, label_name: str, complaint: str
) -> Option | None:
    """The option that a record has now, by its code if that was written, else by its label."""
    asked = _asked(written, label_name, codes)
    value = values.get(asked)
    if value is None:
        values[codes.name] = values[label_name] = None
        return None
    by_code = asked == codes.name
    for option in codes.options:
        if option.active and str(value).casefold() == (option.value if by_code else option.label).casefold():
            values[codes.name], values[label_name] = option.value, option.label
            return option
    raise SalesforceError(400, "FIELD_INTEGRITY_EXCEPTION", f"{complaint}{asked}", [asked])


def _asked(written: Collection[str], label_name: str, codes: Field) -> str:
    return label_name if label_name in written and codes.name not in written else codes.name
