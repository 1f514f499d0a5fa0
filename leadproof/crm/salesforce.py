"""Salesforce behind the port `Crm`. Importing it imports the client library, which is slow: only where it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from leadproof.crm.salesforce_budget import SHARE, Budget
from leadproof.crm.salesforce_client import SalesforceClient
from leadproof.crm.salesforce_definitions import Definitions
from leadproof.crm.salesforce_describing import Describer
from leadproof.crm.salesforce_fields import OBJECTS, SalesforceFields
from leadproof.crm.salesforce_history import Attribution
from leadproof.crm.salesforce_reading import Reader
from leadproof.crm.salesforce_sign_in import SignIn
from leadproof.crm.salesforce_writing import Writer
from leadproof.deadline import Deadline
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.mutation import Answer, AnswerClass, RecordRef
from leadproof.domain.records import Description, LookUp, Presence
from leadproof.domain.steps import WriteRequest

SYSTEM: Final = "salesforce"
_CALLS_OF_A_DESCRIPTION: Final = 6


class SalesforceCrm:
    """Leads and contacts of one Salesforce org. Threads may share it.

    Args:
        url: the org's My Domain address.
        sign_in: what is sent to get an access token.
        api_version: of the REST API, as in `62.0`.
        fields: our field names and Salesforce's.
        external_id_field: unique, case-sensitive external-id field that holds our external id.
        marker_field: field that holds the effect marker.
        connect_timeout: seconds within which a request has begun to leave, or never leaves.
        call_timeout: total deadline in seconds of one call of this class, however many requests it takes.
        budget_share: the part of the org's daily calls from which on ours are spaced.

    Raises:
        ConfigurationRefused: the address is none, or a field is mapped to one of our own two.
    """

    def __init__(
        self,
        *,
        url: str,
        sign_in: SignIn,
        api_version: str,
        fields: SalesforceFields,
        external_id_field: str,
        marker_field: str,
        connect_timeout: float,
        call_timeout: float,
        budget_share: float = SHARE,
    ) -> None:
        for ours in (external_id_field, marker_field):
            taken = next((name for one in OBJECTS if (name := fields.name_of(one, ours))), None)
            if taken is not None:
                raise ConfigurationRefused(f"the field {taken} is mapped to {ours}, which is not for fields")
        if external_id_field.casefold() == marker_field.casefold():
            raise ConfigurationRefused("external id and effect marker need a Salesforce field each")
        self._fields = fields
        self._call_timeout = call_timeout
        self._client = SalesforceClient(
            url=url, sign_in=sign_in, version=api_version, connect_timeout=connect_timeout, share=budget_share
        )
        self._definitions = Definitions(self._client)
        ours_ = {"external_id_field": external_id_field, "marker_field": marker_field}
        attribution = Attribution(self._client, self._definitions)
        self._reader = Reader(self._client, fields, self._definitions, attribution, **ours_)
        self._writer = Writer(self._client, fields, self._definitions, connect_timeout=connect_timeout, **ours_)
        self._describer = Describer(self._client, self._definitions, fields, **ours_)

    @property
    def system(self) -> str:
        return SYSTEM

    @property
    def identity(self) -> str:
        """Our integration user, as soon as Salesforce has told who that is."""
        return f"{SYSTEM} user {self._client.user_id}" if self._client.user_id else f"{SYSTEM} integration user"

    def budget(self) -> Budget:
        """The org's calls of today, as the latest answer told them."""
        return self._client.budget()

    def read(self, target_object: str, record_id: str, fields: Sequence[str], *, history: bool) -> LookUp:
        """Read one record by its id, live, deleted or merged."""
        if target_object not in OBJECTS:
            return _not_our_object(target_object)
        return self._reader.by_id(target_object, record_id, fields, Deadline(self._call_timeout), history=history)

    def find(self, record: RecordRef, fields: Sequence[str], *, history: bool) -> LookUp:
        """Look a record up by external id and by each unique field; all of them have to agree."""
        if record.target_object not in OBJECTS:
            return _not_our_object(record.target_object)
        return self._reader.find(record, fields, Deadline(self._call_timeout), history=history)

    def write(self, request: WriteRequest) -> Answer:
        """Send one write, once."""
        if request.record.target_object not in OBJECTS:
            detail = _not_our_object(request.record.target_object).detail
            return Answer(outcome=AnswerClass.REFUSES_THIS, code="UNKNOWN_OBJECT", detail=detail)
        return self._writer.write(request, Deadline(self._call_timeout))

    def keeps_history(self, target_object: str, fields: Sequence[str]) -> bool:
        """Whether the org tracks every one of these fields; not where it does not tell."""
        if target_object not in OBJECTS:
            return False
        try:
            tracked = self._definitions.tracked(OBJECTS[target_object], Deadline(self._call_timeout))
        except ConfigurationRefused:
            return False
        return all((self._fields.field_of(target_object, name) or "").casefold() in tracked for name in fields)

    def describe(self, target_object: str) -> Description:
        """The org, its owners (users and queues, active or not) and one object's fields.

        Raises:
            ConfigurationRefused: in one sentence, what stands in the way.
        """
        if target_object not in OBJECTS:
            raise ConfigurationRefused(f"nothing is known of {target_object} in Salesforce")
        deadline = Deadline(self._call_timeout * _CALLS_OF_A_DESCRIPTION)
        return self._describer.describe(SYSTEM, target_object, deadline)

    def close(self) -> None:
        """Close the idle connections."""
        self._client.close()


def _not_our_object(target_object: str) -> LookUp:
    detail = f"of Salesforce's objects only leads and contacts are handled: {target_object}"
    return LookUp(presence=Presence.UNKNOWN, detail=detail)
