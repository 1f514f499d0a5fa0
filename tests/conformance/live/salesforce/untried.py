"""What of the sandbox's Salesforce nobody tries on a real org, and why."""

from __future__ import annotations

from typing import Final

_SIGN_IN: Final = "it is about signing in otherwise than this run does"
_SIMPLER: Final = "it is a simplification of the sandbox"
_ORG: Final = "it depends on how the org is set up"
_CONVERTS: Final = "conversions and merges go over another interface"
_DELIVERY: Final = "it is about deliveries, which need an address that Salesforce reaches"
_FLOW: Final = "it needs a flow in the org"
_RECORDS: Final = "it needs more records than a run makes"
_QUERY: Final = "our queries do not rest on it"

UNTRIED: Final = {
    "the same as Basic; JWT bearer": _SIGN_IN,
    "the signature of a JWT": _SIMPLER,
    "400 `invalid_client_id`": _SIGN_IN,
    "400 `invalid_client`, `unsupported": _SIGN_IN,
    "the user of client credentials": _ORG,
    "`instance_url` is the address": _SIMPLER,
    "a policy can refuse every session": _ORG,
    "`Email` names records too": "it needs several records of one address, which the org's own rules may refuse",
    "several choices come in the org's order": _ORG,
    "which of several refusals": "nothing of ours rests on it",
    "queues own leads": _ORG,
    "with state and country picklists": _ORG,
    "code and label go together": _ORG,
    "while the request that makes": "it needs two requests in one moment",
    "`DUPLICATES_DETECTED`": _ORG,
    "`Sforce-Duplicate-Rule-Header": _ORG,
    "the rule: the same address": _ORG,
    "assignment rules run unless": _ORG,
    "they give every lead to one owner": _SIMPLER,
    "a converted lead": _CONVERTS,
    "a conversion makes": _CONVERTS,
    "it carries none": _CONVERTS,
    "a merge deletes the loser": _CONVERTS,
    "what the winner lacks": _CONVERTS,
    "its values have at most 255": "no field of ours that is tracked with its values is longer",
    "what a flow or an assignment rule does": _FLOW,
    "a flow before the save": _FLOW,
    "pages of 2000": _RECORDS,
    "pages stay as they were": _RECORDS,
    "a description's fields": "it describes much that is the org's own",
    "the limit used up": "it would use up the org's calls",
    "calls are counted since": _SIMPLER,
    "a session outlives a reset": _SIMPLER,
    "escapes in quoted text": _QUERY,
    "`\\_` and `\\%`": _QUERY,
    "`AND` and `OR` on one level": _QUERY,
    "quoted text of more than 4000": _QUERY,
    "times with milliseconds": _QUERY,
    "null of a boolean is false": _QUERY,
    "`LIKE` is blind to case": _QUERY,
    "nulls come first": _QUERY,
    "`!=`, `NOT IN`": _QUERY,
    "`OFFSET` above 2000": _QUERY,
    "a multiple selection cannot": _QUERY,
    "long text can be sorted by": _SIMPLER,
    "texts of refusals beyond": "nothing of ours rests on it",
    "the whole of a subquery": _RECORDS,
    "the envelope, `Content-Type`": _DELIVERY,
    '`SOAPAction: ""`': _DELIVERY,
    "null fields are left out": _DELIVERY,
    "`SessionId` is nil": _DELIVERY,
    "up to 100 notifications": _DELIVERY,
    "each object has a message": _DELIVERY,
    "`EnterpriseUrl` and `PartnerUrl`": _DELIVERY,
    "queued until delivered": _DELIVERY,
    "characters that XML cannot hold": _DELIVERY,
    "the first interval is": _DELIVERY,
    "the values are those of the delivery": _DELIVERY,
    "a record that was deleted meanwhile": _DELIVERY,
    "there it still has its `Id`": _DELIVERY,
    "60 seconds for an answer": _DELIVERY,
    "only 200 with": _DELIVERY,
    "a message keeps its notifications": _DELIVERY,
    "one notification for each save": _DELIVERY,
    "what was queued goes to": _DELIVERY,
}
"""Behaviours that no probe tries, by the beginnings of their rows, and why."""
