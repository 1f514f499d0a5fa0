"""One write to a lead or a contact, and what Salesforce's answer to it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import MappingProxyType
from typing import Any, Final

from leadproof.crm import salesforce_checks, salesforce_refusal
from leadproof.crm.answers import OUR_FIELD_UNUSABLE, retry_after
from leadproof.crm.salesforce_client import SalesforceClient, format_external_id
from leadproof.crm.salesforce_definitions import Definitions
from leadproof.crm.salesforce_fields import OBJECTS, SalesforceFields
from leadproof.crm.salesforce_question import answered, body_of
from leadproof.deadline import Deadline, Response
from leadproof.domain.errors import MalformedValue
from leadproof.domain.mutation import Answer, AnswerClass
from leadproof.domain.salesforce_ids import PREFIXES, salesforce_id
from leadproof.domain.steps import WriteRequest

_ON_EVERY_WRITE: Final[Mapping[str, str]] = MappingProxyType(
    {
        # without it an assignment rule takes the record from the owner that we set, on updates too
        "Sforce-Auto-Assign": "FALSE",
        # a duplicate is a person's question, whatever the rule would let pass
        "Sforce-Duplicate-Rule-Header": "allowSave=false; includeRecordDetails=false; runAsCurrentUser=false",
    }
)


class Writer:
    """Writes leads and contacts. Nothing here raises: whatever happens after a byte left is an answer, *uncertain* at
    worst.

    Args:
        connect_timeout: seconds within which a write has begun to leave, or never leaves: what is asked of the org
            before it, a sign-in and a repetition included.
    """

    def __init__(
        self,
        client: SalesforceClient,
        fields: SalesforceFields,
        definitions: Definitions,
        *,
        external_id_field: str,
        marker_field: str,
        connect_timeout: float,
    ) -> None:
        self._client = client
        self._fields = fields
        self._definitions = definitions
        self._external_id = external_id_field
        self._marker = marker_field
        self._ours = (external_id_field, marker_field)
        self._connect_timeout = connect_timeout

    def write(self, request: WriteRequest, deadline: Deadline) -> Answer:
        """Send one write: an upsert by external id where the request may create, else by id and without creation."""
        leaves_by = Deadline(self._connect_timeout)
        target_object = request.record.target_object
        unknown = [name for name in request.fields if self._fields.field_of(target_object, name) is None]
        if unknown:
            why = f"Salesforce has no field of a {target_object} for: {', '.join(sorted(unknown))}"
            return _impossible("UNKNOWN_FIELD", why)
        try:
            data = {
                str(self._fields.field_of(target_object, name)): self._fields.to_value(name, value)
                for name, value in request.fields.items()
            }
        except MalformedValue as error:
            return _impossible("MALFORMED_VALUE", str(error))
        path = self._path(request)
        if isinstance(path, Answer):
            return path
        name, creates = OBJECTS[target_object], request.creates
        time_to_check = Deadline(min(deadline.remaining(), leaves_by.remaining()) / 2)
        refused = salesforce_checks.refusal(self._definitions, name, data, time_to_check, creates=creates)
        if refused is not None:
            return refused
        data[self._marker] = request.marker
        if request.sets_external_id and not creates:  # of an upsert it stands in the address, and nowhere else
            data[self._external_id] = request.record.external_id
        headers = _headers(request)

        def send(salesforce: Any) -> Any:
            records = getattr(salesforce, name)
            method = records.upsert if creates else records.update
            return method(path, data, raw_response=True, headers=headers)

        return self._answer(request, answered(self._client.call(send, deadline, leaves_by=leaves_by, writes=True)))

    def _path(self, request: WriteRequest) -> str | Answer:
        """Where the record is, below its object. Nothing that could lead elsewhere: the library joins what it is given
        to its own address."""
        if request.creates:
            external_id = request.record.external_id
            if not external_id.strip("."):  # the path's own parts "." and ".." are no ids either
                return _impossible("NO_EXTERNAL_ID", "a write that may create needs an external id")
            return format_external_id(self._external_id, external_id)
        try:
            return _record_id(request)
        except MalformedValue:
            return _impossible("NO_RECORD_ID", "a write that may not create needs the record's own id")

    def _answer(self, request: WriteRequest, response: Response | Answer) -> Answer:
        if isinstance(response, Answer):
            return response
        if not 200 <= response.status < 300:
            refusal = salesforce_refusal.of_response(response, self._ours)
            if request.creates and "NOT_FOUND" in refusal.codes:  # no record was asked for, so the field is not there
                refusal = replace(refusal, codes=(OUR_FIELD_UNUSABLE, *refusal.codes))
            return refusal.answer(response.status, response.headers)
        fault, said = None, None
        try:
            said = _named(request, response)
        except Exception as error:  # a body that is not what it should be can be anything
            fault = type(error).__name__
        if said is None:
            return Answer(
                outcome=AnswerClass.UNCERTAIN,
                http_status=response.status,
                correlation_id=salesforce_refusal.correlation_id(response.headers),
                detail=f"a success that names no record ({fault or 'not as it should be'})",
                retry_after_seconds=retry_after(response.headers),
            )
        return Answer(
            outcome=AnswerClass.ACCEPTED,
            http_status=response.status,
            provider_record_id=said,
            correlation_id=salesforce_refusal.correlation_id(response.headers),
        )


def _named(request: WriteRequest, response: Response) -> str | None:
    """The record that a success is about: an update's answer is empty, an upsert's names the record."""
    if not request.creates:
        return _record_id(request) if response.status == 204 else None
    body = body_of(response)
    if response.status not in {200, 201} or body["success"] is not True or body.get("errors"):
        return None
    return salesforce_id(body["id"], prefix=PREFIXES[request.record.target_object])


def _record_id(request: WriteRequest) -> str:
    return salesforce_id(request.record.provider_record_id, prefix=PREFIXES[request.record.target_object])


def _headers(request: WriteRequest) -> dict[str, str]:
    headers = dict(_ON_EVERY_WRITE)
    if request.unmodified_since is not None:
        headers["If-Unmodified-Since"] = _http_date(request.unmodified_since)
    return headers


def _http_date(moment: datetime) -> str:
    """In whole seconds, which is all that it holds; rounded up, since rounded down it would refuse every write."""
    begun = timedelta(seconds=1) if moment.microsecond else timedelta(0)
    return format_datetime(moment.astimezone(UTC).replace(microsecond=0) + begun, usegmt=True)


def _impossible(code: str, why: str) -> Answer:
    """Nothing was sent, and sending it again would not help."""
    return Answer(outcome=AnswerClass.REFUSES_THIS, code=code, detail=why)
