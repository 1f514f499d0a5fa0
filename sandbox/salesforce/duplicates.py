"""The org's duplicate rule: a lead or contact of an address that another lead or contact has."""

from typing import Any

from sandbox.salesforce.drafts import CONVERSION, UI, Writing
from sandbox.salesforce.errors import SalesforceError
from sandbox.salesforce.record import Record, State
from sandbox.salesforce.schema import HISTORIES, Object
from sandbox.salesforce.settings import Settings
from sandbox.salesforce.store import Store

MESSAGE = "Use one of these records?"


class DuplicatesDetected(SalesforceError):
    """Salesforce's own spelling of the key is `duplicateResut`."""

    def __init__(self, kind: Object, found: list[Record], *, allow_save: bool) -> None:
        super().__init__(400, "DUPLICATES_DETECTED", MESSAGE)
        kinds = sorted({record.kind for record in found})
        result = {
            "allowSave": allow_save,
            "duplicateRule": f"Standard_{kind.name}_Duplicate_Rule",
            "duplicateRuleEntityType": kind.name,
            "errorMessage": MESSAGE,
            "matchResults": [_matches(each, [record for record in found if record.kind == each]) for each in kinds],
        }
        self.entries = [{"duplicateResut": result, **self.entries[0]}]


def refuse(store: Store, settings: Settings, *, kind: Object, record: str, state: State, writing: Writing) -> None:
    """Raise `DuplicatesDetected`, unless the rule is off or the writer may save a duplicate and says so.

    A person sees the alert and saves all the same.
    """
    rule = settings.duplicate_rule
    email = state.values.get("Email")
    heedless = rule == "alert" and (writing.saves_duplicates or writing.source == UI)
    if rule == "off" or not email or heedless or writing.source == CONVERSION:
        return
    found = [
        other
        for name in HISTORIES
        for other in store.ever_had(name, "Email", str(email))
        if other.id != record and other.now.live and not other.now.values.get("IsConverted")
        if str(other.now.values.get("Email") or "").casefold() == str(email).casefold()
    ]
    if found:
        raise DuplicatesDetected(kind, found, allow_save=rule == "alert")


def _matches(kind: str, found: list[Record]) -> dict[str, Any]:
    return {
        "entityType": kind,
        "errors": [],
        "matchEngine": "FuzzyMatchEngine",
        "matchRecords": [
            {
                "additionalInformation": [],
                "fieldDiffs": [],
                "matchConfidence": 100.0,
                "record": {
                    "attributes": {"type": kind, "url": f"/services/data/v62.0/sobjects/{kind}/{record.id}"},
                    "Id": record.id,
                },
            }
            for record in found
        ],
        "rule": f"Standard_{kind}_Match_Rule_v1_1",
        "size": len(found),
        "success": True,
    }
