"""The bodies with which HubSpot says no."""

import json
from typing import Any
from uuid import uuid4

from sandbox.wire import Answer


class HubSpotError(Exception):
    """A request that HubSpot refuses."""

    def __init__(self, status: int, message: str, category: str, **details: Any) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.category = category
        self.details = details

    def answer(self) -> Answer:
        body = {
            "status": "error",
            "message": self.message,
            "correlationId": str(uuid4()),
            "category": self.category,
            **self.details,
        }
        return Answer(self.status, body)

    def standard(self, trace_id: str | None) -> dict[str, Any]:
        """The same refusal as one row of a batch's errors."""
        context = dict(self.details.get("context", {}))
        if trace_id is not None:
            context["objectWriteTraceId"] = [trace_id]
        return {
            "status": "error",
            "category": self.category,
            "message": self.message,
            "context": context,
            "errors": self.details.get("errors", []),
            "links": {},
        }


class InvalidValue(Exception):
    """One property value that HubSpot does not take."""

    def __init__(self, name: str, code: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.code = code
        self.message = message


def invalid_values(problems: list[InvalidValue], portal_id: int) -> HubSpotError:
    embedded = [
        {
            "isValid": False,
            "message": problem.message,
            "error": problem.code,
            "name": problem.name,
            "localizedErrorMessage": problem.message,
            "portalId": portal_id,
        }
        for problem in problems
    ]
    return HubSpotError(
        400,
        f"Property values were not valid: {json.dumps(embedded, separators=(',', ':'))}",
        "VALIDATION_ERROR",
        errors=[
            {"message": problem.message, "code": problem.code, "context": {"propertyName": [problem.name]}}
            for problem in problems
        ],
    )


def invalid_input(message: str) -> HubSpotError:
    return HubSpotError(400, message, "VALIDATION_ERROR")


def contact_exists(existing: str) -> HubSpotError:
    return HubSpotError(409, f"Contact already exists. Existing ID: {existing}", "CONFLICT")


def value_taken(portal_id: int, name: str, value: str, wanted_by: str, held_by: str) -> HubSpotError:
    return HubSpotError(
        400,
        f"Cannot set PropertyValueCoordinates{{portalId={portal_id}, "
        f"objectTypeId=ObjectTypeId{{legacyObjectType=CONTACT}}, propertyName={name}, value={value}}} "
        f"on {wanted_by}. {held_by} already has that value.",
        "VALIDATION_ERROR",
    )


def not_found(*ids: str) -> HubSpotError:
    details = {"context": {"id": list(ids)}} if ids else {}
    return HubSpotError(404, "Resource not found", "OBJECT_NOT_FOUND", **details)


def some_not_found(ids: list[str]) -> dict[str, Any]:
    return {
        "status": "error",
        "category": "OBJECT_NOT_FOUND",
        "message": f"Could not get some contacts, they may be deleted or not exist. Check that ids are valid. {ids}",
        "context": {"ids": ids},
        "errors": [],
        "links": {},
    }


def no_unique_property(name: str) -> HubSpotError:
    return invalid_input(f"Unable to perform update/upsert by non-unique 0-1 property {name}")


def no_authentication() -> HubSpotError:
    return HubSpotError(
        401,
        "Authentication credentials not found. This API supports OAuth 2.0 authentication and you can find more "
        "details at https://developers.hubspot.com/docs/methods/auth/oauth-overview",
        "INVALID_AUTHENTICATION",
    )


def missing_scopes() -> HubSpotError:
    scopes = ["crm.objects.contacts.write"]
    message = "One or more of the following scopes are required."
    return HubSpotError(
        403,
        "This app hasn't been granted all required scopes to make this call.",
        "MISSING_SCOPES",
        errors=[{"message": message, "context": {"requiredGranularScopes": scopes}}],
        links={"scopes": "https://developers.hubspot.com/scopes"},
    )
