"""The kinds of undisturbed leads, and the policies under which each is planned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bench.deployment import ROOT, Deployment, NotAsExpected
from bench.steps import Steps

_POLICY = ROOT / "leadproof" / "embedded_policy.toml"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of undisturbed lead.

    Attributes:
        policy: which of the policies it is planned under.
        wanted: how many calls it may take, where that is a goal.
    """

    name: str
    policy: str
    run: Callable[[Steps, Deployment], str]
    wanted: int | None = None


def contact(one: Steps, house: Deployment) -> str:
    return one.lead("hubspot", "contact.creation", house.contact())


def _form(one: Steps, house: Deployment) -> str:
    number = house.contact()  # a number that nobody else has
    fields = {"email": f"form{number}@lead.example", "last_name": "Bo", "company": "Acme", "country": "US"}
    return one.lead("website", "form.submitted", f"form-{number}", **fields)


def _saved(one: Steps, house: Deployment) -> str:
    return one.lead("salesforce", "lead.saved", house.untold_salesforce_lead())


KINDS = (
    Kind("a contact of HubSpot, qualified", "plain", contact, 3),
    Kind("the same, where the plan is not young any more (the check)", "checked", contact),
    Kind("a lead of Salesforce, every field of it with history", "plain", _saved),
    Kind("a lead of Salesforce, one field without history (the check)", "untracked", _saved, 4),
    Kind("a form: a contact is made in HubSpot", "plain", _form),
    Kind("a form: a lead is made in Salesforce", "salesforce", _form),
)


def policies() -> dict[str, str]:
    """The embedded policy, and what differs from it, each as a version of its own."""
    changes: Mapping[str, Mapping[str, str]] = {
        "plain": {},
        "checked": {"base_age_seconds = 10": "base_age_seconds = 0"},
        "untracked": {
            "[owners.hubspot]": '[target.salesforce.fields.rating]\nproperty = "Rating"\nspec = { type = "picklist" }\n'
            "\n[owners.hubspot]",
            'fields = ["lead_status", "disqualification_reason"]': 'fields = ["lead_status", "rating"]\n'
            "without_history = true",
            'lead_status = "Closed - Not Converted", disqualification_reason = "competitor"': "lead_status = "
            '"Closed - Not Converted", rating = "Cold"',
            "[values.salesforce]": '[values.salesforce]\nrating = ["Cold"]',
        },
        "salesforce": {
            'fields = { owner = "mira", lifecycle_stage = "marketingqualifiedlead", lead_status = "NEW" }': "target = "
            '"salesforce"\nobject = "lead"\nfields = { owner = "inbound" }'
        },
    }
    texts = {}
    for name, replaced in changes.items():
        text = _POLICY.read_text(encoding="utf-8")
        for old, new in {'version = "embedded-2"': f'version = "bench-{name}"', **replaced}.items():
            if old not in text:
                raise NotAsExpected(f"the embedded policy no longer says {old!r}")
            text = text.replace(old, new)
        texts[name] = text
    return texts
