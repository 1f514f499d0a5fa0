"""Leads and contacts as Salesforce shows them, in our names and normal forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from leadproof.crm import salesforce_refusal
from leadproof.crm.answers import retry_after
from leadproof.crm.salesforce_client import SalesforceClient, format_soql
from leadproof.crm.salesforce_definitions import HISTORIES, LONGEST_IN_HISTORY, Definitions
from leadproof.crm.salesforce_fields import OBJECTS, SalesforceFields
from leadproof.crm.salesforce_history import Attribution, changes, moment
from leadproof.crm.salesforce_question import answered, body_of
from leadproof.deadline import Deadline, Response
from leadproof.domain.errors import ConfigurationRefused, MalformedValue
from leadproof.domain.fields import FieldType
from leadproof.domain.mutation import Answer, AnswerClass, RecordRef
from leadproof.domain.plan import TargetObject
from leadproof.domain.records import MARKER, FoundRecord, LookUp, Presence
from leadproof.domain.salesforce_ids import PREFIXES, salesforce_id

_ABSENT: Final = LookUp(presence=Presence.ABSENT)
_LAST_MOVED: Final = ("LastModifiedDate", "SystemModstamp")
_ALWAYS: Final = ("Id", "IsDeleted", "MasterRecordId", "CreatedDate", "CreatedById", "LastModifiedById", *_LAST_MOVED)
_OF_A_LEAD: Final = ("IsConverted", "ConvertedContactId")
_WHERE_IT_WENT: Final = frozenset({"MasterRecordId", "ConvertedContactId"})
"""Not asked for where our user does not see them; then a record that went elsewhere is only gone."""
_HISTORY: Final = (
    "(SELECT Field, OldValue, NewValue, CreatedById, CreatedDate FROM Histories "
    "ORDER BY CreatedDate DESC, Id DESC LIMIT 200)"
)
_MOST_MERGES: Final = 5


@dataclass(frozen=True, slots=True)
class _Question:
    """What is wanted of the records that are looked for.

    Attributes:
        fields: our names to Salesforce's fields.
        uniques: those of the unique fields whose `values` are looked for.
        short: Salesforce's fields, without case, whose longest value history keeps whole.
        hidden: those of the fields that say where a record went which our user does not see.
    """

    target_object: str
    fields: Mapping[str, str]
    history: bool
    external_id: str | None = None
    uniques: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    short: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()


class Reader:
    """Look-ups of leads and contacts. None of them raises; what cannot be trusted is *unknown*.

    They ask the database (SOQL, deleted records included), never the search index.
    """

    def __init__(
        self,
        client: SalesforceClient,
        fields: SalesforceFields,
        definitions: Definitions,
        attribution: Attribution,
        *,
        external_id_field: str,
        marker_field: str,
    ) -> None:
        self._client = client
        self._fields = fields
        self._definitions = definitions
        self._attribution = attribution
        self._external_id = external_id_field
        self._marker = marker_field

    def by_id(
        self, target_object: str, record_id: str, fields: Sequence[str], deadline: Deadline, *, history: bool
    ) -> LookUp:
        if any(_is_id(other, record_id) for other in PREFIXES.keys() - {target_object}):
            # what a decision wrote to after it was shown a lead under its contact's id
            return LookUp(presence=Presence.REMOVED, record_ids=(salesforce_id(record_id),))
        if not _is_id(target_object, record_id):
            return _unknown("there is nothing to look up by: the id is none of this object")
        question = self._question(target_object, fields, deadline, history=history)
        return self._by_id(question, record_id, deadline, converted=True)

    def find(self, record: RecordRef, fields: Sequence[str], deadline: Deadline, *, history: bool) -> LookUp:
        """External id and unique values are looked up at once; they agree on one record, or *several* is said."""
        target_object = record.target_object
        if not record.external_id:
            return _unknown("there is nothing to look up by")
        asked = self._question(target_object, (*fields, *record.unique_fields), deadline, history=history)
        uniques = {name: asked.fields[name] for name in record.unique_fields if name in asked.fields}
        unknown = sorted(record.unique_fields.keys() - uniques.keys())
        if unknown:
            return _unknown(f"Salesforce has no field for the unique field {unknown[0]}")
        question = replace(
            asked,
            fields={name: asked.fields[name] for name in fields if name in asked.fields},
            external_id=record.external_id,
            uniques=uniques,
            values=record.unique_fields,
        )
        conditions = [format_soql("{:literal} = {}", self._external_id, record.external_id)]
        conditions += [
            format_soql("{:literal} IN {}", field, self._spellings(name, record.unique_fields[name]))
            for name, field in uniques.items()
        ]
        rows = self._rows(question, " OR ".join(conditions), deadline)
        if isinstance(rows, LookUp):
            return rows
        try:
            # Salesforce compares without case, and our ids differ in case too
            ours = [row for row in rows if self._is_meant(question, row)]
        except Exception as error:  # a row that is not what it should be can be anything
            return _unknown(f"the answer could not be used ({type(error).__name__})")
        return _together(self._interpreted(question, row, deadline, converted=False) for row in ours)

    def _question(self, target_object: str, names: Iterable[str], deadline: Deadline, *, history: bool) -> _Question:
        """What can be asked of the org: the fields, and the history, that it has and shows us.

        A query for any other is refused as a whole, where HubSpot leaves out what it does not know.
        """
        fields = self._fields.fields_of(target_object, names)
        try:
            definition = self._definitions.of(OBJECTS[target_object], Deadline(deadline.remaining() / 2))
        except ConfigurationRefused:
            return _Question(target_object, fields, history)
        there = {name: field for name, field in fields.items() if definition.field(field) is not None}
        short = frozenset(one for one, field in definition.fields.items() if field.length <= LONGEST_IN_HISTORY)
        hidden = frozenset(one for one in _WHERE_IT_WENT if definition.field(one) is None)
        return _Question(target_object, there, history and definition.histories, short=short, hidden=hidden)

    def _by_id(
        self, question: _Question, record_id: str, deadline: Deadline, *, converted: bool, loser: str | None = None
    ) -> LookUp:
        """The record of an id, or the one that it was merged into.

        Args:
            loser: the record that was merged into this one; where this one is not to be seen, that one is gone and
                nothing is absent.
        """
        wanted = record_id
        for _ in range(_MOST_MERGES):
            wanted = salesforce_id(wanted)
            rows = self._rows(question, format_soql("Id = {}", wanted), deadline)
            if isinstance(rows, LookUp):
                return rows
            if not rows:
                return LookUp(presence=Presence.REMOVED, record_ids=(loser,)) if loser is not None else _ABSENT
            if len(rows) > 1 or rows[0]["id"] != wanted:
                return _unknown("the answer holds another record than the one that was asked for")
            if not rows[0]["isdeleted"] or not rows[0]["masterrecordid"]:
                return self._interpreted(question, rows[0], deadline, converted=converted)
            loser, wanted = wanted, rows[0]["masterrecordid"]
        return _unknown("the record was merged more often than can be followed")

    def _interpreted(
        self, question: _Question, row: Mapping[str, Any], deadline: Deadline, *, converted: bool
    ) -> LookUp:
        """What one row says.

        Args:
            converted: a lead that was converted is shown under its contact's id, as one that was merged away;
                otherwise it is gone, since nobody works with it any more.
        """
        if row["isdeleted"]:
            if row["masterrecordid"]:
                return self._by_id(question, row["masterrecordid"], deadline, converted=converted, loser=row["id"])
            return LookUp(presence=Presence.REMOVED, record_ids=(row["id"],))
        contact_id = row.get("convertedcontactid")
        if row.get("isconverted") and not (converted and contact_id):
            gone = tuple(one for one in (row["id"], contact_id) if one)
            return LookUp(presence=Presence.REMOVED, record_ids=gone)
        try:
            record = self._record(question, row, deadline)
        except Exception as error:  # a row that is not what it should be can be anything
            return _unknown(f"the answer could not be used ({type(error).__name__})")
        if row.get("isconverted"):
            record = record.model_copy(update={"record_id": contact_id})
        return LookUp(presence=Presence.ONE, record=record, record_ids=(record.record_id,))

    def _rows(self, question: _Question, condition: str, deadline: Deadline) -> list[dict[str, Any]] | LookUp:
        """The rows of a query, their columns without case and their ids in 18 characters."""
        response = answered(self._client.query(self._soql(question, condition), deadline))
        problem = self._problem(response)
        if problem is not None or isinstance(response, Answer):
            return problem or _unknown("no answer")
        try:
            body = body_of(response)
            rows = [_row(row, PREFIXES[question.target_object]) for row in body["records"]]
            whole = body["done"] is True
        except Exception as error:  # a body that is not what it should be can be anything
            return _unknown(f"the answer {response.status} could not be used ({type(error).__name__})")
        return rows if whole else _unknown("more records answer to this than can be looked at")

    def _soql(self, question: _Question, condition: str) -> str:
        columns = [*_ALWAYS, self._external_id, self._marker, *question.fields.values(), *question.uniques.values()]
        columns += _OF_A_LEAD if question.target_object == TargetObject.LEAD else ()
        selected = list({column.casefold(): column for column in columns if column not in question.hidden}.values())
        if question.history:
            selected.append(_HISTORY)
        return f"SELECT {', '.join(selected)} FROM {OBJECTS[question.target_object]} WHERE {condition}"  # noqa: S608

    def _problem(self, response: Response | Answer) -> LookUp | None:
        if isinstance(response, Answer):
            said = f"{response.code}: {response.detail}" if response.code else response.detail
            return LookUp(
                presence=Presence.UNKNOWN,
                detail=said,
                refuses_us=response.outcome is AnswerClass.REFUSES_US,
                retry_after_seconds=response.retry_after_seconds,
            )
        if response.status == 200:
            return None
        refusal = salesforce_refusal.of_response(response, (self._external_id, self._marker))
        meaning, told = refusal.meaning(response.status), retry_after(response.headers)
        return LookUp(
            presence=Presence.UNKNOWN,
            detail=f"Salesforce answered {response.status} {refusal.detail}".rstrip(),
            refuses_us=meaning.outcome is AnswerClass.REFUSES_US,
            retry_after_seconds=meaning.seconds() if told is None else told,
        )

    def _is_meant(self, question: _Question, row: Mapping[str, Any]) -> bool:
        if row[self._external_id.casefold()] == question.external_id:
            return True
        return any(
            self._folded(name, row[field.casefold()]) == self._folded(name, question.values[name])
            for name, field in question.uniques.items()
        )

    def _folded(self, name: str, value: Any) -> str:
        return str(self._fields.normalised(name, value)).casefold()

    def _spellings(self, name: str, value: str) -> list[str]:
        """An address with an international domain is stored as somebody typed it: in letters or in their ASCII form."""
        if self._fields.spec(name).type is not FieldType.EMAIL:
            return [value]
        local, at, domain = value.rpartition("@")
        try:
            typed = domain.encode("ascii").decode("idna")
        except UnicodeError:
            return [value]
        return list(dict.fromkeys((value, f"{local}{at}{typed}")))

    def _record(self, question: _Question, row: Mapping[str, Any], deadline: Deadline) -> FoundRecord:
        returned = {name: row[field.casefold()] for name, field in question.fields.items() if field.casefold() in row}
        entries = (row[HISTORIES.casefold()] or {}).get("records", []) if question.history else []
        names = self._attribution.names(
            (row["lastmodifiedbyid"], *(entry["CreatedById"] for entry in entries)), deadline
        )
        named = {field.casefold(): name for name, field in question.fields.items()} | {self._marker.casefold(): MARKER}
        return FoundRecord(
            record_id=row["id"],
            external_id=row[self._external_id.casefold()] or None,
            marker=row[self._marker.casefold()] or None,
            fields={name: self._fields.normalised(name, raw) for name, raw in returned.items()},
            raw={name: str(raw) if isinstance(raw, Decimal) else raw for name, raw in returned.items()},
            history=changes(
                entries,
                named,
                since=moment(row["createddate"]),
                names=names,
                form=self._form,
                short=question.short,
                ours=self._attribution.is_ours(row["createdbyid"]),
            ),
            changed_by=names.get(salesforce_id(row["lastmodifiedbyid"])),
            changed_at=moment(row["lastmodifieddate"]),
            moved_at=max(moment(row[column.casefold()]) for column in _LAST_MOVED),
        )

    def _form(self, name: str, value: Any) -> Any:
        return (value or None) if name == MARKER else self._fields.normalised(name, value)


def _is_id(target_object: str, text: str) -> bool:
    try:
        return bool(salesforce_id(text, prefix=PREFIXES[target_object]))
    except MalformedValue:
        return False


def _row(row: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    folded = {column.casefold(): value for column, value in row.items()}
    for column in ("isdeleted", *(("isconverted",) if prefix == PREFIXES[TargetObject.LEAD] else ())):
        if not isinstance(folded[column], bool):
            raise TypeError("whether a record is deleted or converted is true or false")
    folded["id"] = salesforce_id(folded["id"], prefix=prefix)
    for column in ("masterrecordid", "convertedcontactid"):
        folded[column] = salesforce_id(folded[column]) if folded.get(column) else None
    return folded


def _together(found: Iterable[LookUp]) -> LookUp:
    """What several rows say of one record: *several* needs two different records that are there."""
    reads = list(found)
    live = {read.record.record_id: read for read in reads if read.record is not None}
    if len(live) > 1:
        return LookUp(presence=Presence.SEVERAL, record_ids=tuple(live))
    unclear = [read for read in reads if read.presence is Presence.UNKNOWN]
    if unclear:
        return next((read for read in unclear if read.refuses_us), unclear[0])
    if live:
        return next(iter(live.values()))
    removed = dict.fromkeys(record_id for read in reads for record_id in read.record_ids)
    return LookUp(presence=Presence.REMOVED, record_ids=tuple(removed)) if removed else _ABSENT


def _unknown(why: str) -> LookUp:
    return LookUp(presence=Presence.UNKNOWN, detail=why)
