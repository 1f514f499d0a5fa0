"""One write to a contact, and what HubSpot's answer to it means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leadproof.crm import hubspot_refusal
from leadproof.crm.answers import lost, retry_after
from leadproof.crm.hubspot_client import HubSpotClient
from leadproof.crm.hubspot_fields import HubSpotFields
from leadproof.crm.hubspot_refusal import Refusal
from leadproof.deadline import Deadline, Exchange
from leadproof.domain.errors import MalformedValue
from leadproof.domain.mutation import Answer, AnswerClass
from leadproof.domain.steps import WriteRequest


class Writer:
    """Writes contacts. Nothing here raises: whatever happens after a byte left is an answer, *uncertain* at worst."""

    def __init__(
        self, client: HubSpotClient, fields: HubSpotFields, *, external_id_property: str, marker_property: str
    ) -> None:
        self._client = client
        self._fields = fields
        self._external_id = external_id_property
        self._marker = marker_property
        self._ours = (external_id_property, marker_property)

    def write(self, request: WriteRequest, deadline: Deadline) -> Answer:
        """Send one write: an upsert by external id where the request may create, else by id and without creation."""
        unknown = [name for name in request.fields if self._fields.property_of(name) is None]
        if unknown:
            return _impossible("UNKNOWN_FIELD", f"HubSpot has no property for: {', '.join(sorted(unknown))}")
        try:
            properties = self._properties(request)
        except MalformedValue as error:
            return _impossible("MALFORMED_VALUE", str(error))
        if request.creates:
            return self._upsert(request, properties, deadline)
        record_id = request.record.provider_record_id or ""
        if not record_id.strip("."):  # the path's own parts "." and ".." are no ids either
            return _impossible("NO_RECORD_ID", "a write that may not create needs the record's own id")
        exchange = self._client.call(
            self._client.records.update, record_id, {"properties": properties}, deadline=deadline
        )
        return self._answer(exchange, _id_of)

    def _properties(self, request: WriteRequest) -> dict[str, str]:
        properties = {
            str(self._fields.property_of(name)): self._fields.to_property(name, value)
            for name, value in request.fields.items()
        }
        properties[self._marker] = request.marker
        if request.creates or request.sets_external_id:
            properties[self._external_id] = request.record.external_id
        return properties

    def _upsert(self, request: WriteRequest, properties: dict[str, str], deadline: Deadline) -> Answer:
        row = {
            "id": request.record.external_id,
            "idProperty": self._external_id,
            "objectWriteTraceId": request.marker,
            "properties": properties,
        }
        exchange = self._client.call(self._client.batches.upsert, {"inputs": [row]}, deadline=deadline)
        return self._answer(exchange, lambda value: self._row_of(value, request))

    def _answer(self, exchange: Exchange[Any], interpret: Callable[[Any], str | Refusal | None]) -> Answer:
        """The class of an answer.

        Args:
            interpret: finds in the client library's model the record's id, or the refusal that stands in its place.
        """
        nothing, response = lost(exchange), exchange.response
        if nothing is not None or response is None:
            return nothing or Answer(outcome=AnswerClass.UNCERTAIN, detail="no complete answer arrived")
        if not 200 <= response.status < 300:
            refusal = hubspot_refusal.of_response(response, self._ours)
            return refusal.answer(response.status, response.headers)
        fault, said = exchange.fault, None
        try:
            said = interpret(exchange.value)
        except Exception as error:  # the models promise nothing about a body that is not what it should be
            fault = fault or type(error).__name__
        if isinstance(said, Refusal):
            return said.answer(response.status, response.headers, row=True)
        if not said:
            return Answer(
                outcome=AnswerClass.UNCERTAIN,
                http_status=response.status,
                correlation_id=hubspot_refusal.correlation_id(response.headers),
                detail=f"a success that names no record ({fault or 'no id'})",
                retry_after_seconds=retry_after(response.headers),
            )
        return Answer(
            outcome=AnswerClass.ACCEPTED,
            http_status=response.status,
            provider_record_id=said,
            correlation_id=hubspot_refusal.correlation_id(response.headers),
        )

    def _row_of(self, value: Any, request: WriteRequest) -> str | Refusal | None:
        """Our row of a batch answer; both 200 and 207 are a success to the client library, whatever the rows say.

        It is found by what it carries and never by its place: rows come in any order. An answer that has our row both
        among the results and among the errors says nothing.
        """
        found = [row for row in value.results or () if self._is_ours(row, request)]
        named = [error for error in getattr(value, "errors", None) or () if _concerns(error, request.marker)]
        if named and not found:
            return hubspot_refusal.of_error(_as_body(named[0]), self._ours)
        return _id_of(found[0]) if len(found) == 1 and not named else None

    def _is_ours(self, row: Any, request: WriteRequest) -> bool:
        carried = (row.properties or {}).get(self._external_id)
        return request.record.external_id == carried or request.marker == row.object_write_trace_id


def _concerns(error: Any, trace_id: str) -> bool:
    """Whether an error is about our row: an answer to one input has no other, unless it names another."""
    named = (error.context or {}).get("objectWriteTraceId")
    return not named or trace_id in named


def _as_body(error: Any) -> dict[str, Any]:
    """The client library's model of an error as the body that it was made from."""
    return {
        "status": "error",
        "category": error.category,
        "message": error.message,
        "errors": [{"code": detail.code, "context": detail.context} for detail in error.errors or ()],
    }


def _id_of(record: Any) -> str | None:
    return str(record.id) if record.id else None


def _impossible(code: str, why: str) -> Answer:
    """Nothing was sent, and sending it again would not help."""
    return Answer(outcome=AnswerClass.REFUSES_THIS, code=code, detail=why)
