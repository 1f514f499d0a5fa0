"""HubSpot behind the port `Crm`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from leadproof.crm.hubspot_client import HubSpotClient
from leadproof.crm.hubspot_describing import Describer
from leadproof.crm.hubspot_fields import HubSpotFields
from leadproof.crm.hubspot_reading import Reader
from leadproof.crm.hubspot_writing import Writer
from leadproof.deadline import Deadline
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.mutation import Answer, AnswerClass, RecordRef
from leadproof.domain.plan import TargetObject
from leadproof.domain.records import Description, LookUp, Presence
from leadproof.domain.steps import WriteRequest

SYSTEM: Final = "hubspot"
_CALLS_OF_A_DESCRIPTION: Final = 4


class HubSpotCrm:
    """Contacts of one HubSpot account. Threads may share it.

    Args:
        token: asked for the access token at every call, so that a rotated one counts at once.
        base_url: HubSpot's address.
        app_id: id of our app as property history names it.
        fields: our field names and HubSpot's properties.
        external_id_property: unique property that holds our external id.
        marker_property: property that holds the effect marker.
        connect_timeout: seconds within which a request has begun to leave, or never leaves.
        call_timeout: total deadline in seconds of one call of this class, however many requests it takes.

    Raises:
        ConfigurationRefused: a field is mapped to one of our own two properties.
    """

    def __init__(
        self,
        *,
        token: Callable[[], str],
        base_url: str,
        app_id: str | None,
        fields: HubSpotFields,
        external_id_property: str,
        marker_property: str,
        connect_timeout: float,
        call_timeout: float,
    ) -> None:
        for ours in (external_id_property, marker_property):
            taken = fields.name_of(ours)
            if taken is not None:
                raise ConfigurationRefused(f"the field {taken} is mapped to {ours}, which is not for fields")
        if external_id_property == marker_property:
            raise ConfigurationRefused("external id and effect marker need a HubSpot property each")
        self._app_id = app_id
        self._fields = fields
        self._call_timeout = call_timeout
        self._client = HubSpotClient(token=token, base_url=base_url, connect_timeout=connect_timeout)
        ours_ = {"external_id_property": external_id_property, "marker_property": marker_property}
        self._reader = Reader(self._client, fields, app_id=app_id, **ours_)
        self._writer = Writer(self._client, fields, **ours_)
        self._describer = Describer(self._client, fields, **ours_)

    @property
    def system(self) -> str:
        return SYSTEM

    @property
    def identity(self) -> str:
        """Our app, as far as it is known."""
        return f"{SYSTEM} app {self._app_id}" if self._app_id else f"{SYSTEM} access token"

    def read(self, target_object: str, record_id: str, fields: Sequence[str], *, history: bool) -> LookUp:
        """Read one contact by its id, live or archived."""
        if target_object != TargetObject.CONTACT:
            return _not_our_object(target_object)
        return self._reader.by_id(record_id, fields, Deadline(self._call_timeout), history=history)

    def find(self, record: RecordRef, fields: Sequence[str], *, history: bool) -> LookUp:
        """Look a contact up by external id and by each unique field; all of them have to agree."""
        if record.target_object != TargetObject.CONTACT:
            return _not_our_object(record.target_object)
        return self._reader.find(record, fields, Deadline(self._call_timeout), history=history)

    def write(self, request: WriteRequest) -> Answer:
        """Send one write, once."""
        if request.record.target_object != TargetObject.CONTACT:
            detail = _not_our_object(request.record.target_object).detail
            return Answer(outcome=AnswerClass.REFUSES_THIS, code="UNKNOWN_OBJECT", detail=detail)
        return self._writer.write(request, Deadline(self._call_timeout))

    def keeps_history(self, target_object: str, fields: Sequence[str]) -> bool:
        """HubSpot keeps the history of every property that can be written."""
        return target_object == TargetObject.CONTACT and all(self._fields.property_of(name) for name in fields)

    def describe(self, target_object: str) -> Description:
        """Account, owners (also archived ones) and contact properties.

        Raises:
            ConfigurationRefused: in one sentence, what stands in the way.
        """
        if target_object != TargetObject.CONTACT:
            raise ConfigurationRefused(f"nothing is known of {target_object} in HubSpot")
        return self._describer.describe(SYSTEM, Deadline(self._call_timeout * _CALLS_OF_A_DESCRIPTION))

    def close(self) -> None:
        """Close the idle connections."""
        self._client.close()


def _not_our_object(target_object: str) -> LookUp:
    return LookUp(presence=Presence.UNKNOWN, detail=f"of HubSpot's objects only contacts are handled: {target_object}")
