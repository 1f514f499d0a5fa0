"""What happens to records as a whole: a lead is converted, two records are merged."""

from dataclasses import replace

from sandbox.salesforce.drafts import CONVERSION, MERGE, OWNER, Writing
from sandbox.salesforce.ids import Ids
from sandbox.salesforce.record import Record
from sandbox.salesforce.records import Records
from sandbox.salesforce.schema import CONTACT, LEAD, Object, Schema
from sandbox.salesforce.times import moment
from sandbox.salesforce.values import Value

CARRIED = ("LastName", "FirstName", "Salutation", "Title", "Phone", "MobilePhone", "Email", "LeadSource", "Description")
CONVERTED = "Closed - Converted"
USER = "005"


class RecordEvents:
    def __init__(self, schema: Schema, records: Records, ids: Ids) -> None:
        self._schema = schema
        self._records = records
        self._ids = ids

    def convert(self, lead: Record, writing: Writing) -> Record:
        """Make a contact of a lead, an account and an opportunity; fields of the customer's own are not carried."""
        kind, values = self._schema[LEAD], lead.now.values
        account, opportunity = self._ids.new("001"), self._ids.new("006")
        owner = str(values[OWNER])
        with self._records.transaction():
            self._records.accounts.add(account)
            fields = {name: values[name] for name in CARRIED if values.get(name) is not None}
            fields |= {"AccountId": account, OWNER: owner if owner.startswith(USER) else writing.user}
            contact = self._records.create(self._schema[CONTACT], fields, replace(writing, source=CONVERSION))
            draft = self._records.revise(kind, lead, writing)
            draft.note("leadConverted")
            outcome: dict[str, Value] = {
                "Status": CONVERTED,
                "IsConverted": True,
                "ConvertedDate": moment(draft.state.at).date().isoformat(),
                "ConvertedAccountId": account,
                "ConvertedContactId": contact.id,
                "ConvertedOpportunityId": opportunity,
            }
            for name, value in outcome.items():
                draft.put(name, value, CONVERSION)
            draft.seal(creating=False)
            draft.note_changes()
            return self._records.become(lead, draft.state)

    def merge(self, kind: Object, winner: Record, loser: Record, writing: Writing) -> Record:
        """Keep the winner's values, fill its gaps from the loser, and delete the loser."""
        taken = {
            name: value
            for name, field in kind.fields.items()
            if not (field.read_only or field.unique) and winner.now.values.get(name) is None
            if (value := loser.now.values.get(name)) is not None
        }
        with self._records.transaction():
            self._records.delete(kind, loser, writing, winner.id)
            draft = self._records.revise(kind, winner, writing)
            draft.note(f"{kind.name.lower()}Merged")
            for name, value in taken.items():
                draft.put(name, value, MERGE)
            draft.seal(creating=False)
            draft.note_changes()
            return self._records.become(winner, draft.state)
